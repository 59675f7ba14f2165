// The state travels in one payload, so rows come in only while it has room for what they may become.

import {
  PAST_BYTES,
  PAST_WITHOUT_RUN_BYTES,
  REASON_BYTES,
  RESUBMITS_MOST,
  ROWS_MAX,
  SHORT_REASON_BYTES,
  STATE_BYTES_MAX,
} from './bounds.ts';
import type { State } from './state.ts';

/** Whether no further row may come in; rows that are in go on. Every row has room for the attempts that it may still have. */
export function isFull({ rows, bytes, params }: State): boolean {
  const { retries, unconfirmed } = params;
  // And one that was proved absent; without resubmissions the payload has room enough for those.
  const withoutRun = unconfirmed.rule === 'resubmit' ? RESUBMITS_MOST + 1 : 0;
  const withoutRunBytes = PAST_WITHOUT_RUN_BYTES + SHORT_REASON_BYTES;
  const reserved = rows.size * (SHORT_REASON_BYTES + retries * PAST_BYTES + withoutRun * withoutRunBytes);
  return rows.size >= ROWS_MAX || bytes + reserved >= STATE_BYTES_MAX;
}

/** Reasons become short before the state is full. */
export const reasonBytes = ({ bytes }: State): number =>
  bytes < STATE_BYTES_MAX / 2 ? REASON_BYTES : SHORT_REASON_BYTES;
