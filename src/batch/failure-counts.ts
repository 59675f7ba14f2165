// Counts why attempts failed, for display: by the kind of failure that their logs show, else by their outcome.

import type { FailureKind } from '../options/failure-kind.ts';
import type { Outcome } from './outcome.ts';

export type FailureCounts = Readonly<Partial<Record<FailureKind | Outcome, number>>>;

type End = { readonly outcome: Outcome; readonly failure?: FailureKind | undefined };

/** The counts with one more attempt; what succeeded or was cancelled is no failure. */
export function countFailure(
  counts: FailureCounts = {},
  { outcome, failure }: End,
): FailureCounts | undefined {
  if (outcome === 'succeeded' || outcome === 'cancelled')
    return Object.keys(counts).length > 0 ? counts : undefined;
  const why = failure === undefined || failure === 'unknown' ? outcome : failure;
  return { ...counts, [why]: (counts[why] ?? 0) + 1 };
}
