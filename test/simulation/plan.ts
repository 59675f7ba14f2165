// Derives the plan of a simulated world from a seed: its batches and the rate of each fault. A plan is plain data, so
// that a failing one can be shrunk to fewer faults and rows while it still fails.

import { budgetOf, type Budget } from './budget.ts';
import { freedomsOf, type Freedoms } from './freedoms.ts';
import { ladderOf, type Ladder } from './ladder.ts';
import { poolOf, type PoolPlan } from './pool.ts';
import { DEFAULT_TIMING, type BatchParams, type LaneSpec, type Timing } from '../../src/batch/params.ts';
import { numbersFrom } from '../../src/run-service/chance.ts';

/** Maximum rates from 0 to 1: per POST, webhook, call, signal, activity, or second. */
const MOST = {
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
  /** The share of turned away or rejected requests for which the service makes a run anyway. */
  refusedAlthoughMade: 0.3,
  twin: 0.1,
  failedRun: 0.3,
  timedOutRun: 0.1,
  stuckRun: 0.05,
  vanishedWorker: 0.1,
  frozenWorker: 0.1,
  cutWorker: 0.1,
  workerClockStep: 0.02,
  temporalClockStep: 0.01,
  serviceClockStep: 0.02,
  lostWebhook: 0.5,
  repeatedWebhook: 0.3,
  lateWebhook: 0.3,
  repeatedSignal: 0.2,
  lateSignal: 0.2,
  brokenList: 0.1,
  brokenRead: 0.3,
  lyingRead: 0.1,
  lostActivity: 0.2,
  actsAfterAbandoned: 0.2,
  fullDisk: 0.1,
  lostWrite: 0.1,
  hostAway: 0.02,
  /** A file host sends a few bytes a second. */
  slowHost: 0.05,
  readsAway: 0.02,
  badFile: 0.05,
  temporalOutage: 0.02,
  continueAsNew: 0.1,
  upgrade: 0.05,
  /** A worker takes a workflow task late, takes long for it, or is lost with it. */
  lateTask: 0.1,
  slowTask: 0.2,
  lostTask: 0.02,
  /** A report to the pool takes long. */
  slowReport: 0.3,
  /** A sheet that is watched no longer asks for the row. */
  leftOut: 0.02,
} as const;

export type PlannedFault = keyof typeof MOST;
type Rates = Readonly<Record<PlannedFault, number>>;
export const FAULTS = Object.keys(MOST) as PlannedFault[];

export type WorldPlan = {
  readonly seed: number;
  readonly rows: number;
  readonly concurrency: number;
  readonly retries: number;
  readonly webhooks: boolean;
  readonly lists: boolean;
  /** Whether to use the default timing, or the timing of a service that responds immediately. */
  readonly patient: boolean;
  /** How many batches of the same content run; only their birth marks distinguish them. */
  readonly batches: number;
  readonly workers: number;
  /** How many parts may be fetched at a time, of all batches. */
  readonly fileSlots?: number;
  /** The maximum number of runs per page. */
  readonly pageRuns: number;
  readonly strangers: number;
  /** When the user cancels, in ms after the start. */
  readonly cancelAtMs?: number;
  readonly cancelsRunning: boolean;
  /** Pauses, which a user ends again, and changes of the limits. */
  readonly commands: readonly {
    readonly atMs: number;
    readonly concurrency?: number;
    readonly adaptive?: true;
    readonly startsPerMinute?: number;
    /** How long after the command the batch is to stop sending. */
    readonly deadlineMs?: number;
    readonly maxCostNano?: number;
    readonly notify?: readonly string[];
  }[];
  readonly notify?: readonly string[];
  /** Finds the useful concurrency, from this start. */
  readonly adaptive?: number;
  readonly gpuConcurrency?: Readonly<Record<string, number>>;
  /** When the user sends rows again. */
  readonly retriesAtMs: readonly number[];
  /** How long after each of its next ends. */
  readonly retriesAfterEndMs?: readonly number[];
  readonly failAfter?: { readonly rows: number } | { readonly share: number };
  readonly reserve?: 'p99';
  readonly canary?: { readonly rows: number; readonly asks: boolean };
  readonly unconfirmed: 'unknown' | 'fail' | 'resubmit' | 'ask';
  readonly rates: Rates;
} & Partial<Budget> &
  Partial<Ladder> &
  Partial<PoolPlan> &
  Freedoms;

/** The timing of a service that responds immediately. */
const QUICK: Timing = {
  ...DEFAULT_TIMING,
  postDeadlineMs: 10_000,
  listGapMs: 1_000,
  settleMs: 500,
  settleWithoutControlMs: 3_000,
  pollIntervalMs: 250,
};

export const timingOf = ({ patient }: Pick<WorldPlan, 'patient'>): Timing =>
  patient ? DEFAULT_TIMING : QUICK;

