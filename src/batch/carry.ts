// The state as it travels to the next workflow run of the same batch (R17). Groups never travel, nor does
// the close: a batch continues as new only while neither is in flight.

import type { Entry } from './entry.ts';
import type { RowEnd } from './messages.ts';
import { NEWEST_RULES } from './rules.ts';
import { begin, put, type State } from './state.ts';

type Plain = Pick<
  State,
  | 'order'
  | 'now'
  | 'cursor'
  | 'nextGroup'
  | 'nextPart'
  | 'holdUntil'
  | 'bounces'
  | 'trouble'
  | 'paused'
  | 'pace'
  | 'twins'
  | 'cancelling'
  | 'control'
  | 'lookAt'
  | 'heard'
  | 'endsBy'
  | 'lastFailure'
  | 'tally'
  | 'ledger'
>;

export type Carried = Plain & {
  readonly format: 1;
  readonly entries: readonly Entry[];
  readonly abandoned: readonly string[];
  readonly parts: readonly (readonly [part: number, rows: readonly RowEnd[]])[];
};

/** Whether the state may travel: nothing is in flight that the next workflow run would not hear of. */
export const mayCarry = (state: State): boolean => state.groups.size === 0 && !state.closing;

/** What `unpack` makes the same state of. Throws unless {@link mayCarry}. */
export function pack(state: State): Carried {
  if (!mayCarry(state))
    throw new Error(`the state cannot be carried: ${state.groups.size} groups are in flight`);
  const { order, now, cursor, nextGroup, nextPart, holdUntil, bounces, tally, ledger } = state;
  const { trouble, paused, pace, twins, cancelling, control, lookAt, heard, endsBy, lastFailure } = state;
  return {
    format: 1,
    order,
    now,
    cursor,
    nextGroup,
    nextPart,
    holdUntil,
    bounces,
    tally,
    ledger,
    trouble,
    paused,
    pace,
    twins,
    cancelling,
    control,
    lookAt,
    heard,
    endsBy,
    lastFailure,
    entries: inOrder(state),
    parts: [...state.parts],
    abandoned: [...state.abandoned],
  };
}

/** The carried state, by the newest rules. Throws when it was carried by code newer than this. */
export function unpack(carried: Carried): State {
  const { format, entries, parts, abandoned, ...plain } = carried;
  if ((format as number) !== 1)
    throw new Error(`this worker does not know state format ${format}; a newer one must take over`);
  const state: State = {
    ...begin(plain.order, plain.now),
    ...plain,
    rules: NEWEST_RULES,
    parts: new Map(parts),
    abandoned: new Set(abandoned),
    twins: [...plain.twins],
  };
  for (const entry of entries) put(state, entry);
  return state;
}

/** Waiting and ended entries keep their order, because `put` queues them one behind the other. */
function inOrder({ entries, waiting, ended }: State): readonly Entry[] {
  const others = [...entries.values()].filter(({ phase }) => phase !== 'waiting' && phase !== 'ended');
  return [...others, ...waiting, ...ended];
}
