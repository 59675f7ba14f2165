// Records what happened to the batch as a whole: pauses, and the commands of users. The entries wait in the state until the
// store has them.

import { LOG_AFTER_MS, LOG_MAX, REASON_BYTES, SHORT_REASON_BYTES } from './bounds.ts';
import { clipped } from '../options/clipped.ts';
import type { BatchEvent } from './batch-event.ts';
import type { State } from './state/state.ts';

/** Adds an entry. If the store takes none for long, the oldest entries are lost. */
export function note(state: State, entry: Omit<BatchEvent, 'at'>): void {
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