export function paramsOf(plan: WorldPlan, mark: number): BatchParams {
  const unconfirmed = { rule: plan.unconfirmed, afterMs: plan.patient ? 3_600_000 : 20_000 };
  const lanes = withCanary(plan.lanes ?? [{ places: plan.rows }], plan.canary?.rows ?? 0);
  return { ...plan, batch: `b${mark}`, unconfirmed, timing: timingOf(plan), pass: 1, lanes };
}

/** The canary begins with the first lane, so that small ones leave lanes without such rows. */
function withCanary(lanes: readonly LaneSpec[], rows: number): readonly LaneSpec[] {
  let left = rows;
  return lanes.map((lane) => {
    const canary = Math.min(left, lane.places);
    left -= canary;
    return canary === 0 ? lane : { ...lane, canary };
  });
}

/** When faults stop, in ms after the start. */
export const CALM_AFTER_MS = 120_000;

/** `budget` is `small`, with a limit of the cost in each world that no estimate loosens. */
export type Size = 'small' | 'large' | 'budget';

export function planOf(seed: number, size: Size = 'small'): WorldPlan {
  const draw = numbersFrom(seed);
  for (let skip = 0; skip < 8; skip += 1) draw();
  const between = (least: number, most: number): number => least + Math.floor(draw() * (most - least + 1));
  const isLarge = size === 'large';
  const rows = isLarge ? between(2_000, 20_000) : between(20, 60);
  // Each world has only about half of the faults, so that every combination occurs.
  const share = isLarge ? 0.2 : 1;
  const rates = Object.fromEntries(
    FAULTS.map((fault) => [fault, draw() < 0.5 ? 0 : draw() * MOST[fault] * share]),
  ) as Rates;
  const cancels = draw() < 0.1;
  const webhooks = draw() < 0.7;
  const lists = draw() < 0.85;
  const plan: WorldPlan = {
    seed,
    rows,
    concurrency: isLarge ? between(200, 3_000) : between(1, 20),
    retries: between(0, 3),
    webhooks,
    lists,
    patient: draw() < 0.3,
    batches: draw() < 0.2 ? 2 : 1,
    workers: between(1, 3),
    pageRuns: isLarge ? between(100, 500) : between(3, 60),
    strangers: draw() < 0.5 ? 0 : between(1, isLarge ? 300 : 30),
    ...(cancels ? { cancelAtMs: between(0, 60_000) } : {}),
    cancelsRunning: draw() < 0.5,
    commands: commandsOf(draw, isLarge ? 3_000 : 20),
    ...failAfterOf(draw, rows),
    unconfirmed: (['unknown', 'unknown', 'fail', 'resubmit', 'ask'] as const)[between(0, 4)] ?? 'unknown',
    rates,
    retriesAtMs: [],
  };
  const budget = withBudget(plan, draw, size === 'budget');
  const cap = between(1, plan.concurrency);
  const caps = budget.lanes === undefined || isLarge || draw() < 0.5 ? {} : { gpuConcurrency: { H100: cap } };
  const retriesAtMs =
    draw() < 0.6 ? [] : Array.from({ length: between(1, 3) }, () => between(1_000, 400_000));
  const canaryRows = between(1, 10);
  const canary = draw() < 0.75 ? {} : { canary: { rows: canaryRows, asks: draw() < 0.3 } };
  const ladder = isLarge ? {} : ladderOf(draw, { ...plan, ...budget });
  const isEstimate = budget.maxCostNano !== undefined && draw() < 0.5 && size !== 'budget';
  const reserve = isEstimate ? { reserve: 'p99' as const } : {};
  const pool = isLarge ? {} : poolOf(plan);
  const whole = { ...plan, ...budget, ...caps, retriesAtMs, ...canary, ...ladder, ...reserve, ...pool };
  const drawn = withFileSlots(withNotify(withAuto(whole, draw), draw), draw, isLarge);
  return { ...drawn, ...freedomsOf(drawn, isLarge) };
}

/** Drawn last: whether the batch finds its concurrency, and whether a change of it does. */
function withAuto(plan: WorldPlan, draw: () => number): WorldPlan {
  const adaptive =
    draw() < 0.3 && plan.ladder === undefined ? { adaptive: 1 + Math.floor(draw() * plan.concurrency) } : {};
  const commands = plan.commands.map((command) =>
    command.concurrency !== undefined && draw() < 0.3 ? { ...command, adaptive: true as const } : command,
  );
  return { ...plan, ...adaptive, commands };
}

/** Drawn last: how many parts may be fetched at a time. */
const withFileSlots = (plan: WorldPlan, draw: () => number, isLarge: boolean): WorldPlan =>
  isLarge || draw() < 0.6 ? plan : { ...plan, fileSlots: 1 + Math.floor(draw() * 3) };

