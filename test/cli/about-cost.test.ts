import { describe, expect, it } from 'vitest';
import { NO_TALLY, tallyUse } from '../../src/batch/accounting/tally.ts';
import { spentText } from '../../src/cli/follow/cost-text.ts';
import { aboutCostUsd } from '../../src/library/handle/speedometer.ts';

const spent = (done: number, rows: number, state: 'running' | 'paused' | 'cancelling' = 'running') => ({
  done,
  rows,
  state,
  tally: tallyUse(NO_TALLY, 'A10G', { runs: done, seconds: done * 10, costUsd: done * 0.01 }),
});

describe('the forecast of a running batch', () => {
  it('scales the cost of the ended rows to all rows', () => {
    expect(aboutCostUsd(spent(50, 200))).toBeCloseTo(2, 9);
    expect(spentText(spent(50, 200, 'paused'))).toBe('$0.50 so far, about $2.00 in total, estimated');
  });

  it('takes only the rows that the batch buys', () => {
    const { tally } = spent(50, 200);
    expect(aboutCostUsd({ state: 'running', tally, rows: 500, done: 350, reused: 300 })).toBeCloseTo(2, 9);
  });

  it('needs ten rows, 5 % of them, and never more than a thousand', () => {
    const thresholds = [
      [9, 100],
      [10, 100],
      [49, 1_000],
      [50, 1_000],
      [999, 1_000_000],
      [1_000, 1_000_000],
    ] as const;
    expect(thresholds.map(([done, rows]) => aboutCostUsd(spent(done, rows)) !== undefined)).toEqual([
      false,
      true,
      false,
      true,
      false,
      true,
    ]);
    expect(spentText(spent(9, 100))).toBe('$0.0900 so far, estimated');
  });

  it('says nothing of cost if the GPUs have no price, unless there is a limit', () => {
    const tally = tallyUse(NO_TALLY, 'RTX 4090', { runs: 50, seconds: 500, costUsd: 0 });
    const free = { ...spent(50, 200), tally };
    expect(spentText(free)).toBeUndefined();
    const budget = { spentNano: 0, reservedNano: 0 };
    expect(spentText({ ...free, maxCostNano: 20e9, budget })).toContain('limit $20.00');
  });

  it('is silent while a batch is cancelled, and when all rows have ended', () => {
    expect(aboutCostUsd(spent(50, 200, 'cancelling'))).toBeUndefined();
    expect(aboutCostUsd(spent(50, 50))).toBeUndefined();
  });
});
