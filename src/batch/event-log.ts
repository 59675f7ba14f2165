// Records what happened to the batch as a whole: pauses, and the commands of users. The entries wait in the state until the
// store has them.

import { clipped } from '../options/clipped.ts';
import { REASON_BYTES, SHORT_REASON_BYTES } from './bounds.ts';
import type { LimitChange } from '../options/limits.ts';
import type { PauseKind } from './pausing/pause-kinds.ts';

/** How many entries of the log may wait to be written, and for how long they wait for others. */
export const LOG_MAX = 100;
const LOG_AFTER_MS = 1_000;

/** One thing that happened to the batch as a whole, for `events/` in its folder. */
export type BatchEvent = {
  /** In milliseconds since 1970 by Temporal's clock. */
  readonly at: number;
  readonly event:
    | 'paused'
    | 'continued'
    | 'resumed'
    | 'scaled'
    | 'cancelled'
    | 'rebuilt'
    | 'retried'
    | 'adapted'
    | 'appended'
    /** A notification was delivered, or could not be delivered. */
    | 'notified'
    | 'not-notified'
    /** Files could not be fetched; their rows wait. */
    | 'files-deferred'
    /** Rows of a size class start on a higher rung of the ladder. */
    | 'climbed';
  readonly kind?: PauseKind;
  /** A cancel that also cancelled the running runs. */
  readonly running?: true;
  /** Who gave the command. */
  readonly by?: string;
  readonly reason?: string;
  /** The places of the rows that a pause is about. */
  readonly places?: readonly number[];
  /** What changed, in words and as limits. */
  readonly note?: string;
  readonly limits?: LimitChange;
};

/** The part of a batch's state that logs. */
type Log = {
  readonly now: number;
  readonly wallAt: number;
  readonly log: BatchEvent[];
  readonly loggingNow: number;
  logDueAt: number;
};

/** Adds an entry. If the store takes none for long, the oldest entries are lost. */
export function note(state: Log, entry: Omit<BatchEvent, 'at'>): void {
  const { by, reason } = entry;
  if (state.log.length === 0) state.logDueAt = state.now + LOG_AFTER_MS;
  state.log.push({
    at: state.wallAt,
    ...entry,
    ...(by === undefined ? {} : { by: clipped(by, SHORT_REASON_BYTES) }),
    ...(reason === undefined ? {} : { reason: clipped(reason, REASON_BYTES) }),
  });
  // Entries that are being written stay at the beginning of the list.
  if (state.log.length > LOG_MAX) state.log.splice(state.loggingNow, 1);
}
