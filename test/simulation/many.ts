// Simulates many seeds, one after the other, and sums up the results.

import { PAUSE_KINDS } from '../../src/batch/pausing/pause-kinds.ts';
import { FREEDOMS_SEEN } from './freedoms.ts';
import { planOf, type Size } from './plan.ts';
import { explain, simulate, type Result } from './simulate.ts';

const SUMS = ['lost', 'duplicates', 'unreported', 'falseSuccesses', 'foreign'] as const;

export type Sum = Pick<Result, (typeof SUMS)[number]> & {
  seeds: number;
  rows: number;
  /** The explanations of the first failing seeds. */
  readonly failing: string[];
  readonly sometimes: Map<string, number>;
};

const EXPLAINED = 3;

/** Events that must occur at least once in a thousand seeds; otherwise the simulation does not cover them. */
export const SOMETIMES = [
  ...['accepted', 'rejected', 'not-sent', 'throttled', 'blocked', 'unconfirmed', 'left-out'].map(
    (name) => `class ${name}`,
  ),
  ...['succeeded', 'failed', 'timed-out', 'cancelled', 'refused', 'unknown'].map((name) => `outcome ${name}`),
  ...PAUSE_KINDS.map((kind) => `paused: ${kind}`),
  'a rung that was too small',
  ...['missing', 'running', 'other', 'no outputs'].map((kind) => `wrong read: ${kind}`),
  'sent with a grant',
  'pool not reached',
  'pool gone',
  'pool empty',
  'pool continued as new',
  'adopted by webhook',
  'adopted by list',
  'found in a list',
  'a short page',
  'proved absent',
  'another attempt',
  'a webhook before its response',
  'a webhook that could not be confirmed',
  'a run of a request that was turned away',
  'a run that takes too long',
  'a part that existed',
  'files deferred',
  'waited for a slot for files',
  'files abandoned',
  'evidence at the end',
  'cap reached',
  'lease closed',
  'group abandoned',
  'completed too late',
  'worker lost',
  'duplicate reported',
  'continued as new',
  'an end that was rejected: completed',
  'an end that was rejected: continued',
  'during the last report: retry',
  'during the last report: grant',
  'cancelled by Temporal',
  'log kept',
  'groups stopped',
  'a cap below the runs outstanding',
  'sent within a budget',
  'rows sent again',
  'rows appended',
  'a pass not read',
  ...['succeeded', 'failed', 'cancelled', 'refused'].map((name) => `a success sent again: ${name}`),
  'continued after its end',
  'cap of a GPU reached',
  'rows held back by a canary',
  'rows sent after a canary',
  'a canary tried again',
  'a repaired canary passed',
  'an estimate kept',
  'an estimate used',
  'useful concurrency found',
  'cap halved',
  ...Object.values(FREEDOMS_SEEN).flat(),
] as const;

export async function simulateMany(from: number, seeds: number, size: Size = 'small'): Promise<Sum> {
  const sum: Sum = {
    seeds,
    rows: 0,
    lost: 0,
    duplicates: 0,
    unreported: 0,
    falseSuccesses: 0,
    foreign: 0,
    failing: [],
    sometimes: new Map(),
  };
  for (let seed = from; seed < from + seeds; seed += 1) {
    const plan = planOf(seed, size);
    const result = await simulate(plan);
    sum.rows += plan.rows * plan.batches;
    for (const name of SUMS) sum[name] += result[name];
    for (const [what, count] of result.sometimes)
      sum.sometimes.set(what, (sum.sometimes.get(what) ?? 0) + count);
    if (result.problems.length > 0 && sum.failing.length < EXPLAINED)
      sum.failing.push(await explain(seed, size));
  }
  return sum;
}
