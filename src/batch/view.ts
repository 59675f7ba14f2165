// What people and programs are told about a batch.

import type { Ledger } from './ledger.ts';
import type { Seen } from './messages.ts';
import type { Pause } from './pausing.ts';
import type { State } from './state.ts';
import { costSoFar, rowsDone, type Tally } from './tally.ts';

export type BatchView = {
  readonly batch: string;
  readonly rows: number;
  readonly cap: number;
  /** Rows with an outcome whose files are written. */
  readonly done: number;
  /** Rows with an outcome whose files are being written. */
  readonly collecting: number;
  readonly sending: number;
  readonly running: number;
  readonly uncertain: number;
  /** Rows that wait for another attempt. */
  readonly retrying: number;
  /** Rows that were never sent. */
  readonly unsent: number;
  readonly tally: Tally;
  readonly ledger: Ledger;
  readonly costUsd: number;
  readonly state: 'running' | 'paused' | 'cancelling' | 'finished';
  /** The latest orders of users that it has carried out, by their ids. */
  readonly heard: readonly string[];
  /** Why the batch is paused or held back, in one line. */
  readonly reason?: string;
  readonly paused?: Pause;
  /** Runs that nobody wanted. */
  readonly twins: readonly Seen[];
  readonly lastFailure?: State['lastFailure'];
};

export function view(state: State): BatchView {
  const { order, phases, tally, ledger, lastFailure } = state;
  const reason = state.paused?.reason ?? state.trouble;
  const inParts = [...state.parts.values()].reduce((sum, rows) => sum + rows.length, 0);
  return {
    batch: order.batch,
    rows: order.rows,
    cap: order.cap,
    done: rowsDone(tally),
    collecting: phases.ended + inParts,
    sending: phases.sending,
    running: phases.running,
    uncertain: phases.uncertain,
    retrying: phases.waiting,
    unsent: state.closing ? 0 : order.rows - state.cursor + 1,
    tally,
    ledger,
    costUsd: costSoFar(tally),
    state: standingOf(state),
    heard: state.heard,
    twins: state.twins,
    ...(state.paused === undefined ? {} : { paused: state.paused }),
    ...(reason === undefined ? {} : { reason }),
    ...(lastFailure === undefined ? {} : { lastFailure }),
  };
}

/** How the batch stands, in one word. */
export function standingOf(state: State): BatchView['state'] {
  if (state.finished) return 'finished';
  if (state.paused !== undefined) return 'paused';
  return state.cancelling === undefined ? 'running' : 'cancelling';
}
