// Worlds of thousands of rows, where groups, cancels, snapshots and bounds meet their limits.

import { expect, it } from 'vitest';
import { simulateMany } from './many.ts';

const SEEDS = 10;
/** By the processor's time; a quiet machine takes five. */
const SECONDS_PER_SEED = 40;

it(`${SEEDS} worlds with caps to 3,000 and up to 20,000 rows lose no row, hide no run and stay within their bounds`, () => {
  const began = process.cpuUsage();
  const { failing, sometimes, ...sums } = simulateMany(1, SEEDS, 'large');
  const { user } = process.cpuUsage(began);
  expect(failing.join('\n')).toBe('');
  expect(sums).toMatchObject({ lost: 0, duplicates: 0, unreported: 0, falseSuccesses: 0, foreign: 0 });
  expect(sometimes.get('continued as new')).toBeGreaterThan(SEEDS);
  expect(user / 1e6 / SEEDS, 'seconds per seed').toBeLessThan(SECONDS_PER_SEED);
}, 1_200_000);
