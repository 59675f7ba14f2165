// The events that a batch receives. The workflow creates them from signals, activity results and timers. Most of them travel in
// Temporal payloads, so they stay small: no outputs, no URLs.

import { clipped, clippedAtWord } from '../options/text/clipped.ts';
import { definedOnly } from '../options/defined-only.ts';
import { REASON_BYTES, SHORT_REASON_BYTES } from './bounds.ts';
import type { PostClass } from './classify-response.ts';
import type { FailureKind } from '../options/facts/failure-kind.ts';
import type { Outcome, AttemptRef, AttemptRun } from './outcome.ts';
import type { PassSegment } from './state/lanes.ts';
import type { LimitChange } from '../options/limits.ts';
import type { Grant } from './pool/messages.ts';
import type { Tally } from './accounting/tally.ts';
import type { BatchName } from './workflow-ids.ts';
import type { PauseKind } from './pausing/pause-kinds.ts';

/** How one POST of a group ended. */
export type PostResult = AttemptRef &
  /** `isKnown`: nothing was sent, because an earlier attempt of the row has paid for this run. */
  (
    | { readonly result: 'accepted'; readonly runId: string; readonly isKnown?: true }
    | {
        readonly result: Exclude<PostClass, 'accepted'>;
        /** The minimum wait before the next try; 0 if waiting does not help. */
        readonly retryAfterMs?: number;
        readonly reason?: string;
      }
    /** Nothing was sent, and nothing will be: the sheet was saved with other inputs, or without the row. */
    | { readonly result: 'left-out'; readonly reason: string }
  );
/** The results of a group so far; `serviceNowMs`: the service's time in its latest response. */
export type GroupResult = {
  readonly results: readonly PostResult[];
  readonly serviceNowMs?: number;
  /** Ends of runs that the completion of the group carries. */
  readonly ends?: RunEnds;
};
export type NotAccepted = Exclude<PostResult, { result: 'accepted' | 'left-out' }>;

/** How long a run queued, its machine started, and it ran, in milliseconds by the service's clock. */
export type RunTimes = readonly [queueMs: number, bootMs: number, runMs: number];

/** The end of one run, confirmed by Get Run. */
export type RunCompletion = AttemptRun & {
  readonly outcome: Outcome;
  readonly reason?: string;
  /** Why it failed, if its log says so. */
  readonly failure?: FailureKind;
  readonly times?: RunTimes;
};

/** Ends of runs, and what reported them. */
export type RunEnds = { readonly by: 'webhook' | 'poll'; readonly completions: readonly RunCompletion[] };

/** A run that made no progress for too long. */
export type OverdueRun = AttemptRun & { readonly reason: string };

/** A reading of the run lists on behalf of unconfirmed attempts. */
export type ListReading = {
  /** `complete`: read without error back to before the oldest attempt; `none`: the service has no such list. */
  readonly answer: 'complete' | 'incomplete' | 'none';
  readonly found: readonly AttemptRun[];
  /** Whether the list contained the control run. */
  readonly hasControl: boolean;
  /** The service's time when it had answered the first page. */
  readonly serviceNowMs?: number;
};

/**
 * A row whose files could not be fetched; `host`: the file host or the service failed, `file`: only this row's files. `waitedMs`:
 * how long the host let the download wait before it failed, if that was long.
 */
export type DeferredRow = {
  readonly place: number;
  readonly kind: 'host' | 'file';
  readonly reason: string;
  readonly waitedMs?: number;
  /** The run succeeded and has no files, which is a fact of the run; `kind` is `file` for older workers. */
  readonly isEmpty?: true;
};

/** `rung`: absent for an attempt on none. */
export type RunCost = readonly [place: number, nano: number, rung?: number];

export type PartResult = {
  readonly tally: Tally;
  readonly deferred: readonly DeferredRow[];
  /** How many rows had their files fetched for this part. */
  readonly fetched: number;
  /** The place of each attempt with a run whose cost is not known, or only in part. */
  readonly unpriced?: readonly number[];
  /** The rung of each of these attempts, if rows climb a ladder. */
  readonly unpricedRungs?: readonly number[];
  /** The place, the cost in nano-dollars and the rung of each run, if the batch reserves an estimate. */
  readonly costs?: readonly RunCost[];
  /** How many of its rows had an outcome before. */
  readonly again?: number;
};

/**
 * The item that the store failed to write or read: a part's number, the results (0), evidence (-1), the log (-2), or
 * a pass (-3).
 */
export type StoreItem = number;
export const RESULTS: StoreItem = 0;
export const EVIDENCE: StoreItem = -1;
export const LOG: StoreItem = -2;
export const PASS: StoreItem = -3;

/** A user's command; the acknowledgement repeats `commandId`. `by` and `reason` go to the log. */
type UserEvent<Type extends string> = { readonly type: Type } & UserCommand;
export type UserCommand = { readonly commandId?: string; readonly by?: string; readonly reason?: string };

