// The record of a row that was sent again. A row keeps its best result (R33): the new one replaces an earlier success only if it
// is a success too, and any earlier result only if it was not cancelled before it had a run. The attempts of both add up.

import type { Outcome } from '../batch/outcome.ts';
import { resultAttempt, type PartRecord } from './row-record.ts';

/** `before`: its record so far; undefined if it was never sent. */
export function recordAgain(before: PartRecord | undefined, now: PartRecord): PartRecord {
  const earlier = before?.attempts ?? [];
  const last = earlier.at(-1)?.attempt ?? 0;
  const attempts = [...earlier, ...now.attempts.map((one) => ({ ...one, attempt: last + one.attempt }))];
  const had = { outcome: before?.outcome ?? 'cancelled', attempts: earlier.length } as const;
  const hasRun = now.attempts.some(({ run_id }) => run_id !== undefined);
  if (before === undefined || replaces({ ...now, hasRun }, before)) return { ...now, attempts, before: had };
  const { place } = now;
  const { place: _, ...kept } = before;
  const reason = reasonOf(before, now);
  const result = resultAttempt(before)?.attempt ?? 0;
  return {
    ...kept,
    ...(place === undefined ? {} : { place }),
    ...(reason === undefined ? {} : { reason }),
    attempts,
    ...(result === attempts.at(-1)?.attempt ? {} : { result_attempt: result }),
    before: had,
  };
}

/** Whether a newer result of a row takes the place of an earlier one. */
export const replaces = (
  now: { readonly outcome: Outcome; readonly hasRun: boolean },
  before: { readonly outcome: Outcome },
): boolean =>
  now.outcome === 'succeeded' ||
  (before.outcome !== 'succeeded' && (now.outcome !== 'cancelled' || now.hasRun));

/** A success says that it is not what was asked for last. */
function reasonOf(before: PartRecord, { outcome, reason }: PartRecord): string | undefined {
  if (before.outcome !== 'succeeded' || outcome === 'cancelled') return before.reason;
  const why = `sent again: ${outcome}${reason === undefined ? '' : ` (${reason})`}; the earlier result is kept`;
  const isNewest = before.reason === undefined || before.result_attempt !== undefined;
  return isNewest ? why : `${before.reason}; ${why}`;
}
