// The real reducer and the real reading of a POST, in worlds where everything goes wrong by seed.

import { describe, expect, it } from 'vitest';
import { FAULTS, planOf } from './plan.ts';
import { simulateMany, SOMETIMES } from './many.ts';
import { simulate } from './simulate.ts';

const SEEDS = 5_000;

describe('a batch in a world where everything goes wrong', () => {
  it(`in ${SEEDS} worlds loses no row, buys nothing twice, hides no run and reports no false success`, () => {
    const { failing, sometimes, lost, duplicates, unreported, falseSuccesses } = simulateMany(1, SEEDS);
    expect(failing.join('\n')).toBe('');
    expect([lost, duplicates, unreported, falseSuccesses]).toEqual([0, 0, 0, 0]);
    const never = [...SOMETIMES, ...FAULTS.filter((fault) => fault !== 'poison')].filter(
      (what) => !sometimes.has(what),
    );
    expect(never, 'what never happened').toEqual([]);
  });

  it('is the same world for the same seed', () => {
    const { sometimes, tookMs } = simulate(planOf(77));
    const again = simulate(planOf(77));
    expect([again.sometimes, again.tookMs]).toEqual([sometimes, tookMs]);
  });
});
