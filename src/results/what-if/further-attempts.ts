// Attempts that a batch would make with more retries, and that were never measured.

import { chance } from '../../batch/retry-policy.ts';
import type { MeasuredAttempt, MeasuredRow } from './measured-batch.ts';
import { medianOf } from './quantile.ts';

type Further = (row: MeasuredRow) => MeasuredAttempt;
export type FurtherAttempts = { readonly fast: Further; readonly expected: Further; readonly slow: Further };

/** They succeed, fail again as before, or succeed as often as the batch's own retries did. */
export function furtherAttempts(rows: readonly MeasuredRow[]): FurtherAttempts {
  const isGood = ({ outcome }: MeasuredAttempt): boolean => outcome === 'succeeded';
  const runMs = medianOf(rows.flatMap(({ attempts }) => attempts.filter(isGood).map((one) => one.runMs)));
  const retries = rows.flatMap(({ attempts }) => attempts.slice(1));
  const share = retries.length === 0 ? 0 : retries.filter(isGood).length / retries.length;
  const slow: Further = ({ attempts }) => attempts.at(-1) as MeasuredAttempt;
  const fast: Further = (row) => {
    const { gpu, startMs } = slow(row);
    return { outcome: 'succeeded', gpu, startMs, runMs };
  };
  let drawn = 0;
  const expected: Further = (row) => (chance(3, (drawn += 1)) < share ? fast(row) : slow(row));
  return { fast, expected, slow };
}
