// The limits of a batch, each with the reason for its size. Names in _MS are milliseconds, names in _BYTES bytes of JSON.

import { CONCURRENCY_MAX } from '../options/bounds.ts';

/** Attempts per group: many share one activity under load, and few become unconfirmed if the worker is lost. */
export const GROUP_ATTEMPTS = 32;

/** The total of activities in flight stays far below 2,000: the 2,001st pending one blocks a workflow permanently. */
export const GROUPS_IN_FLIGHT = 64;
export const COLLECTS_IN_FLIGHT = 8;
export const POLLS_IN_FLIGHT = 12;
export const CANCELS_IN_FLIGHT = 4;

export const COLLECT_ROWS = 100;
export const POLL_RUNS = 500;
export const CANCEL_RUNS = 100;
export const EVIDENCE_RUNS = 200;

/** The time that an ended row waits for others before they are collected together, if runs are short. */
export const COLLECT_AFTER_MS = 1_000;

/**
 * If runs take longer, what has changed is published, and ended rows are collected, after these shares of the usual run time: the
 * first one in a step that happens anyway, the second one in a step of its own. Runs of an hour count as runs of this time.
 */
export const PUBLISH_SHARES = { along: 0.25, alone: 2 } as const;
export const COLLECT_SHARES = { along: 0.5, alone: 2 } as const;
export const SHARED_RUN_MOST_MS = 20_000;

/** A snapshot is one payload of at most 2 MiB. In a test, 2.3 MB blocked a workflow permanently. */
export const STATE_BYTES_MAX = 1_500_000;
export const ROWS_MAX = 10_000;

export const SIZE_CLASSES_MAX = 16;
export const UNPROVEN_MOST = 2;

/** The service's message about a row; shorter once the state is half full, and for finished attempts. */
export const REASON_BYTES = 300;
export const SHORT_REASON_BYTES = 60;

/** The size of a row in a snapshot without its reasons, and of an earlier attempt with a short reason. */
export const ROW_BYTES = 150;
export const PAST_BYTES = 150;

/** The size of an earlier attempt without a run and without its reason. */
export const PAST_WITHOUT_RUN_BYTES = 40;

/** What a row may still take: its retries, and if it may be resubmitted, its attempts without a run. */
export function reservedBytes({ retries, resubmits }: Reserve): number {
  // One more for an attempt that was proved absent; without resubmissions the payload has space for those.
  const withoutRun = resubmits ? RESUBMITS_MOST + 1 : 0;
  const withoutRunBytes = PAST_WITHOUT_RUN_BYTES + SHORT_REASON_BYTES;
  return SHORT_REASON_BYTES + retries * PAST_BYTES + withoutRun * withoutRunBytes;
}

type Reserve = { readonly retries: number; readonly resubmits: boolean };

/** The maximum concurrency for which the state has space. */
export const mostConcurrency = (retries: number, resubmits = false): number =>
  Math.min(
    CONCURRENCY_MAX,
    Math.floor(STATE_BYTES_MAX / (ROW_BYTES + reservedBytes({ retries, resubmits }))),
  );

/** A worker starts no POST later than this after it requested the last confirmed heartbeat (R3). */
export const LEASE_MS = 3_000;

/** While webhooks arrive, a poll reads only runs that take longer than usual: the delay that a lost webhook causes. */
export const POLL_AFTER_LEAST_MS = 4_000;
export const POLL_AFTER_MOST_MS = { 1: 15_000, 2: 120_000 } as const;

/** The interval of polls beside webhooks, as a share of the usual run time. */
export const POLL_INTERVAL_SHARE = 0.25;

/**
 * Each outstanding run lengthens the poll interval: a list call returns 200 runs, without lists each run needs a call.
 */
export const POLL_SPREAD_MS = { listed: 4, single: 20 } as const;
export const POLL_INTERVAL_MOST_MS = 15_000;

/** How long the service may take to end an overdue run that we asked it to cancel. */
export const CANCEL_PATIENCE_MS = 60_000;

/** After this time a notification is given up: it delays the end of the batch by no more. */
export const NOTIFY_WITHIN_MS = 60_000;

/** A share of failed rows counts when so many rows have ended. */
export const GUARD_ROWS_LEAST = 20;

/** How many entries of the log may wait to be written, and for how long they wait for others. */
export const LOG_MAX = 100;
export const LOG_AFTER_MS = 1_000;

/** How many acknowledgements a batch keeps; a command reads its own within seconds. */
export const ACKNOWLEDGED_MOST = 20;

/** How many commands a batch recognises if their signals arrive again. */
export const COMMANDS_KNOWN = 200;

/** The minimum time between two publications of progress, because each adds to the history. */
export const PUBLISH_MS = 500;

export const RETRY_BASE_MS = 1_000;
export const RETRY_MAX_MS = 60_000;

/** The wait after a group that could not be sent: half a second, doubled each time up to the maximum. */
export const HOLD_BASE_MS = 500;
export const HOLD_MAX_MS = 30_000;

/** A longer Retry-After is considered a mistake and cut to this. */
export const RETRY_AFTER_MAX_MS = 600_000;

/** The first interval between probes of a paused batch, doubled each time up to the maximum. */
export const PROBE_MS = 15_000;
export const PROBE_MAX_MS = 300_000;

/** After so many consecutive failed groups, the batch sends one attempt at a time; later it pauses. */
export const CIRCUIT_OPENS_AFTER = 3;
export const UNREACHABLE_AFTER = 7;

