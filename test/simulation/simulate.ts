// Simulates one plan: a world with one or two batches, and the check of its end.

import { SimBatch } from './batch.ts';
import { judge, type Verdict } from './invariants.ts';
import { planOf, shrink, type Plan, type Size } from './plan.ts';
import { SimService, type SimRun } from './service.ts';
import { SimTemporal } from './temporal.ts';
import { SimWorker } from './worker.ts';
import { World } from './world.ts';

export type Result = Verdict & {
  readonly problems: readonly string[];
  readonly sometimes: ReadonlyMap<string, number>;
  /** The simulated time at the end. */
  readonly tookMs: number;
};

/** Faults stop after two minutes; every batch must finish within this time, even with clocks that were set back. */
const END_MS = 16 * 3_600_000;

/** `log` receives every step. */
export async function simulate(plan: Plan, log?: string[]): Promise<Result> {
  const world = new World(plan);
  world.log = log;
  const { batches } = populate(world);
  const verdict: Verdict = { lost: 0, duplicates: 0, unreported: 0, falseSuccesses: 0, foreign: 0 };
  try {
    const isDone = await world.pass(END_MS, () => batches.every(({ isOver }) => isOver));
    for (const { state, mark } of batches)
      world.claim(
        isDone && state.finished,
        () =>
          `batch ${mark} does not finish: ${JSON.stringify(state.phases)} ${[...state.pauses.keys()].join()}`,
      );
    if (world.problems.length === 0) {
      // Webhooks that are still being delivered arrive.
      await world.pass(END_MS + 120_000, () => false);
      for (const batch of batches) judge(world, batch, verdict);
    }
  } catch (error) {
    world.claim(false, () => (error as Error).stack ?? String(error));
  }
  return { ...verdict, problems: world.problems, sometimes: world.sometimes, tookMs: world.now };
}

function populate(world: World): { readonly batches: readonly SimBatch[] } {
  const { plan } = world;
  const batches: SimBatch[] = [];
  const temporal = new SimTemporal(world);
  const service = new SimService(world, (run, isEnd) => callBack(world, batches, run, isEnd));
  const workers: SimWorker[] = [];
  const startWorker = (at: number): void => {
    workers[at] = new SimWorker(world, () => {
      world.saw('worker lost');
      startWorker(at);
    });
  };
  for (let at = 0; at < plan.workers; at += 1) startWorker(at);
  let awayUntil = 0;
  const watchHost = (): void => {
    if (world.isCalm) return;
    if (world.shouldInject('hostAway'))
      awayUntil = Math.max(awayUntil, world.now + world.between(1_000, 60_000));
    world.after(1_000, watchHost);
  };
  watchHost();
  const shared = {
    world,
    temporal,
    service,
    pickWorker: () => world.pick(workers),
    isHostAway: () => awayUntil > world.now,
  };
  for (let mark = 0; mark < plan.batches; mark += 1) batches.push(new SimBatch(shared, mark));
  return { batches };
}

/** Delivers a webhook: once, twice, late, or never. */
function callBack(world: World, batches: readonly SimBatch[], run: SimRun, isEnd: boolean): void {
  const batch = run.mark === undefined ? undefined : batches[run.mark];
  if (batch === undefined || !world.plan.webhooks || world.shouldInject('lostWebhook')) return;
  const times = world.shouldInject('repeatedWebhook') ? 2 : 1;
  for (let time = 0; time < times; time += 1) {
    const lateMs = world.shouldInject('lateWebhook') ? world.between(1_000, 30_000) : 0;
    // The webhook of a start is often slower than a short run.
    const hintMs = isEnd ? 0 : world.between(0, 5_000);
    world.after(lateMs + hintMs + world.between(1, 30), () => batch.receiver.receive(run));
  }
}

/** Explains a failing seed: its problems, and the smallest plan found that still fails. */
export async function explain(seed: number, size: Size): Promise<string> {
  const plan = planOf(seed, size);
  const { problems } = await simulate(plan);
  const least =
    size === 'large' ? plan : await shrink(plan, async (one) => (await simulate(one)).problems.length > 0);
  const rates = Object.fromEntries(Object.entries(least.rates).filter(([, rate]) => rate > 0));
  return [
    `${size} seed ${seed}: ${problems.join('; ')}`,
    `smallest plan: ${JSON.stringify({ ...least, rates })}`,
    `its problems: ${(await simulate(least)).problems.join('; ')}`,
  ].join('\n');
}
