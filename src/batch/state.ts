// The whole memory of a batch, and the only ways to change which phase a row is in. `step` owns the state it is given
// and changes it in place: copying ten thousand entries for every end of a run would cost more than all else together.

import { ATTEMPT_BYTES, ENTRIES_MAX, STATE_BYTES_MAX } from './limits.ts';
import {
  weightOf,
  type Ended,
  type Entry,
  type Phase,
  type Running,
  type Uncertain,
  type Waiting,
} from './entry.ts';
import { NO_LEDGER, type Ledger } from './ledger.ts';
import type { AttemptName, RowEnd, Seen } from './messages.ts';
import type { Order } from './order.ts';
import type { Outcome } from './outcome.ts';
import { NO_PACE, type Pace } from './pacing.ts';
import type { Pause } from './pausing.ts';
import { NEWEST_RULES } from './rules.ts';
import { NO_TALLY, type Tally } from './tally.ts';

export type State = {
  readonly order: Order;
  /** The rules by which this workflow run decides; see rules.ts. */
  readonly rules: number;
  /** Never runs backwards. */
  now: number;
  /** The first row that was never sent. */
  cursor: number;
  readonly entries: Map<number, Entry>;
  readonly phases: Record<Phase, number>;
  bytes: number;
  /** The entries in phase waiting, by the time they are due. */
  readonly waiting: Waiting[];
  /** The entries in phase ended, in the order of their ends. */
  readonly ended: Ended[];
  /** Groups in flight: the attempts of each, and when it was asked for. */
  readonly groups: Map<number, { readonly attempts: readonly AttemptName[]; readonly at: number }>;
  /** Collects in flight: the rows of each part. */
  readonly parts: Map<number, readonly RowEnd[]>;
  nextGroup: number;
  nextPart: number;
  /** Nothing is sent before this. */
  holdUntil: number;
  /** Groups in a row of which something could not be sent. */
  bounces: number;
  /** Why nothing could be sent lately, for people. */
  trouble?: string | undefined;
  paused?: Pause | undefined;
  pace: Pace;
  /** Parts that the folder would not take. */
  readonly unwritten: Set<number>;
  /** Attempts that were written off, as `row/attempt`, the oldest first. */
  readonly abandoned: Set<string>;
  readonly twins: Seen[];
  /** Runs that ended before the answer of their group, by `row/attempt`, until that comes: it may name another run. */
  readonly early: Map<string, string>;
  cancelling?: 'unsent' | 'running' | undefined;
  /** Sending stops so that the workflow can continue as new. */
  draining: boolean;
  /** `controlAt`: when the group of the run was asked for that the look under way must show. */
  readonly doubt: { inFlight: boolean; nextAt: number; looks: number; controlAt?: number | undefined };
  /** The latest run that was accepted, and when its group was asked for: a later list must show it. */
  control?: { readonly runId: string; readonly at: number } | undefined;
  /** When the outstanding runs are looked at; `looking`: a look is under way. */
  lookAt?: number | undefined;
  looking: boolean;
  /** When the view was told, in which words it was summed up, and whether it has changed since. */
  told: { readonly at: number; readonly words: string; isStale: boolean };
  /** The latest orders of users that it has carried out, by their ids. */
  heard: readonly string[];
  /** What told the latest end. */
  endsBy?: 'webhook' | 'look' | undefined;
  lastFailure?: { readonly row: number; readonly outcome: Outcome; readonly reason?: string } | undefined;
  tally: Tally;
  ledger: Ledger;
  closing: boolean;
  finished: boolean;
};

export function begin(order: Order, now: number): State {
  return {
    order,
    rules: NEWEST_RULES,
    now,
    cursor: 1,
    entries: new Map(),
    phases: { waiting: 0, sending: 0, running: 0, uncertain: 0, ended: 0 },
    bytes: 0,
    waiting: [],
    ended: [],
    groups: new Map(),
    parts: new Map(),
    nextGroup: 1,
    nextPart: 1,
    holdUntil: 0,
    bounces: 0,
    pace: NO_PACE,
    unwritten: new Set(),
    abandoned: new Set(),
    twins: [],
    early: new Map(),
    draining: false,
    doubt: { inFlight: false, nextAt: 0, looks: 0 },
    looking: false,
    told: { at: 0, words: '', isStale: true },
    heard: [],
    tally: NO_TALLY,
    ledger: NO_LEDGER,
    closing: false,
    finished: false,
  };
}

/** Puts a row into a phase, whatever it was in before. */
export function put(state: State, entry: Entry): void {
  forget(state, entry.row);
  state.entries.set(entry.row, entry);
  state.phases[entry.phase] += 1;
  state.bytes += weightOf(entry);
  if (entry.phase === 'waiting') insertByDue(state.waiting, entry);
  if (entry.phase === 'ended') state.ended.push(entry);
}

/** Takes a row out of the state. */
export function forget(state: State, row: number): void {
  const entry = state.entries.get(row);
  if (entry === undefined) return;
  state.entries.delete(row);
  state.phases[entry.phase] -= 1;
  state.bytes -= weightOf(entry);
  if (entry.phase === 'waiting') state.waiting.splice(state.waiting.indexOf(entry), 1);
}

function insertByDue(waiting: Waiting[], entry: Waiting): void {
  const after = waiting.findLastIndex(({ dueAt }) => dueAt <= entry.dueAt);
  waiting.splice(after + 1, 0, entry);
}

/** The attempts that are runs of the service now. */
export const runningEntries = (state: State): readonly Running[] =>
  [...state.entries.values()].filter((entry) => entry.phase === 'running');

/** The attempts of which nobody knows whether they are runs. */
export const uncertainEntries = (state: State): readonly Uncertain[] =>
  [...state.entries.values()].filter((entry) => entry.phase === 'uncertain');

/** Whether no further row may come in; rows that are in go on. */
export function isFull(state: State): boolean {
  const { size } = state.entries;
  const reserved = size * state.order.retries * ATTEMPT_BYTES;
  return size >= ENTRIES_MAX || state.bytes + reserved >= STATE_BYTES_MAX;
}

/** Whether no row is left that waits, is sent or has a run: all that remains is to collect. */
export function isIdle(state: State): boolean {
  const { waiting, sending, running, uncertain } = state.phases;
  return waiting + sending + running + uncertain === 0 && !hasUnsent(state);
}

/** Whether rows beyond the cursor are still to be sent. */
export function hasUnsent(state: State): boolean {
  return state.cursor <= state.order.rows && state.cancelling === undefined;
}
