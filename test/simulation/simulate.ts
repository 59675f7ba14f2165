// Simulates one plan: a world with one or two batches, and the check of its end.

import { SimBatch } from './batch.ts';
import { judge, type Verdict } from './invariants.ts';
import { planOf, shrink, type WorldPlan, type Size } from './plan.ts';
import { SimService, type SimRun } from './service.ts';
import { SimStack } from './stack.ts';
import { World, WrongClock } from './world.ts';

export type Result = Verdict & {
  readonly problems: readonly string[];
  readonly sometimes: ReadonlyMap<string, number>;
  /** The simulated time at the end. */
  readonly tookMs: number;
};

/** Faults stop after two minutes, or are repaired; every batch must finish within this time, even with clocks that were set back. An attempt that nothing shows waits for 25 hours. */
const END_MS = 52 * 3_600_000;

/** `log` receives every step, and `look` sees the batches at the end. */
export async function simulate(
  plan: WorldPlan,
  log?: string[],
  look: (batches: readonly SimBatch[]) => void = () => undefined,
): Promise<Result> {
  const world = new World(plan);
  world.log = log;
  const { batches } = populate(world);
  const verdict: Verdict = { lost: 0, duplicates: 0, unreported: 0, falseSuccesses: 0, foreign: 0 };
  try {
    const isDone = await world.pass(END_MS, () => batches.every(({ isOver }) => isOver));
    look(batches);
    for (const { holder, mark } of batches)
      world.claim(
        isDone,
        () =>
          `batch ${mark} does not finish: ${JSON.stringify(holder.state.phases)} ${[...holder.state.pauses.keys()].join()}`,
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
  const service = new SimService(world, (run, isEnd) => callBack(world, batches, run, isEnd));
  const shared = { world, stacks: stacksOf(world), service, isHostAway: watchHost(world) };
  for (let mark = 0; mark < plan.batches; mark += 1) batches.push(new SimBatch(shared, mark));
  return { batches };
}

function stacksOf(world: World): readonly SimStack[] {
  const { stacks: count = 1, isOneMachine = false, off } = world.plan;
  const clock = new WrongClock(world, 'workerClockStep');
  const stacks = Array.from({ length: count }, (_, number) =>
    number === 0 || isOneMachine
      ? new SimStack(world, number, clock, 'a machine')
      : new SimStack(world, number, new WrongClock(world, 'workerClockStep'), 'another machine'),
  );
  if (off !== undefined) {
    world.after(off.atMs, () => stacks[0]?.switchOff());
    world.after(off.atMs + off.forMs, () => stacks[0]?.switchOn());
  }
  if (count > 1) world.saw('a second stack on the same folder');
  return stacks;
}

/** Whether the host of the files is away, at random times. */
function watchHost(world: World): () => boolean {
  let awayUntil = 0;
  const watch = (): void => {
    if (world.isCalm) return;
    if (world.shouldInject('hostAway'))
      awayUntil = Math.max(awayUntil, world.now + world.between(1_000, 60_000));
    world.after(1_000, watch);
  };
  watch();
  return () => awayUntil > world.now || world.isForever('files away');
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
    world.after(lateMs + hintMs + world.between(1, 30), () => batch.receive(run));
  }
}

/** Explains a failing seed: its problems, and the smallest plan found that still fails. */
export async function explain(seed: number, size: Size): Promise<string> {
  const plan = planOf(seed, size);
  const { problems } = await simulate(plan);
  const least =
    size === 'large'
      ? plan
      : await shrink(plan, async (candidate) => (await simulate(candidate)).problems.length > 0);
  const rates = Object.fromEntries(Object.entries(least.rates).filter(([, rate]) => rate > 0));
  return [
    `${size} seed ${seed}: ${problems.join('; ')}`,
    `smallest plan: ${JSON.stringify({ ...least, rates })}`,
    `its problems: ${(await simulate(least)).problems.join('; ')}`,
  ].join('\n');
}
