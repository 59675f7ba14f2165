// What a batch workflow is asked to do: the part of the frozen order that decisions need.

/** How a service wishes to be asked, in milliseconds. */
export type Timing = {
  /** A POST is given up after this long. */
  readonly postDeadlineMs: number;
  /** Two lists that prove a run absent lie at least this far apart (R11). */
  readonly listGapMs: number;
  /** How long after a POST's deadline its run may still appear in a list, with and without a control run. */
  readonly settleMs: number;
  readonly settleWithoutControlMs: number;
  /** How far the service's clock may be from ours. */
  readonly skewMs: number;
  /** How often outstanding runs are looked at where no webhooks come. */
  readonly pollIntervalMs: number;
};

/** A service that does not say how it wishes to be asked is asked like this. */
export const DEFAULT_TIMING: Timing = {
  // A deployment that was put to sleep is redeployed inside the request.
  postDeadlineMs: 120_000,
  listGapMs: 60_000,
  settleMs: 300_000,
  settleWithoutControlMs: 1_800_000,
  skewMs: 60_000,
  // The interval of the service's own pages.
  pollIntervalMs: 2_000,
};

/** What becomes of an attempt that nobody knows of, once it is so old and no list can tell (R12). */
export type UncertainRule = {
  /** `ask` leaves it in its slot and pauses the batch. */
  readonly rule: 'unknown' | 'fail' | 'resubmit' | 'ask';
  readonly afterMs: number;
};

export type Order = {
  readonly batch: string;
  readonly rows: number;
  /** Runs outstanding at once. */
  readonly cap: number;
  /** Further attempts for a row whose run failed or timed out. */
  readonly retries: number;
  /** Whether runs are queued with the address of a receiver. */
  readonly webhooks: boolean;
  /** Whether the service lists runs with their webhooks, so that absence can be proved. */
  readonly lists: boolean;
  readonly uncertain: UncertainRule;
  /** Jitter is drawn from it. */
  readonly seed: number;
  readonly timing: Timing;
};
