// Simulates more worlds, and worlds of thousands of rows in which groups, cancels and snapshots reach their limits.

import { describe, expect, it } from 'vitest';
import { simulateMany, SOMETIMES } from './many.ts';

/** `npm run simulate` takes as many as it is told. */
const SMALL = { seeds: 600, from: 30_000 } as const;
const LARGE = { seeds: 5, from: 1 } as const;
/** In processor time; an idle machine takes five. */
const SECONDS_PER_LARGE = 40;

const NOTHING_WRONG = { lost: 0, duplicates: 0, unreported: 0, falseSuccesses: 0, foreign: 0 };

describe('batches in simulated worlds with random faults', () => {
  it(`in ${SMALL.seeds} more worlds lose no row, hide no run, report no false success and touch no foreign run`, async () => {
    const { failing, sometimes, ...sums } = await simulateMany(SMALL.from, SMALL.seeds);
    expect(failing.join('\n')).toBe('');
    expect(sums).toMatchObject(NOTHING_WRONG);
    expect(
      SOMETIMES.filter((event) => !sometimes.has(event)),
      'events that never occurred',
    ).toEqual([]);
  }, 2_400_000);

  it(`in ${LARGE.seeds} worlds with a concurrency up to 3,000 and up to 20,000 rows do the same, within their limits`, async () => {
    const began = process.cpuUsage();
    const { failing, sometimes, ...sums } = await simulateMany(LARGE.from, LARGE.seeds, 'large');
    const { user } = process.cpuUsage(began);
    expect(failing.join('\n')).toBe('');
    expect(sums).toMatchObject(NOTHING_WRONG);
    expect(sometimes.get('continued as new')).toBeGreaterThan(LARGE.seeds);
    expect(sometimes.get('evidence kept')).toBeGreaterThan(0);
    expect(user / 1e6 / LARGE.seeds, 'seconds per seed').toBeLessThan(SECONDS_PER_LARGE);
  }, 1_200_000);
});
