// Many seeds, one after the other, and what they came to.

import { planOf } from './plan.ts';
import { explain, simulate, type Result } from './simulate.ts';

export type Sum = Pick<Result, 'lost' | 'duplicates' | 'unreported' | 'falseSuccesses'> & {
  seeds: number;
  rows: number;
  /** What the first few failing seeds say. */
  readonly failing: string[];
  readonly sometimes: Map<string, number>;
};

const EXPLAINED = 3;

/** What must happen somewhere among a thousand seeds, or the simulation shows less than it seems to. */
export const SOMETIMES = [
  ...['accepted', 'refused', 'not-sent', 'not-processed', 'pause', 'uncertain'].map(
    (name) => `class ${name}`,
  ),
  ...['succeeded', 'failed', 'timed-out', 'cancelled', 'refused', 'unknown'].map((name) => `outcome ${name}`),
  'adopted by webhook',
  'adopted by list',
  'found in a list',
  'proved absent',
  'another attempt',
  'a webhook before its answer',
  'an end before its answer',
  'a webhook that could not be confirmed',
  'cap reached',
  'lease closed',
  'group given up',
  'completed too late',
  'worker lost in mid-group',
  'paused',
  'continueAsNew',
] as const;

export function simulateMany(from: number, seeds: number): Sum {
  const sum: Sum = {
    seeds,
    rows: 0,
    lost: 0,
    duplicates: 0,
    unreported: 0,
    falseSuccesses: 0,
    failing: [],
    sometimes: new Map(),
  };
  for (let seed = from; seed < from + seeds; seed += 1) {
    const plan = planOf(seed);
    const result = simulate(plan);
    sum.rows += plan.rows;
    for (const name of ['lost', 'duplicates', 'unreported', 'falseSuccesses'] as const)
      sum[name] += result[name];
    for (const [what, count] of result.sometimes)
      sum.sometimes.set(what, (sum.sometimes.get(what) ?? 0) + count);
    if (result.problems.length > 0 && sum.failing.length < EXPLAINED) sum.failing.push(explain(seed));
  }
  return sum;
}
