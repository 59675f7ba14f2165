// Tests the real `step` and the real classification of POSTs in simulated worlds with random faults.

import { describe, expect, it } from 'vitest';
import { FREEDOMS_SEEN } from './freedoms.ts';
import { FAULTS, planOf } from './plan.ts';
import { simulateMany } from './many.ts';
import { simulate } from './simulate.ts';

/** From here, few worlds have every fault and every freedom. */
const FROM = 61;
const SEEDS = 60;
/** In processor time; an idle machine is four times as fast. */
const SEEDS_PER_SECOND = 2;

describe('batches in simulated worlds with random faults', () => {
  it(`in ${SEEDS} worlds lose no row, hide no run, report no false success and touch no foreign run`, async () => {
    const began = process.cpuUsage();
    const { failing, sometimes, ...sums } = await simulateMany(FROM, SEEDS);
    const { user } = process.cpuUsage(began);
    expect(failing.join('\n')).toBe('');
    expect(sums).toMatchObject({ lost: 0, duplicates: 0, unreported: 0, falseSuccesses: 0, foreign: 0 });
    expect(
      FAULTS.filter((what) => !sometimes.has(what)),
      'faults that never occurred',
    ).toEqual([]);
    expect(
      Object.entries(FREEDOMS_SEEN).filter(([, shown]) => !shown.some((what) => sometimes.has(what))),
      'freedoms that no world used',
    ).toEqual([]);
    expect(SEEDS / (user / 1e6), 'seeds per second').toBeGreaterThan(SEEDS_PER_SECOND);
  });

  it('behave the same for the same seed', async () => {
    const { sometimes, tookMs } = await simulate(planOf(77));
    const again = await simulate(planOf(77));
    expect([again.sometimes, again.tookMs]).toEqual([sometimes, tookMs]);
  });
});
