// Limits the size of the state. A snapshot must fit into one payload, so a row enters only if its later attempts fit too.

import { REASON_BYTES, reservedBytes, ROWS_MAX, SHORT_REASON_BYTES, STATE_BYTES_MAX } from './bounds.ts';
import type { State } from './state.ts';

/** Whether no further row may enter. Each row in the state has space reserved for the attempts that it may still need. */
export function isFull({ rows, bytes, params }: State): boolean {
  const { retries, unconfirmed } = params;
  const reserved = rows.size * reservedBytes({ retries, resubmits: unconfirmed.rule === 'resubmit' });
  return rows.size >= ROWS_MAX || bytes + reserved >= STATE_BYTES_MAX;
}

/** How many bytes a reason may take; fewer once the state is half full. */
export const reasonBytes = ({ bytes }: State): number =>
  bytes < STATE_BYTES_MAX / 2 ? REASON_BYTES : SHORT_REASON_BYTES;