export type Event =
  /** `serviceNowMs`: the service's time, if the worker requested it. */
  | { readonly type: 'started'; readonly serviceNowMs?: number }
  | (GroupResult & {
      readonly type: 'groupEnded';
      readonly group: number;
      /** The result of attempts that are not in `results`, and the reason. */
      readonly rest: 'not-sent' | 'unconfirmed';
      readonly reason?: string;
      /** The command that rebuilds the batch, so that nothing was sent. */
      readonly heldElsewhere?: string;
    })
  | ({ readonly type: 'runsCompleted' } & RunEnds)
  | { readonly type: 'runsSeen'; readonly runs: readonly AttemptRun[] }
  | { readonly type: 'runsOverdue'; readonly runs: readonly OverdueRun[] }
  /** `reason`: why runs cannot be read; without it, they can. */
  | { readonly type: 'serviceRead'; readonly reason?: string }
  | { readonly type: 'listRead'; readonly reading: ListReading }
  | { readonly type: 'pollEnded'; readonly poll: number }
  | { readonly type: 'runsCancelled'; readonly id: number }
  | { readonly type: 'evidenceKept'; readonly count: number }
  | { readonly type: 'partCollected'; readonly part: number; readonly result: PartResult }
  | {
      readonly type: 'storeFailed';
      readonly item: StoreItem;
      readonly reason: string;
      /** The command that rebuilds the batch, so that nothing was stored. */
      readonly heldElsewhere?: string;
    }
  | { readonly type: 'closed' }
  | ({
      readonly type: 'passLoaded';
      readonly pass: number;
      readonly segments: readonly PassSegment[];
      /** Rows that it appends to the batch. */
      readonly appended?: number;
    } & Pick<UserCommand, 'by' | 'reason'>)
  /** The pool of the batch grants slots. */
  | ({ readonly type: 'grant' } & Grant)
  /** A report has reached the pool; `failure`: why not. */
  | { readonly type: 'usageReported'; readonly failure?: string }
  | { readonly type: 'woke' }
  | { readonly type: 'stopSending' }
  /** `reason`: why the notification could not be delivered. */
  | { readonly type: 'notified'; readonly number: number; readonly reason?: string }
  | { readonly type: 'logKept'; readonly count: number }
  | (UserEvent<'cancel'> & { readonly running: boolean })
  /** Sends nothing until the user resumes the batch. */
  | UserEvent<'pause'>
  | (UserEvent<'scale'> & { readonly limits: LimitChange })
  /** `unconfirmed`: the user's decision about attempts that no list resolved. */
  | (UserEvent<'resume'> & {
      readonly unconfirmed?: 'unknown' | 'fail' | 'resubmit';
      readonly limits?: LimitChange;
    })
  /** Sends the rows of a pass again; its file names them. */
  | (UserEvent<'retry'> & { readonly pass: number })
  /** The batch continues as new as soon as possible, in the newest version. */
  | UserEvent<'refresh'>;

/** `gone`: the batch has ended, or its workflow run accepts no more signals. */
export type Delivered = 'taken' | 'gone';

export type BatchSignals = {
  runsCompleted(
    batch: BatchName,
    by: 'webhook' | 'poll',
    completions: readonly RunCompletion[],
  ): Promise<Delivered>;
  runsSeen(batch: BatchName, runs: readonly AttemptRun[]): Promise<Delivered>;
  runsOverdue(batch: BatchName, runs: readonly OverdueRun[]): Promise<Delivered>;
  /** `reason`: why runs cannot be read; without it, they can. */
  serviceRead(batch: BatchName, read: { readonly reason?: string }): Promise<Delivered>;
};

/** How many log entries may wait to be written, and how long they wait for others. */
export const MAX_LOG = 100;
const LOG_AFTER_MS = 1_000;

/** An event that concerns the batch as a whole, for `events/` in its folder. */
export type BatchEvent = {
  /** In milliseconds since 1970 by Temporal's clock. */
  readonly at: number;
  readonly event:
    | 'paused'
    | 'continued'
    | 'resumed'
    | 'scaled'
    | 'cancelled'
    | 'rebuilt'
    | 'retried'
    | 'adapted'
    | 'appended'
    /** A notification was delivered, or could not be delivered. */
    | 'notified'
    | 'not-notified'
    /** Files could not be fetched; their rows wait. */
    | 'files-deferred'
    /** Rows of a size class start on a higher rung of the ladder. */
    | 'climbed';
  readonly kind?: PauseKind;
  /** A cancel that also cancelled the running runs. */
  readonly running?: true;
  /** The user who gave the command. */
  readonly by?: string;
  readonly reason?: string;
  /** The places of the rows that a pause is about. */
  readonly places?: readonly number[];
  /** The change in words and as limits. */
  readonly note?: string;
  readonly limits?: LimitChange;
};

/** The part of a batch's state that logs. */
type Log = {
  readonly now: number;
  readonly wallAt: number;
  readonly log: BatchEvent[];
  readonly loggingNow: number;
  logDueAt: number;
};

type LogEntry = Pick<BatchEvent, 'event'> & {
  readonly [Field in Exclude<keyof BatchEvent, 'at' | 'event'>]?: BatchEvent[Field] | undefined;
};

/** Adds an entry. If the store takes none for long, the oldest entries are lost. */
export function note(state: Log, entry: LogEntry): void {
  const { by, reason, note: text } = entry;
  if (state.log.length === 0) state.logDueAt = state.now + LOG_AFTER_MS;
  state.log.push(
    definedOnly({
      at: state.wallAt,
      ...entry,
      by: by && clipped(by, SHORT_REASON_BYTES),
      reason: reason && clipped(reason, REASON_BYTES),
      note: text && clippedAtWord(text, REASON_BYTES),
    }),
  );
  // Entries that are being written stay at the beginning of the list.
  if (state.log.length > MAX_LOG) state.log.splice(state.loggingNow, 1);
}
