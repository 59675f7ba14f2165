// The bounds of a batch, each with the reason for its size. Milliseconds where a name ends in Ms.

/** Attempts in one group: large enough to share an activity under load, small enough to fail small. */
export const GROUP_ATTEMPTS = 32;

/** Groups in flight; with collects, watch and reconcile far below the 2,000 pending activities that wedge a workflow. */
export const GROUPS_IN_FLIGHT = 64;

export const COLLECT_ROWS = 100;
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

/** Without a run list every outstanding run costs one Get Run a look; this spreads them to 50 a second. */
export const LOOK_SPREAD_MS = 20;

export const RETRY_BASE_MS = 1_000;
export const RETRY_MAX_MS = 60_000;

/** After nothing could be sent: half a second, doubled each time up to this. */
export const HOLD_BASE_MS = 500;
export const HOLD_MAX_MS = 30_000;

/** A Retry-After longer than this is taken for a mistake and clipped. */
export const RETRY_AFTER_MAX_MS = 600_000;

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
