// The bounds of what a user can set. The other limits of a batch are in src/batch/bounds.ts.

/** Retries per row; the snapshot holds all earlier attempts of a row. */
export const RETRIES_MAX = 20;
export const USUAL_RETRIES = 2;

export const CONCURRENCY_MAX = 3_000;
/** With -c auto: the most concurrent runs if nothing else bounds them. */
export const AUTO_MOST = 256;

/** A canary with more rows than this is no trial any more, and choosing them takes seconds. */
export const CANARY_ROWS_MAX = 100;

export const STARTS_PER_MINUTE_MAX = 100_000;

/** A million dollars: sums of nano-dollars stay exact. */
export const MAX_COST_NANO_MAX = 1e15;

/** The rungs of a ladder. */
export const RUNGS_MAX = 7;

/** Targets of notifications, and the size of each: both travel with the batch's parameters and its memo. */
export const NOTIFY_TARGETS_MAX = 5;
export const NOTIFY_TARGET_BYTES = 200;

/** The share of rows without success that triggers a notification, unless the user chose another one. */
export const NOTIFY_FAILED = { share: 0.05 };

export const POOL_SIZE_MAX = 100_000;
export const POOL_WEIGHT_MAX = 1_000;
export const POOL_URGENCY_MAX = 9;
