// Limits the size of the state. A snapshot must fit into one payload, so a row enters only if its later attempts fit too.

import { REASON_BYTES, reservedBytes, ROWS_MAX, SHORT_REASON_BYTES, STATE_BYTES_MAX } from '../bounds.ts';
import { mostRetries } from '../../options/failure-kind.ts';
import { mayPass } from '../canary.ts';
import type { Lane } from './lanes.ts';
import type { State } from './state.ts';

/** Whether no further row may enter. Each row in the state has space reserved for the attempts that it may still need. */
export const isFull = (state: State): boolean =>
  state.rows.size >= ROWS_MAX || neededBytes(state) >= STATE_BYTES_MAX;

/** Whether the next place of the lane may be sent. */
export const mayTakePlace = (state: State, { segments: [next] }: Pick<Lane, 'segments'>): boolean =>
  next !== undefined && state.cancelling === undefined && mayPass(state, next) && !isFull(state);

/** What the rows in the state take, and may take. */
export function neededBytes({ rows, bytes, params }: Pick<State, 'rows' | 'bytes' | 'params'>): number {
  const { unconfirmed } = params;
  return (
    bytes +
    rows.size * reservedBytes({ retries: mostRetries(params), resubmits: unconfirmed.rule === 'resubmit' })
  );
}

/** How many bytes a reason may take; fewer once the state is half full. */
export const reasonBytes = ({ bytes }: State): number =>
  bytes < STATE_BYTES_MAX / 2 ? REASON_BYTES : SHORT_REASON_BYTES;
