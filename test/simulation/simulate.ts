// One seed: a world, a batch in it, and what must hold at its end.

import { SimBatch } from './batch.ts';
import { judge, type Verdict } from './invariants.ts';
import { planOf, shrink, type Plan } from './plan.ts';
import { World } from './world.ts';

export type Result = Verdict & {
  readonly problems: readonly string[];
  readonly sometimes: ReadonlyMap<string, number>;
  /** The end of the world, in ms after its start. */
  readonly tookMs: number;
};

/** Faults end after two minutes; whatever is left then needs no longer than this (I10). */
const LIVES_MS = 6 * 3_600_000;

export function simulate(plan: Plan): Result {
  const world = new World(plan);
  const batch = new SimBatch(world);
  let verdict: Verdict = { lost: 0, duplicates: 0, unreported: 0, falseSuccesses: 0 };
  try {
    const isDone = world.pass(LIVES_MS, () => batch.state.finished);
    world.claim(
      isDone && batch.state.finished,
      () => `the batch never ends: ${JSON.stringify(batch.state.phases)}`,
    );
    if (world.problems.length === 0) verdict = judge(world, batch);
  } catch (error) {
    world.claim(false, () => String(error));
  }
  return { ...verdict, problems: world.problems, sometimes: world.sometimes, tookMs: world.now };
}

/** What a failing seed says: its problems, and the smallest plan found that still fails. */
export function explain(seed: number): string {
  const plan = planOf(seed);
  const { problems } = simulate(plan);
  const least = shrink(plan, (one) => simulate(one).problems.length > 0);
  const rates = Object.fromEntries(Object.entries(least.rates).filter(([, rate]) => rate > 0));
  return [
    `seed ${seed}: ${problems.join('; ')}`,
    `smallest plan: ${JSON.stringify({ ...least, rates })}`,
    `which says: ${simulate(least).problems.join('; ')}`,
  ].join('\n');
}
