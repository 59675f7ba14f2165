// The bounds of a batch, each with the reason for its size. Milliseconds where a name ends in Ms, bytes of JSON in Bytes.

/** Attempts in one group: large enough to share an activity under load, small enough to fail small. */
export const GROUP_ATTEMPTS = 32;

/** All activities in flight together stay far below 2,000: the 2,001st pending one stops a workflow for good. */
export const GROUPS_IN_FLIGHT = 64;
export const COLLECTS_IN_FLIGHT = 8;
export const POLLS_IN_FLIGHT = 12;
export const CANCELS_IN_FLIGHT = 4;

export const COLLECT_ROWS = 100;
export const POLL_RUNS = 500;
export const CANCEL_RUNS = 100;
export const EVIDENCE_RUNS = 200;

/** An ended row is collected at the latest this long after the first one that waits with it. */
export const COLLECT_AFTER_MS = 1_000;

/** The state travels in one payload of at most 2 MiB: 2.3 MB stopped a workflow for good, so the bound stays below. */
export const STATE_BYTES_MAX = 1_500_000;
export const ROWS_MAX = 10_000;

/** Further attempts for a row; the earlier ones travel with it. */
export const RETRIES_MAX = 20;
export const CONCURRENCY_MAX = 3_000;

/** The service's words about a row; shorter where the state is nearly full, and for attempts that are over. */
export const REASON_BYTES = 300;
export const SHORT_REASON_BYTES = 60;

/** What a row takes in a snapshot without its reasons, and what one of its earlier attempts takes with its reason. */
export const ROW_BYTES = 150;
export const PAST_BYTES = 150;

/** What an earlier attempt takes that has no run, without its reason. */
export const PAST_WITHOUT_RUN_BYTES = 40;

/** The most runs at the same time for which the state has room, when each row may be tried again so often. */
export const mostConcurrency = (retries: number): number =>
  Math.min(
    CONCURRENCY_MAX,
    Math.floor(STATE_BYTES_MAX / (ROW_BYTES + SHORT_REASON_BYTES + retries * PAST_BYTES)),
  );

/** No POST begins later than this after the last confirmed heartbeat was asked for (R3). */
export const LEASE_MS = 3_000;

/** While webhooks arrive, a run is polled only when it takes longer than usual: a lost webhook costs this much. */
export const POLL_AFTER_LEAST_MS = 4_000;
export const POLL_AFTER_MOST_MS = 15_000;

/** Each outstanding run lengthens the poll interval: one list call shows 200 runs, without lists each run is one call. */
export const POLL_SPREAD_MS = { listed: 4, single: 20 } as const;
export const POLL_INTERVAL_MOST_MS = 15_000;

/** The service gets this long to end a run that was cancelled because it takes too long. */
export const CANCEL_PATIENCE_MS = 60_000;

/** Acknowledgements that a batch keeps; a command reads its own within seconds. */
export const ACKNOWLEDGED_MOST = 20;

/** Progress is written into the history, so it is published at most this often. */
export const PUBLISH_MS = 500;

export const RETRY_BASE_MS = 1_000;
export const RETRY_MAX_MS = 60_000;

/** After nothing could be sent: half a second, doubled each time up to this. */
export const HOLD_BASE_MS = 500;
export const HOLD_MAX_MS = 30_000;

/** A Retry-After longer than this is taken for a mistake and clipped. */
export const RETRY_AFTER_MAX_MS = 600_000;

/** A paused batch probes this often, doubled each time up to the latter. */
export const PROBE_MS = 15_000;
export const PROBE_MAX_MS = 300_000;

/** Consecutive groups of which nothing was accepted: first one attempt at a time, later a pause. */
export const CIRCUIT_OPENS_AFTER = 3;
export const UNREACHABLE_AFTER = 7;

/** The gap between two attempts while the service throttles: at first, and below which there is none. */
export const RATE_GAP_FIRST_MS = 40;
export const RATE_GAP_MIN_MS = 10;
export const RATE_GAP_MAX_MS = 10_000;
export const RATE_GAP_SHRINK = 0.8;

/** Files that cannot be fetched: the row waits, longer each time; after so many failures of its own it has none. */
export const DEFER_BASE_MS = 2_000;
export const DEFER_MAX_MS = 60_000;
export const DEFERS_MOST = 8;

/** A file host that has been away for this long pauses the batch; then so many rows probe it. */
export const FILES_PAUSE_AFTER_MS = 10_000;
export const FILES_PROBE_ROWS = 8;

/** Attempts that were written off and duplicate runs that were reported, as far as the state remembers them. */
export const ABANDONED_MAX = 2_000;
export const REPORTED_MAX = 2_000;

/** Duplicate runs that wait to be cancelled; the close cancels the others. */
export const CANCELS_MAX = 2_000;

/** Runs that wait to be kept for the close; more come only while the store takes nothing for long. */
export const EVIDENCE_MAX = 2_000;

/** GPUs that are counted by name; what the service calls its GPUs is not ours to bound. */
export const GPU_NAMES_MAX = 12;
export const GPU_NAME_CHARS = 40;

/** A row is sent again so often although an earlier attempt may have started a run: each time may cost another one. */
export const RESUBMITS_MOST = 3;

/** R12: longer than a run may wait unseen, which the service reports as timed out after 24 h. */
export const UNCONFIRMED_MS = 25 * 3_600_000;

/** Readings of the lists start at the service's own gap and slow down to this. */
export const RECONCILE_MAX_MS = 60_000;

/** The batch's clock believes Temporal's as far as this beyond the moment for which the batch wanted to be woken. */
export const CLOCK_SLACK_MS = 2_000;
export const CLOCK_IDLE_MS = 600_000;

/** A longer time than that counts as no more than this. */
export const CLOCK_DOUBT_MS = 1_000;

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
