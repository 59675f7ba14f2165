// The bounds of what a user can set, and the defaults that code needs. The other limits of a batch are in src/batch/bounds.ts.

/** Retries per row; the snapshot holds all earlier attempts of a row. */
export const MAX_RETRIES = 20;
/** The default of --retries. */
export const USUAL_RETRIES = 2;

export const MAX_CONCURRENCY = 3_000;
/** With -c auto: the most concurrent runs if nothing else bounds them. */
export const MAX_AUTO = 256;

/** A canary with more rows than this is no trial any more, and choosing them takes seconds. */
export const MAX_CANARY_ROWS = 100;

export const MAX_STARTS_PER_MINUTE = 100_000;

/** A million dollars: sums of nano-dollars stay exact. */
export const MAX_COST_LIMIT_NANO = 1e15;

/** A limit in nano-dollars, rounded up to a whole cent, at most the highest limit. */
export const upToCent = (nano: number): number => Math.min(MAX_COST_LIMIT_NANO, Math.ceil(nano / 1e7) * 1e7);

/** The rungs of a ladder. */
export const MAX_RUNGS = 7;

/** Targets of notifications, and the size of each: both travel with the batch's parameters and its memo. */
export const MAX_NOTIFY_TARGETS = 5;
export const NOTIFY_TARGET_BYTES = 200;

/** The share of rows without success that triggers a notification, unless the user chose another one. */
export const NOTIFY_FAILED = { share: 0.05 };

export const MAX_POOL_SIZE = 100_000;
export const MAX_POOL_WEIGHT = 1_000;
export const MAX_POOL_URGENCY = 9;
