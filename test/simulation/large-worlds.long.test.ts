// Simulates worlds of thousands of rows, in which groups, cancels and snapshots reach their limits.

import { describe, expect, it } from 'vitest';
import { simulateMany } from './many.ts';

const LARGE = { seeds: 3, from: 1 } as const;
/** In processor time; an idle machine takes five. */
const SECONDS_PER_LARGE = 40;

const NOTHING_WRONG = { lost: 0, duplicates: 0, unreported: 0, falseSuccesses: 0, foreign: 0 };

describe('batches in simulated worlds with random faults', () => {
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
