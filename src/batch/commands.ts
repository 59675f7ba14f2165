// Defines the commands that a batch issues. The workflow executes them as activities, timers and memo updates.

import type { AttemptRef, AttemptRun, SentAttempt } from './outcome.ts';
import type { BatchEvent } from './events.ts';
import type { Usage } from './pool/messages.ts';
import type { Notice } from './notices/notice.ts';
import type { EndedRow } from './state/row-state.ts';

/** A run to poll. */
export type PolledRun = AttemptRun & {
  /** How long the batch has known the run, by its own clock. */
  readonly ageMs: number;
  readonly isOverdue?: true;
};

/** How far back the run lists must be read. */
export type ReadBack = {
  /** The longest time that may have passed since the oldest attempt was sent. */
  readonly agoMs: number;
  /** Temporal's time now, and the range of the service's time minus Temporal's. */
  readonly wallAt: number;
  readonly offset?: { readonly min: number; readonly max: number };
};

export type CommandOf<Type extends Command['type']> = Extract<Command, { type: Type }>;

export type Command =
  | {
      readonly type: 'send';
      readonly group: number;
      readonly attempts: readonly SentAttempt[];
      /** The results may wait and travel with the next ends of runs. */
      readonly mayWait?: true;
    }
  | {
      readonly type: 'reconcile';
      readonly attempts: readonly AttemptRef[];
      readonly back: ReadBack;
      /** The control run, which a complete list must contain. */
      readonly control?: string;
      /** The least number of the batch's runs in a list that ends before it reaches runs older than the batch. */
      readonly least: number;
    }
  | {
      readonly type: 'poll';
      readonly poll: number;
      readonly runs: readonly PolledRun[];
      readonly intervalMs: number;
      /** Whether the batch is paused because runs cannot be read. */
      readonly isUnreadable: boolean;
    }
  | { readonly type: 'collect'; readonly part: number; readonly rows: readonly EndedRow[] }
  | { readonly type: 'cancelRuns'; readonly id: number; readonly runs: readonly AttemptRun[] }
  /** Writes runs that match no row in the state to the store; the close checks them. */
  | { readonly type: 'keepEvidence'; readonly number: number; readonly runs: readonly AttemptRun[] }
  /** Asks the workers of these groups to start no further POST; each group still ends with its results. */
  | { readonly type: 'stopGroups'; readonly groups: readonly number[] }
  /** Writes entries of the log to the store. */
  | { readonly type: 'keepLog'; readonly number: number; readonly entries: readonly BatchEvent[] }
  | {
      readonly type: 'close';
      readonly evidence: readonly AttemptRun[];
      readonly back: ReadBack;
      /** The entries of the log that the store does not have, for file `logNumber`. */
      readonly log: readonly BatchEvent[];
      readonly logNumber: number;
      /** The newest pass whose rows are in the results. */
      readonly throughPass: number;
    }
  /** Reads which rows a pass sends again. */
  | { readonly type: 'loadPass'; readonly pass: number }
  /** Tells the pool how many slots the batch uses; the workflow adds its id. */
  | { readonly type: 'reportUsage'; readonly pool: string; readonly usage: Usage }
  /** Sends one notification to one target. */
  | { readonly type: 'notify'; readonly notice: Notice }
  | { readonly type: 'publish' }
  | { readonly type: 'wake'; readonly afterMs: number };
