// What a batch asks for. The workflow carries these out as activities, timers and memo updates.

import type { AttemptRef, AttemptRun } from './attempt.ts';
import type { EndedRow } from './row-state.ts';

/** A run to poll. */
export type PolledRun = AttemptRun & {
  /** How long the batch has known it, by its own clock. */
  readonly ageMs: number;
  readonly isOverdue?: true;
};

/** How far back the run lists must be read, as far as the batch knows. */
export type ReadBack = {
  /** How long ago the oldest attempt in question was sent, at the most. */
  readonly agoMs: number;
  /** Temporal's time now, and how far the service's time was seen to be from it. */
  readonly wallAt: number;
  readonly offset?: { readonly min: number; readonly max: number };
};

export type Command =
  | { readonly type: 'send'; readonly group: number; readonly attempts: readonly AttemptRef[] }
  | {
      readonly type: 'reconcile';
      readonly attempts: readonly AttemptRef[];
      readonly back: ReadBack;
      /** A run that a complete list must show. */
      readonly control?: string;
      /** How many runs of the batch a list must show that ends before it comes to runs from before the batch. */
      readonly least: number;
    }
  | {
      readonly type: 'poll';
      readonly poll: number;
      readonly runs: readonly PolledRun[];
      readonly intervalMs: number;
      /** The batch waits for the service to be readable again. */
      readonly isUnreadable: boolean;
    }
  | { readonly type: 'collect'; readonly part: number; readonly rows: readonly EndedRow[] }
  | { readonly type: 'cancelRuns'; readonly id: number; readonly runs: readonly AttemptRun[] }
  /** Keeps runs that no row in the state explains until the close judges them. */
  | { readonly type: 'keepEvidence'; readonly number: number; readonly runs: readonly AttemptRun[] }
  | { readonly type: 'close'; readonly evidence: readonly AttemptRun[]; readonly back: ReadBack }
  | { readonly type: 'publish' }
  | { readonly type: 'wake'; readonly afterMs: number };