/** The gap between two attempts while the service throttles; a gap below the minimum becomes none. */
export const RATE_GAP_FIRST_MS = 40;
export const RATE_GAP_MIN_MS = 10;
export const RATE_GAP_MAX_MS = 10_000;
export const RATE_GAP_SHRINK = 0.8;

export const AUTO_START = 4;

/**
 * Queueing time as a share of the time on the machine: above the first the cap falls, below the second it grows. Between them
 * every machine has its next run waiting.
 */
export const QUEUE_MOST = 0.2;
export const QUEUE_LEAST = 0.05;
export const QUEUE_TARGET = 0.1;

/** A run that queued for longer than so many times the time on its machine counts as if it were this. */
export const QUEUE_BELIEVED = 4;

/** How many ends a round has at least after the first queueing. */
export const ROUND_ENDS = 8;

/** A run whose machine took longer to start than this share of the run waited for a new machine. */
export const COLD_BOOT_SHARE = 0.05;

/** How many ends of a round are kept for their median: their share of a snapshot stays below a kilobyte for each lane. */
export const CAP_SAMPLES = 31;

/** For how many rounds the cap stays at the runs that the service held at a 429: the next run may be turned away again. */
export const HELD_ROUNDS = 8;

/** A row whose files cannot be fetched waits longer each time; after so many own failures it is written without them. */
export const DEFER_BASE_MS = 2_000;
export const DEFER_MAX_MS = 60_000;
export const DEFERS_MOST = 8;

/** A file host outage of this length pauses the batch; then so many rows probe the host. */
export const FILES_PAUSE_AFTER_MS = 10_000;
export const FILES_PROBE_ROWS = 8;
/** So many rows whose files are refused, or are not what they should be, count as an outage if no file is fetched meanwhile. */
export const FILES_REFUSED_ROWS = 3;

/** How many attempts that were abandoned, and reported duplicates, the state remembers. */
export const ABANDONED_MAX = 2_000;
export const REPORTED_MAX = 2_000;

/** How many cancels may wait; the close cancels further duplicates. */
export const CANCELS_MAX = 2_000;

/** How many runs may wait to be written for the close; more arrive only during a long outage of the store. */
export const EVIDENCE_MAX = 2_000;

/** How many GPU names are counted separately; the service may return any number of names. */
export const GPU_NAMES_MAX = 12;
export const GPU_NAME_CHARS = 40;

/** How often a row is resubmitted although an earlier attempt may have started a run: each time may cost another run. */
export const RESUBMITS_MOST = 3;

/** R12: the service reports every waiting run as timed out after 24 h, so after 25 h it must have appeared. */
export const UNCONFIRMED_MS = 25 * 3_600_000;

/** List readings start at the service's own interval and slow down to this. */
export const RECONCILE_MAX_MS = 60_000;

/** How far the batch's clock follows Temporal's beyond the requested wake-up, and if no wake-up was requested. */
export const CLOCK_SLACK_MS = 2_000;
export const CLOCK_IDLE_MS = 600_000;

/** A longer jump counts as this. */
export const CLOCK_DOUBT_MS = 1_000;

/**
 * History events after which a batch continues as new if it can, and after which it stops sending so that it can. A
 * worker that takes over a batch needs half a millisecond to replay an event, and must finish within the workflow task
 * timeout.
 */
export const CONTINUE_AT_EVENTS = 2_000;
export const CONTINUE_BY_EVENTS = 4_000;

/**
 * A batch rests before it continues as new if its runs take no longer than this, and if so many of them end in a second that
 * about one end arrives during the workflow task of a continue-as-new.
 */
export const REST_MOST_MS = 3_000;
export const OFTEN_ENDS_PER_SECOND = 40;

/** A batch at rest in which no run has ended for this time continues with the runs that it has: they take longer than usual. */
export const REST_QUIET_MS = 250;

/** The timer in whose task a batch continues as new otherwise. */
export const MOMENT_MS = 30;

/** After so many moments that were none a batch stops sending to find one, and after so many more it takes any. */
export const MOMENTS_SENDING = 5;
export const MOMENTS_STOPPED = 20;

/** The workflow task timeout: after this, another worker gets the task of a worker that was killed. */
export const WORKFLOW_TASK_MS = 5_000;

/** Signals after which a workflow run continues as new; the server refuses the 10,001st. */
export const CONTINUE_AT_SIGNALS = 5_000;

/** A pool and the batches that share it. A batch reports every change to its pool, but not more often than this. */
export const POOL_REPORT_MS = 2_000;
/** How far ahead a batch asks for slots: a report, and the grant that answers it, take less. */
export const POOL_AHEAD_MS = 4_000;
/** How soon a batch looks again for a pool that is not running, and after how long without one it pauses. */
export const POOL_AGAIN_MS = 10_000;
export const POOL_GONE_MS = 30_000;
/** A pool repeats the grant of a member that was silent for so long: that fails if its workflow has ended. */
export const POOL_SILENT_MS = 60_000;
/** Members of a pool: each reports every few seconds while its runs change, and all of them must fit into a memo. */
export const POOL_MEMBERS_MAX = 200;
/** How many grants of a pool are on their way at the same time. */
export const POOL_GRANTS_IN_FLIGHT = 50;
/** Departed members, and batches for which a pool has no room, that it remembers. */
export const POOL_DEPARTED_MAX = 1_000;
/** The minimum time between two publications of a pool. */
export const POOL_PUBLISH_MS = 1_000;
