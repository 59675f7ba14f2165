// What the batch's state is told (events) and what it asks for (commands). The workflow translates both; the same
// words travel in Temporal's payloads, so they are small: no outputs, no addresses.

import type { PostClass } from './classify.ts';
import type { Outcome, PastAttempt } from './outcome.ts';
import type { Tally } from './tally.ts';

export type AttemptName = { readonly row: number; readonly attempt: number };

/** What became of one attempt of a group. */
export type Answer = AttemptName &
  (
    | { readonly became: 'accepted'; readonly runId: string }
    | {
        readonly became: Exclude<PostClass, 'accepted'>;
        /** Not before this long from now; 0 where waiting helps nobody. */
        readonly retryAfterMs?: number;
        readonly reason?: string;
      }
  );
export type Unaccepted = Exclude<Answer, { became: 'accepted' }>;

/** The end of one run, confirmed by Get Run. */
export type End = AttemptName & {
  readonly runId: string;
  readonly outcome: Outcome;
  readonly reason?: string;
};

/** A run that carries the token of an attempt. */
export type Seen = AttemptName & { readonly runId: string };

/** A run that is not waited for any longer. */
export type Overdue = Seen & { readonly reason: string };

/** A run to look at; `overdueAt`: since when its end is being forced. */
export type Watched = Seen & { readonly overdueAt?: number };

/** One reading of the run lists for uncertain attempts. */
export type ListLook = {
  /** When the reading began. */
  readonly askedAt: number;
  /** `complete`: read without error beyond the oldest attempt; `none`: the service has no such list. */
  readonly answer: 'complete' | 'incomplete' | 'none';
  readonly found: readonly Seen[];
  /** Whether the control run was in it. */
  readonly control: boolean;
};

export type Event =
  | { readonly type: 'started' }
  | {
      readonly type: 'groupAnswered';
      readonly group: number;
      readonly answers: readonly Answer[];
      /** What became of attempts without an answer, and why. */
      readonly rest: 'not-sent' | 'uncertain';
      readonly reason?: string;
    }
  | { readonly type: 'runsEnded'; readonly by: 'webhook' | 'look'; readonly ends: readonly End[] }
  | { readonly type: 'runsSeen'; readonly seen: readonly Seen[] }
  /** Runs that take too long. */
  | { readonly type: 'overdue'; readonly runs: readonly Overdue[] }
  /** The service could be read, or not, for this reason. */
  | { readonly type: 'read'; readonly reason?: string }
  | { readonly type: 'listed'; readonly look: ListLook }
  /** A look at the outstanding runs is over; what it found has been told. */
  | { readonly type: 'looked' }
  | { readonly type: 'collected'; readonly part: number; readonly tally: Tally }
  /** The folder would not take a part. */
  | { readonly type: 'unwritten'; readonly part: number; readonly reason: string }
  | { readonly type: 'closed' }
  | { readonly type: 'woke' }
  | { readonly type: 'drain' }
  /** Orders of a user; `order` is the id by which they are said to be heard. */
  | { readonly type: 'cancel'; readonly running: boolean; readonly order?: string }
  /** `uncertain`: what is to become of all attempts that nobody knows of, which is the user's decision. */
  | {
      readonly type: 'resume';
      readonly uncertain?: 'unknown' | 'fail' | 'resubmit';
      readonly order?: string;
    };

/** A row as `collect` is asked to write it: all of its attempts, the last one with its outcome. */
export type RowEnd = {
  readonly row: number;
  readonly attempts: readonly PastAttempt[];
};

export type Command =
  | { readonly type: 'send'; readonly group: number; readonly attempts: readonly AttemptName[] }
  | {
      readonly type: 'list';
      readonly attempts: readonly AttemptName[];
      readonly since: number;
      readonly control?: string;
    }
  /** `isUnread`: the batch waits for the service to be readable again. */
  | { readonly type: 'look'; readonly runs: readonly Watched[]; readonly isUnread: boolean }
  | { readonly type: 'collect'; readonly part: number; readonly rows: readonly RowEnd[] }
  /** Says how the batch stands. */
  | { readonly type: 'tell' }
  | { readonly type: 'cancelRuns'; readonly runs: readonly Seen[] }
  | { readonly type: 'wake'; readonly at: number }
  | { readonly type: 'close' };