/** Drawn before that: who is notified, from the beginning or from a change of the limits on, and retries after the end. */
function withNotify(plan: WorldPlan, draw: () => number): WorldPlan {
  const targets = (): readonly string[] => (draw() < 0.5 ? ['slack:a'] : ['slack:a', 'slack:b']);
  const notify = draw() < 0.4 ? { notify: targets() } : {};
  const commands = plan.commands.map((command) =>
    command.concurrency !== undefined && draw() < 0.3 ? { ...command, notify: targets() } : command,
  );
  const delayMs = (): number => Math.floor(draw() * (draw() < 0.7 ? 50 : 20_000));
  const retriesAfterEndMs = Array.from({ length: Math.floor(draw() * 3) }, delayMs);
  const retries = draw() < 0.7 ? {} : { retriesAfterEndMs };
  return { ...plan, ...notify, commands, ...retries };
}

/** Drawn last, so that the other parts of a world do not depend on it. */
function withBudget(
  { rows, concurrency, commands }: WorldPlan,
  draw: () => number,
  always: boolean,
): Partial<WorldPlan> {
  const budget = budgetOf(draw, rows, always);
  const { maxCostNano } = budget;
  if (maxCostNano === undefined || draw() < 0.7) return budget;
  const atMs = Math.floor(draw() * 60_000);
  const change = { atMs, concurrency, maxCostNano: Math.round(maxCostNano * (0.2 + 2 * draw())) };
  return { ...budget, commands: [...commands, change] };
}

function commandsOf(draw: () => number, most: number): WorldPlan['commands'] {
  const count = draw() < 0.5 ? 0 : 1 + Math.floor(draw() * 4);
  return Array.from({ length: count }, () => {
    const atMs = Math.floor(draw() * 60_000);
    if (draw() < 0.4) return { atMs };
    const concurrency = 1 + Math.floor(draw() * most);
    // Fast enough for the rows of a world.
    const startsPerMinute = 60 * (1 + Math.floor(draw() * most * 10));
    const deadlineMs = Math.floor(draw() * (draw() < 0.5 ? 60_000 : 24 * 3_600_000));
    return {
      atMs,
      concurrency,
      ...(draw() < 0.3 ? { startsPerMinute } : {}),
      ...(draw() < 0.2 ? { deadlineMs } : {}),
    };
  });
}

function failAfterOf(draw: () => number, rows: number): Pick<WorldPlan, 'failAfter'> {
  const share = 0.01 + draw() * 0.5;
  if (draw() < 0.7) return {};
  return { failAfter: draw() < 0.5 ? { share } : { rows: Math.ceil(share * rows) } };
}

/** Optional parts of a plan, alone or together; each group can be left out. */
const OPTIONAL: readonly (readonly (keyof WorldPlan)[])[] = [
  ['cancelAtMs'],
  ['retriesAfterEndMs'],
  ['notify'],
  ['reserve'],
  ['canary'],
  ['maxCostNano', 'lanes', 'attemptCostNano'],
  ['lanes', 'ladder', 'needs'],
  ['fileSlots'],
  ['pool', 'poolSize', 'poolTrouble'],
  ['adaptive'],
  ['off'],
  ['rebuilds'],
  ['version'],
  ['olderWorkers'],
  ['forever'],
  ['retentionMs'],
  ['obeys'],
];

/** Finds a smaller plan that still fails: removes faults one by one, then what else it has, then rows. */
export async function shrink(
  plan: WorldPlan,
  fails: (plan: WorldPlan) => Promise<boolean>,
): Promise<WorldPlan> {
  let least = plan;
  const tryOne = async (smaller: WorldPlan): Promise<void> => {
    if (await fails(smaller)) least = smaller;
  };
  for (const fault of FAULTS)
    if (least.rates[fault] > 0) await tryOne({ ...least, rates: { ...least.rates, [fault]: 0 } });
  if (least.commands.length > 0) await tryOne({ ...least, commands: [] });
  if (least.retriesAtMs.length > 0) await tryOne({ ...least, retriesAtMs: [] });
  for (const names of OPTIONAL)
    if (names.some((name) => least[name] !== undefined)) await tryOne(without(least, names));
  if (least.batches > 1) await tryOne({ ...least, batches: 1 });
  // At least one worker understands the batch.
  const workers = 1 + (least.olderWorkers ?? 0);
  if (least.workers > workers) await tryOne({ ...least, workers });
  if (least.strangers > 0) await tryOne({ ...least, strangers: 0 });
  for (const rebuild of least.rebuilds ?? [])
    await tryOne({ ...least, rebuilds: (least.rebuilds ?? []).filter((candidate) => candidate !== rebuild) });
  for (let rows = Math.floor(least.rows / 2); rows > 0; rows = Math.floor(rows / 2))
    if (least.lanes === undefined) await tryOne({ ...least, rows });
  for (const concurrency of [1, 2, 4])
    if (concurrency < least.concurrency) await tryOne({ ...least, concurrency });
  return least;
}

const without = (plan: WorldPlan, names: readonly (keyof WorldPlan)[]): WorldPlan =>
  Object.fromEntries(
    Object.entries(plan).filter(([name]) => !names.includes(name as keyof WorldPlan)),
  ) as unknown as WorldPlan;
