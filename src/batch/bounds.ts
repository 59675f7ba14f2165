// The limits of a batch that several files share, each with the reason for its size. Names in _MS are milliseconds, names in _BYTES bytes of JSON.

import { MAX_CONCURRENCY } from '../options/bounds-and-defaults.ts';

/** Attempts per group: many share one activity under load, and few become unconfirmed if the worker is lost. */
export const GROUP_ATTEMPTS = 32;

/** The total of activities in flight stays far below 2,000: the 2,001st pending one blocks a workflow permanently. */
export const GROUPS_IN_FLIGHT = 64;
export const COLLECTS_IN_FLIGHT = 8;
export const POLLS_IN_FLIGHT = 12;
export const CANCELS_IN_FLIGHT = 4;

/** Three list calls read this many runs, and they are an argument of some 50 kB. */
export const POLL_RUNS = 500;

/** A snapshot is one payload of at most 2 MiB. In a test, 2.3 MB blocked a workflow permanently. */
export const MAX_STATE_BYTES = 1_500_000;
/** Rows of ROW_BYTES fill MAX_STATE_BYTES. */
export const MAX_ROWS = 10_000;

/** Each class is a lane, with positions and cost figures in the state; classes of many sizes share a factor. */
export const MAX_SIZE_CLASSES = 16;

/** Rows that the reason of a pause names. */
export const ROWS_NAMED = 10;

/** The service's message about a row; shorter once the state is half full, and for past attempts. */
export const REASON_BYTES = 300;
export const SHORT_REASON_BYTES = 60;

/** The size of a row in a snapshot without its reasons, and of an earlier attempt with a short reason. */
export const ROW_BYTES = 150;
export const PAST_BYTES = 150;

/** The size of an earlier attempt without a run and without its reason. */
export const PAST_WITHOUT_RUN_BYTES = 40;

/**
 * Reserves space in a snapshot for the attempts that a row may still need: its retries, and with resubmission its
 * attempts without a run.
 */
export function reservedBytes({ retries, resubmits }: Reserve): number {
  // Adds one for an attempt that was proved absent; without resubmissions the payload has space for those.
  const withoutRun = resubmits ? MAX_RESUBMITS + 1 : 0;
  const withoutRunBytes = PAST_WITHOUT_RUN_BYTES + SHORT_REASON_BYTES;
  return SHORT_REASON_BYTES + retries * PAST_BYTES + withoutRun * withoutRunBytes;
}

type Reserve = { readonly retries: number; readonly resubmits: boolean };

/** The highest concurrency for which the state has space. */
export const mostConcurrency = (retries: number, resubmits = false): number =>
  Math.min(
    MAX_CONCURRENCY,
    Math.floor(MAX_STATE_BYTES / (ROW_BYTES + reservedBytes({ retries, resubmits }))),
  );

/** A worker starts no POST later than this after it requested the last confirmed heartbeat (R3). */
export const LEASE_MS = 3_000;

/** While webhooks arrive, a poll reads only runs that take longer than usual: the delay that a lost webhook causes. */
export const MIN_POLL_AFTER_MS = 4_000;
export const MAX_POLL_AFTER_MS = 120_000;

/** The interval of polls beside webhooks, as a share of the usual run time. */
export const POLL_INTERVAL_SHARE = 0.25;

/**
 * Each outstanding run lengthens the poll interval: a list call returns 200 runs, without lists each run needs a call.
 */
export const POLL_SPREAD_MS = { listed: 4, single: 20 } as const;
/** However many runs are outstanding, an end whose webhook was lost is seen within this time. */
export const MAX_POLL_INTERVAL_MS = 15_000;

/** A notification is given up after this time, so it delays the end of the batch by no more. */
export const NOTIFY_WITHIN_MS = 60_000;

/** How many commands a batch recognises if their signals arrive again. */
export const COMMANDS_KNOWN = 200;

/** The concurrency that `auto` begins with where the deployment names no limit: too few only costs a moment, too many would queue. */
export const AUTO_START = 4;

/** How many GPU names are counted separately; the service may return any number of names. */
export const MAX_GPU_NAMES = 12;
export const GPU_NAME_CHARS = 40;

/** How often a row is resubmitted although an earlier attempt may have started a run: each time may cost another run. */
export const MAX_RESUBMITS = 3;

/** R12: the service reports every waiting run as timed out after 24 h, so after 25 h it must have appeared. */
export const UNCONFIRMED_MS = 25 * 3_600_000;

/** How far the batch's clock follows Temporal's beyond the requested wake-up, and if no wake-up was requested. */
export const CLOCK_SLACK_MS = 2_000;
export const CLOCK_IDLE_MS = 600_000;

/**
 * History events after which a batch continues as new if it can. A worker that takes over a batch needs half a millisecond to
 * replay an event, and must finish within the workflow task timeout.
 */
export const CONTINUE_AT_EVENTS = 2_000;

/** The workflow task timeout: after this, another worker gets the task of a worker that was killed. */
export const WORKFLOW_TASK_MS = 5_000;

/**
 * A pool repeats the grant of a member that was silent for this long: delivery fails if the member's workflow has
 * ended.
 */
export const POOL_SILENT_MS = 60_000;
/** Members of a pool: each reports every few seconds while its runs change, and all of them must fit into one memo. */
export const MAX_POOL_MEMBERS = 200;
