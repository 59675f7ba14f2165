// The part of batch.json that the batch workflow needs for its decisions.

import type { RetriesByKind } from '../options/failure-kind.ts';

/** How fast and how patiently to call a service, in milliseconds. */
export type Timing = {
  /** The timeout of a POST. */
  readonly postDeadlineMs: number;
  /** The minimum time between the two list readings that prove a run absent (R11). */
  readonly listGapMs: number;
  /** How long after a POST's timeout a list may still lack its run, with and without a control run. */
  readonly settleMs: number;
  readonly settleWithoutControlMs: number;
  /** The poll interval for outstanding runs without webhooks. */
  readonly pollIntervalMs: number;
};

/** For services without a profile. */
export const DEFAULT_TIMING: Timing = {
  // The service redeploys a sleeping deployment within the request.
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

/** Pauses the batch after so many rows without success, or after this share (0 to 1) of the rows that have ended. */
export type FailAfter = { readonly rows: number } | { readonly share: number };

/** Maximum runs outstanding by GPU. */
export type GpuConcurrency = Readonly<Record<string, number>>;

/** Limits that a user may change while the batch runs. */
export type LimitChange = {
  /** Without `adaptive`, the concurrency is fixed from then on. */
  readonly concurrency?: number;
  /** Finds the useful concurrency, from the concurrency in force; see limits/adaptive-cap.ts. */
  readonly adaptive?: true;
  readonly retries?: number;
  readonly startsPerMinute?: number | 'none';
  readonly gpuConcurrency?: GpuConcurrency | 'none';
  readonly retriesByKind?: RetriesByKind;
  readonly failAfter?: FailAfter | 'none';
  readonly deadlineAt?: number | 'none';
  readonly maxCostNano?: number | 'none';
  /** `none` leaves the pool. */
  readonly pool?: string;
  readonly weight?: number;
  readonly urgency?: number;
  readonly notify?: readonly string[] | 'none';
  readonly notifyFailed?: FailAfter | 'none';
};

/** A change without the limits that it removes. */
export const withoutNone = <T extends LimitChange>(change: T) =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== 'none')) as {
    readonly [K in keyof T]: Exclude<T[K], 'none'>;
  };

/** A lane as batch.json names it; see lanes.ts. */
export type LaneSpec = {
  readonly gpu?: string;
  /** The size class of rows that climb a ladder, from 1; 0: their size is not known. */
  readonly size?: number;
  /** The smallest and the largest size in the class. */
  readonly least?: number;
  readonly most?: number;
  readonly places: number;
  /** How many of its first places belong to the canary. */
  readonly canary?: number;
};

/** Rows that are sent before all others; `asks`: the batch waits for its user also if all of them succeeded. */
export type Canary = { readonly rows: number; readonly asks: boolean };

export type BatchParams = {
  readonly batch: string;
  readonly rows: number;
  readonly lanes: readonly LaneSpec[];
  /** The batch has no queue, so the first places are row numbers. */
  readonly placesAreRows?: true;
  /** The GPUs of rows that name none, the first one first; see ladder.ts. */
  readonly ladder?: readonly string[];
  /** Rows that have succeeded in earlier batches. They have no place and buy nothing. */
  readonly reused?: number;
  /** Maximum runs outstanding at the same time. */
  readonly concurrency: number;
  /** The useful concurrency of each GPU is found, up to `concurrency`. The first cap of each. */
  readonly adaptive?: number;
  /** Further attempts for a row whose run failed or timed out. */
  readonly retries: number;
  /** Other numbers for some kinds of failures. */
  readonly retriesByKind?: RetriesByKind;
  /** Maximum POSTs in a minute. */
  readonly startsPerMinute?: number;
  /** Maximum runs outstanding of a GPU. */
  readonly gpuConcurrency?: GpuConcurrency;
  readonly failAfter?: FailAfter;
  /** When to stop sending, in milliseconds since 1970 by Temporal's clock. */
  readonly deadlineAt?: number;
  /** The most that the batch may spend, in nano-dollars; see limits/budget.ts. */
  readonly maxCostNano?: number;
  /** The highest cost of one run by GPU, in nano-dollars; a GPU whose cost has no known bound is missing. */
  readonly attemptCostNano?: Readonly<Record<string, number>>;
  /** Who is notified of what happens to the batch; see notify-target.ts. */
  readonly notify?: readonly string[];
  /** From how many rows without success on, or from which share; see decisions/notify.ts. */
  readonly notifyFailed?: FailAfter;
  readonly canary?: Canary;
  /** What --max-cost reserves for an attempt instead of the highest cost: the 99th percentile of the runs before it. */
  readonly reserve?: 'p99';
  /** The pool whose slots the batch shares with others; see limits/grant.ts. */
  readonly pool?: string;
  /** Its share among equally urgent batches (default: 1), and how urgent it is (default: 0): more urgent ones come first. */
  readonly weight?: number;
  readonly urgency?: number;
  /** The longest time for which the service lets a run live, queueing included; absent if that is not known. */
  readonly runsEndMs?: number;
  /** Whether each POST names a webhook address. */
  readonly webhooks: boolean;
  /** Whether the service's run list includes webhook addresses, so that it can prove absence. */
  readonly lists: boolean;
  readonly unconfirmed: UnconfirmedRule;
  /** Seed of the retry jitter. */
  readonly seed: number;
  readonly timing: Timing;
  /** The pass whose parts this workflow writes: 1 for a new batch, increased by each rebuild. */
  readonly pass: number;
};

export type OptionalLimits = Pick<
  BatchParams,
  | 'adaptive'
  | 'retriesByKind'
  | 'startsPerMinute'
  | 'gpuConcurrency'
  | 'failAfter'
  | 'deadlineAt'
  | 'maxCostNano'
  | 'pool'
  | 'weight'
  | 'urgency'
  | 'notify'
  | 'notifyFailed'
>;

/** The limits that a batch has only if the user set them. */
export const optionalLimits = ({
  adaptive,
  retriesByKind,
  startsPerMinute,
  gpuConcurrency,
  failAfter,
  deadlineAt,
  maxCostNano,
  pool,
  weight,
  urgency,
  notify,
  notifyFailed,
}: OptionalLimits): OptionalLimits => ({
  ...(adaptive === undefined ? {} : { adaptive }),
  ...(retriesByKind === undefined ? {} : { retriesByKind }),
  ...(startsPerMinute === undefined ? {} : { startsPerMinute }),
  ...(gpuConcurrency === undefined ? {} : { gpuConcurrency }),
  ...(failAfter === undefined ? {} : { failAfter }),
  ...(deadlineAt === undefined ? {} : { deadlineAt }),
  ...(maxCostNano === undefined ? {} : { maxCostNano }),
  ...(pool === undefined ? {} : { pool }),
  ...(weight === undefined ? {} : { weight }),
  ...(urgency === undefined ? {} : { urgency }),
  ...(notify === undefined ? {} : { notify }),
  ...(notifyFailed === undefined ? {} : { notifyFailed }),
});
