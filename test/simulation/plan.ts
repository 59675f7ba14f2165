// What one seed stands for: the batch, and how often each thing goes wrong in its world. A plan is data, so that a failing
// one can be shrunk: a fault less, a row less, as long as it still fails.

import { DEFAULT_TIMING, type Timing } from '../../src/batch/order.ts';
import { numbersFrom } from '../../src/local-service/chance.ts';

/** Rates from 0 to 1, by POST, webhook, call, or second of a worker's life. */
export type Rates = {
  readonly unreachable: number;
  readonly lostRequest: number;
  readonly lostAnswer: number;
  readonly lateRun: number;
  readonly errorBefore: number;
  readonly errorAfter: number;
  readonly garbage: number;
  readonly workerError: number;
  readonly busy: number;
  readonly unauthorized: number;
  readonly poison: number;
  readonly failedRun: number;
  readonly timedOutRun: number;
  readonly stuckRun: number;
  readonly vanishedWorker: number;
  readonly frozenWorker: number;
  readonly cutWorker: number;
  readonly lostWebhook: number;
  readonly repeatedWebhook: number;
  readonly lateWebhook: number;
  readonly brokenList: number;
  readonly brokenRead: number;
  readonly lostActivity: number;
  readonly fullDisk: number;
  readonly twin: number;
  readonly temporalOutage: number;
  readonly continueAsNew: number;
};
export type Fault = keyof Rates;

export type Plan = {
  readonly seed: number;
  readonly rows: number;
  readonly cap: number;
  readonly retries: number;
  readonly webhooks: boolean;
  readonly lists: boolean;
  /** Whether waits are those of a service that says nothing, or of one that answers at once. */
  readonly patient: boolean;
  /** When the user cancels, in ms after the start; undefined where not. */
  readonly cancelAtMs?: number;
  readonly cancelsRunning: boolean;
  readonly uncertain: 'unknown' | 'fail' | 'resubmit' | 'ask';
  readonly rates: Rates;
};

/** A service that answers at once, and says so. */
const QUICK: Timing = {
  ...DEFAULT_TIMING,
  postDeadlineMs: 10_000,
  listGapMs: 1_000,
  settleMs: 500,
  settleWithoutControlMs: 3_000,
  skewMs: 0,
  pollIntervalMs: 250,
};

export const timingOf = ({ patient }: Plan): Timing => (patient ? DEFAULT_TIMING : QUICK);

/** Faults end here, in ms after the start. */
export const CALM_AFTER_MS = 120_000;

const MOST: Rates = {
  unreachable: 0.2,
  lostRequest: 0.2,
  lostAnswer: 0.2,
  lateRun: 0.1,
  errorBefore: 0.1,
  errorAfter: 0.1,
  garbage: 0.1,
  workerError: 0.05,
  busy: 0.3,
  unauthorized: 0.02,
  poison: 0.1,
  failedRun: 0.3,
  timedOutRun: 0.1,
  stuckRun: 0.05,
  vanishedWorker: 0.2,
  frozenWorker: 0.1,
  cutWorker: 0.1,
  lostWebhook: 0.5,
  repeatedWebhook: 0.3,
  lateWebhook: 0.3,
  brokenList: 0.5,
  brokenRead: 0.3,
  lostActivity: 0.3,
  fullDisk: 0.1,
  twin: 0.1,
  temporalOutage: 0.05,
  continueAsNew: 0.1,
};

export const FAULTS = Object.keys(MOST) as Fault[];

export function planOf(seed: number): Plan {
  const draw = numbersFrom(seed);
  for (let skip = 0; skip < 8; skip += 1) draw();
  const between = (least: number, most: number): number => least + Math.floor(draw() * (most - least + 1));
  const rows = between(30, 60);
  // Half of the faults are absent from a world, so that each also meets the others alone.
  const rates = Object.fromEntries(
    FAULTS.map((fault) => [fault, draw() < 0.5 ? 0 : draw() * MOST[fault]]),
  ) as Rates;
  const cancels = draw() < 0.1;
  return {
    seed,
    rows,
    cap: between(1, 20),
    retries: between(0, 3),
    webhooks: draw() < 0.7,
    lists: draw() < 0.85,
    patient: draw() < 0.3,
    ...(cancels ? { cancelAtMs: between(0, 60_000) } : {}),
    cancelsRunning: draw() < 0.5,
    uncertain: (['unknown', 'unknown', 'fail', 'resubmit', 'ask'] as const)[between(0, 4)] ?? 'unknown',
    rates,
  };
}

/** A smaller plan that still fails: faults are taken away one by one, then rows. */
export function shrink(plan: Plan, fails: (plan: Plan) => boolean): Plan {
  let least = plan;
  const tryOne = (smaller: Plan): void => {
    if (fails(smaller)) least = smaller;
  };
  for (const fault of FAULTS)
    if (least.rates[fault] > 0) tryOne({ ...least, rates: { ...least.rates, [fault]: 0 } });
  const { cancelAtMs: _, ...uncancelled } = least;
  if (least.cancelAtMs !== undefined) tryOne(uncancelled);
  for (let rows = Math.floor(least.rows / 2); rows > 0; rows = Math.floor(rows / 2))
    tryOne({ ...least, rows });
  for (const cap of [1, 2, 4]) if (cap < least.cap) tryOne({ ...least, cap });
  return least;
}
