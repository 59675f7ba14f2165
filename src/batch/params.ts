// What a batch workflow needs of batch.json to decide.

/** How a service wants to be called, in milliseconds. */
export type Timing = {
  /** A POST is given up after this long. */
  readonly postDeadlineMs: number;
  /** Two lists that prove a run absent are read at least this far apart (R11). */
  readonly listGapMs: number;
  /** How long after a POST's deadline its run may still be missing in a list, with and without a control run. */
  readonly settleMs: number;
  readonly settleWithoutControlMs: number;
  /** How often outstanding runs are polled without webhooks. */
  readonly pollIntervalMs: number;
};

/** For services without a profile. */
export const DEFAULT_TIMING: Timing = {
  // A deployment that was put to sleep is redeployed inside the request.
  postDeadlineMs: 120_000,
  listGapMs: 60_000,
  settleMs: 300_000,
  settleWithoutControlMs: 1_800_000,
  // The interval of the service's own pages.
  pollIntervalMs: 2_000,
};

/** What happens to an unconfirmed attempt that no run list resolves in time (R12). */
export type UnconfirmedRule = {
  /** `ask` keeps its slot and pauses the batch. */
  readonly rule: 'unknown' | 'fail' | 'resubmit' | 'ask';
  readonly afterMs: number;
};

export type BatchParams = {
  readonly batch: string;
  readonly rows: number;
  /** Maximum runs outstanding at the same time. */
  readonly concurrency: number;
  /** Further attempts for a row whose run failed or timed out. */
  readonly retries: number;
  /** Whether runs are queued with the address of a receiver. */
  readonly webhooks: boolean;
  /** Whether the service lists runs with their webhooks, so that absence can be proved. */
  readonly lists: boolean;
  readonly unconfirmed: UnconfirmedRule;
  /** Seed of the jitter. */
  readonly seed: number;
  readonly timing: Timing;
  /** The pass whose parts this workflow writes: 1 for a new batch, one more each time it is rebuilt. */
  readonly pass: number;
};
