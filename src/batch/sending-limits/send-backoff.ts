// The wait before a POST that started no run is repeated. run-retries.ts decides when a row is retried whose run has ended.

/** The wait after a group that could not be sent: half a second, doubled each time up to the maximum. */
export const HOLD_BASE_MS = 500;
export const MAX_HOLD_MS = 30_000;

/** A longer Retry-After is considered a mistake and cut to this. */
const MAX_RETRY_AFTER_MS = 600_000;

export const sendBackoffMs = (failures: number): number =>
  Math.min(MAX_HOLD_MS, HOLD_BASE_MS * 2 ** Math.min(failures, 16));

export const believable = (waitMs: number): number => Math.min(MAX_RETRY_AFTER_MS, waitMs);
