// The part of batch.json that the batch workflow needs for its decisions.

import type { OptionalLimits } from '../options/limits.ts';

/** How fast and how patiently to call a service, in milliseconds; these are for services without a profile. */
export const DEFAULT_TIMING = {
  /** The timeout of a POST. The service redeploys a sleeping deployment within the request. */
  postDeadlineMs: 120_000,
  /** The minimum time between the two list readings that prove a run absent (R11). */
  listGapMs: 60_000,
  /** How long after a POST's timeout a list may still lack its run, with and without a control run. */
  settleMs: 300_000,
  settleWithoutControlMs: 1_800_000,
  /** The poll interval for outstanding runs without webhooks, as the service's own pages use it. */
  pollIntervalMs: 2_000,
};
export type Timing = Readonly<typeof DEFAULT_TIMING>;

/** The user's rule for an unconfirmed attempt that no run list resolves in time (R12). */
export type UnconfirmedRule = {
  /** `ask` keeps its slot and pauses the batch. */
  readonly rule: 'unknown' | 'fail' | 'resubmit' | 'ask';
  readonly afterMs: number;
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

/** Rows that are sent before all others; `asks`: the batch waits for its user even if all of them succeeded. */
export type Canary = { readonly rows: number; readonly asks: boolean };

export type BatchParams = OptionalLimits & {
  readonly batch: string;
  readonly rows: number;
  readonly lanes: readonly LaneSpec[];
  /** The batch has no queue, so the first places are row numbers. */
  readonly placesAreRows?: true;
  /** The GPUs of rows that name none, the first one first; see ladder.ts. */
  readonly ladder?: readonly string[];
  /** Rows that have succeeded in earlier batches. They have no place and buy nothing. */
  readonly reused?: number;
  /** Rows that could not be read from the sheet. They have ended as refused, have no place and buy nothing. */
  readonly refused?: number;
  /** Maximum runs outstanding at the same time. */
  readonly concurrency: number;
  /** Further attempts for a row whose run failed or timed out. */
  readonly retries: number;
  /** The highest cost of one run by GPU, in nano-dollars; a GPU whose cost has no known bound is missing. */
  readonly attemptCostNano?: Readonly<Record<string, number>>;
  /** A run tells its cost at its end only: `attemptCostNano` holds the most that one has cost so far on each GPU. */
  readonly learnsCost?: true;
  /** The price of a run that its user states although runs tell their cost: no attempt reserves less. */
  readonly leastCostNano?: number;
  readonly canary?: Canary;
  /**
   * The estimate that --max-cost reserves for an attempt instead of the highest cost: the 99th percentile of earlier
   * runs.
   */
  readonly reserve?: 'p99';
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
