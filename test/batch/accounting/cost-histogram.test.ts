import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addRunCost,
  costQuantile,
  NO_RUN_COSTS,
  MIN_RUNS,
} from '../../../src/batch/accounting/cost-histogram.ts';

const costsOf = (amounts: readonly number[]) => amounts.reduce(addRunCost, NO_RUN_COSTS);

describe('the costs of single runs', () => {
  it('say nothing until enough runs are known', () => {
    const few = Array.from({ length: MIN_RUNS - 1 }, () => 5e6);
    expect(costQuantile(costsOf(few), 0.99)).toBeUndefined();
    expect(costQuantile(costsOf([...few, 5e6]), 0.99)).toBeDefined();
  });

  it('have a percentile that at least so many runs stay below, and that is at most a tenth too high', () => {
    const amounts = fc.array(fc.integer({ min: 10, max: 1e12 }), { minLength: MIN_RUNS, maxLength: 300 });
    fc.assert(
      fc.property(amounts, (some) => {
        const exact = some.toSorted((a, b) => a - b)[Math.ceil(0.99 * some.length) - 1] ?? 0;
        const quantile = costQuantile(costsOf(some), 0.99) ?? 0;
        expect(quantile).toBeGreaterThanOrEqual(exact);
        expect(quantile).toBeLessThanOrEqual(exact * 1.1 + 1);
      }),
    );
  });

  it('take little space, whatever the runs cost', () => {
    const amounts = Array.from({ length: 10_000 }, (_, at) => 1.01 ** (at % 3_000));
    expect(JSON.stringify(costsOf(amounts)).length).toBeLessThan(4_000);
    expect(costQuantile(costsOf(Array.from({ length: 30 }, () => 0)), 0.99)).toBeLessThan(20);
  });
});
