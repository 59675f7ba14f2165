import { describe, expect, it } from 'vitest';
import { costOf, knownCost, priceOf, withCosts } from '../../../src/options/facts/prices.ts';

describe('cost', () => {
  it('the cost of a run is cold start and run seconds at the price of the GPU that was used', () => {
    expect(costOf({ L4: 0.5 }, 'L4', { coldStart: 2, run: 4 })).toBe(3);
    expect(costOf({}, 'T4', { run: 1 })).toBe(0.00018);
  });

  it('the cost of a run is unknown where the GPU or its price is not known', () => {
    expect(costOf({}, 'Z9', { run: 1 })).toBeUndefined();
    expect(costOf({}, undefined, { lost: 1 })).toBeUndefined();
  });

  it('a run that no machine took cost nothing on any GPU', () => {
    expect(costOf({}, 'Z9', { run: 0 })).toBe(0);
    expect(costOf({}, undefined, {})).toBe(0);
  });

  it('a price is never read from what every object has', () => {
    expect(priceOf({}, 'constructor')).toBeUndefined();
    expect(priceOf({ T4: 0 }, 'T4')).toBe(0);
  });

  it('a sum of costs is not known if it is 0 and attempts of unknown cost are missing in it', () => {
    expect([knownCost(0), knownCost(0, 2), knownCost(0.5, 2)]).toEqual([0, null, 0.5]);
  });

  it('on GPUs of the price 0 there are no costs', () => {
    const value = { rows: 2, costUsd: 0, runs: [{ cost_usd: 0, seconds: 3 }] };
    expect(costOf({ own: 0 }, 'own', { run: 1 })).toBeUndefined();
    expect(withCosts({ T4: 0.1, own: 0 }, value)).toBe(value);
    expect(withCosts({}, value)).toBe(value);
    expect(withCosts({ own: 0 }, value)).toEqual({ rows: 2, runs: [{ seconds: 3 }] });
  });
});
