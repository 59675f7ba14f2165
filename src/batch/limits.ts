// The bounds of a batch, each with the reason for its size. Milliseconds where a name ends in Ms.

/** Attempts in one group: large enough to share an activity under load, small enough to fail small. */
export const GROUP_ATTEMPTS = 32;

/** Groups in flight; with collects, watch and reconcile far below the 2,000 pending activities that wedge a workflow. */
export const GROUPS_IN_FLIGHT = 64;

export const COLLECT_ROWS = 100;

/** The part that stands for the results: parts are counted from 1. */
export const CLOSING = 0;

export const COLLECTS_IN_FLIGHT = 8;

/** An ended row is collected at the latest this long after the first that waits with it. */
export const COLLECT_AFTER_MS = 1_000;

/**
 * Rows in the state at once: 2.3 MB of state wedged a workflow for good, so both bounds stay below. A row is counted with
 * the attempts that it may still have.
 */
export const ENTRIES_MAX = 10_000;
export const STATE_BYTES_MAX = 1_500_000;
export const ATTEMPT_BYTES = 150;

/** What a row takes in the carried state, without its attempts. */
export const ENTRY_BYTES = 160;

/** Further attempts for a row; each is carried with its row. */
export const RETRIES_MAX = 20;

/** Runs outstanding at once; more would leave no room in the state for rows that wait or end. */
export const CAP_MAX = 3_000;

/** The same for rows that may be tried again so often. */
export const capMost = (retries: number): number =>
  Math.min(CAP_MAX, Math.floor(STATE_BYTES_MAX / (ENTRY_BYTES + retries * ATTEMPT_BYTES)));

/** No POST begins later than this after the last confirmed heartbeat was asked for (R3). */
export const LEASE_MS = 3_000;

/** With webhooks arriving, outstanding runs are looked at this often all the same: a lost webhook costs no more. */
export const SAFETY_LOOK_MS = 4_000;

/** No look comes later than this while the batch lives. */
export const LOOK_MAX_MS = 15_000;

/**
 * The gap that each outstanding run adds to that between looks: every look is in the history with all of its runs, and
 * without a run list each of them costs one Get Run, which this spreads to 50 a second.
 */
export const LOOK_SPREAD_MS = { listed: 4, alone: 20 } as const;

/** Orders that a batch remembers to have heard; whoever gave one asks within seconds. */
export const HEARD_MOST = 20;

/** What a batch says of itself is written into its history, so that it is said at most this often. */
export const TELL_MS = 500;

export const RETRY_BASE_MS = 1_000;
export const RETRY_MAX_MS = 60_000;

/** After nothing could be sent: half a second, doubled each time up to this. */
export const HOLD_BASE_MS = 500;
export const HOLD_MAX_MS = 30_000;

/** A Retry-After longer than this is taken for a mistake and clipped. */
export const RETRY_AFTER_MAX_MS = 600_000;

/** While a batch is paused it is tried again this often, doubled each time up to the latter. */
export const PROBE_MS = 15_000;
export const PROBE_MAX_MS = 300_000;

/** Groups in a row of which nothing was taken: from then on one attempt at a time, and later a pause. */
export const BREAKER_AFTER = 3;
export const UNREACHABLE_AFTER = 7;

/** The gap between two attempts while the service says that they are too many: at first, and below which it is none. */
export const PACE_GAP_FIRST_MS = 40;
export const PACE_GAP_MIN_MS = 10;
export const PACE_GAP_MAX_MS = 10_000;
export const PACE_SHRINK = 0.8;

/** Attempts that were written off and may turn up all the same, and runs that did. */
export const ABANDONED_MAX = 2_000;
export const TWINS_MAX = 500;

/** R12: longer than a run may wait unseen, which the service reports as timed out after 24 h. */
export const UNCERTAIN_MS = 25 * 3_600_000;

/** Looks for uncertain attempts start at the service's own gap and slow down to this. */
export const DOUBT_LOOK_MAX_MS = 60_000;

/** The service's words about a row, as far as they are carried in the state. */
export const REASON_CHARS = 300;

/** The same of an attempt that lies behind its row. */
export const PAST_REASON_CHARS = 60;

/**
 * History events from which a batch continues as new where it can, and from which it stops sending to be able to. A worker
 * that takes a batch over replays half a millisecond an event, and must be done within its workflow task's time.
 */
export const CONTINUE_AT_EVENTS = 2_000;
export const CONTINUE_BY_EVENTS = 4_000;

/** A workflow task on a worker that was killed is given to another one after this long. */
export const WORKFLOW_TASK_MS = 5_000;

/** Signals of one workflow run from which it continues as new; the server refuses the 10,001st. */
export const CONTINUE_AT_SIGNALS = 5_000;
