// What a batch is told. The workflow makes these of signals, of the answers of activities, and of timers; most of them
// travel in Temporal's payloads, so they are small: no outputs, no addresses.

import type { AttemptRef, AttemptRun } from './attempt.ts';
import type { PostClass } from './classify-response.ts';
import type { Outcome } from './outcome.ts';
import type { Tally } from './accounting/tally.ts';

/** How one POST of a group ended. */
export type PostResult = AttemptRef &
  (
    | { readonly result: 'accepted'; readonly runId: string }
    | {
        readonly result: Exclude<PostClass, 'accepted'>;
        /** Not again before this long from now; 0 where waiting does not help. */
        readonly retryAfterMs?: number;
        readonly reason?: string;
      }
  );
/** What became of a group so far; `serviceNowMs`: the service's own time in its latest answer. */
export type GroupResult = { readonly results: readonly PostResult[]; readonly serviceNowMs?: number };
export type NotAccepted = Exclude<PostResult, { result: 'accepted' }>;

/** The end of one run, confirmed by Get Run. */
export type RunCompletion = AttemptRun & { readonly outcome: Outcome; readonly reason?: string };

/** A run that made no progress for too long. */
export type OverdueRun = AttemptRun & { readonly reason: string };

/** One reading of the run lists for unconfirmed attempts. */
export type ListReading = {
  /** `complete`: read without error beyond the oldest attempt; `none`: the service has no such list. */
  readonly answer: 'complete' | 'incomplete' | 'none';
  readonly found: readonly AttemptRun[];
  /** Whether the control run was in it. */
  readonly hasControl: boolean;
};

/** A row whose files could not be fetched; `host`: their host or the service failed, not the run. */
export type DeferredRow = { readonly row: number; readonly kind: 'host' | 'file'; readonly reason: string };

export type PartResult = {
  readonly tally: Tally;
  readonly deferred: readonly DeferredRow[];
  /** Rows whose files were fetched for this part. */
  readonly fetched: number;
};

/** What the store would not take: a part, the results (0), or evidence (-1). */
export type StoreItem = number;
export const RESULTS: StoreItem = 0;
export const EVIDENCE: StoreItem = -1;

/** A user's command; `commandId` names it in the acknowledgement. */
type Command<Type extends string> = { readonly type: Type; readonly commandId?: string };

export type Event =
  /** `serviceNowMs`: the service's own time, where it was asked for it. */
  | { readonly type: 'started'; readonly serviceNowMs?: number }
  | (GroupResult & {
      readonly type: 'groupEnded';
      readonly group: number;
      /** What attempts without a result count as, and why. */
      readonly rest: 'not-sent' | 'unconfirmed';
      readonly reason?: string;
    })
  | {
      readonly type: 'runsCompleted';
      readonly by: 'webhook' | 'poll';
      readonly completions: readonly RunCompletion[];
    }
  | { readonly type: 'runsSeen'; readonly runs: readonly AttemptRun[] }
  | { readonly type: 'runsOverdue'; readonly runs: readonly OverdueRun[] }
  /** The service's runs can be read, or not, for this reason. */
  | { readonly type: 'serviceRead'; readonly reason?: string }
  | { readonly type: 'listRead'; readonly reading: ListReading }
  | { readonly type: 'pollEnded'; readonly poll: number }
  | { readonly type: 'runsCancelled'; readonly id: number }
  | { readonly type: 'evidenceKept'; readonly count: number }
  | { readonly type: 'partCollected'; readonly part: number; readonly result: PartResult }
  | { readonly type: 'storeFailed'; readonly item: StoreItem; readonly reason: string }
  | { readonly type: 'closed' }
  | { readonly type: 'woke' }
  | { readonly type: 'stopSending' }
  | (Command<'cancel'> & { readonly running: boolean })
  /** `unconfirmed`: the user decides about the attempts that no list resolves. */
  | (Command<'resume'> & { readonly unconfirmed?: 'unknown' | 'fail' | 'resubmit' })
  /** Continues as new as soon as possible, in the newest version. */
  | Command<'refresh'>;
