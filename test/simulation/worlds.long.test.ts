// Simulates more worlds than the short test.

import { describe, expect, it } from 'vitest';
import { simulateMany, SOMETIMES } from './many.ts';

/** `npm run simulate` takes as many as it is told. */
const SMALL = { seeds: 600, from: 30_000 } as const;

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
});
