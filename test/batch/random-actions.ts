// Generates random sequences of actions on a simulated world, for the property tests.

import fc from 'fast-check';
import type { BatchParams } from '../../src/batch/params.ts';
import type { Fetch } from './folder.ts';
import type { End, PlannedResult, Run } from './service.ts';
import type { World } from './world.ts';

const PLANNED: readonly PlannedResult[] = [
  'accepted',
  'rejected',
  'not-sent',
  'throttled',
  'blocked',
  'lost',
  'dropped',
];
const ENDS: readonly End[] = ['succeeded', 'failed', 'timed-out', 'cancelled'];
const FETCHES: readonly Fetch[] = ['fetched', 'fetched', 'host', 'file'];

/** Half of all POSTs are accepted. */
const planned = fc.array(fc.oneof(fc.constant<PlannedResult>('accepted'), fc.constantFrom(...PLANNED)), {
  minLength: 1,
  maxLength: 6,
});
/** One action; `name` and `given` describe it in a counterexample. */
type Action = {
  readonly name: string;
  readonly given: readonly unknown[];
  readonly act: (world: World) => void;
};

const action = <T extends unknown[]>(
  weight: number,
  name: string,
  given: fc.Arbitrary<T>,
  act: (world: World, ...given: T) => void,
): fc.WeightedArbitrary<Action> => ({
  weight,
  arbitrary: given.map((some) => ({ name, given: some, act: (world) => act(world, ...some) })),
});

/** An action on one of the runs, if there are any. */
const withRun =
  <T extends unknown[]>(act: (world: World, run: Run, ...given: T) => void) =>
  (world: World, at: number, ...given: T) => {
    const run = world.service.runs[at % Math.max(1, world.service.runs.length)];
    if (run) act(world, run, ...given);
  };

/** Enough for none to all attempts of a small batch. */
const limit = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constant('none' as const));

const nothing = fc.constant<[]>([]);
const index = fc.nat(99);

const normal = [
  action(6, 'answer', fc.tuple(index, planned, fc.boolean()), (world, ...given) => world.answer(...given)),
  action(3, 'post', fc.tuple(index, planned), (world, ...given) => world.post(...given)),
  action(
    6,
    'finish',
    fc.tuple(index, fc.constantFrom(...ENDS), fc.boolean()),
    withRun((world, { runId }, end: End, isReported: boolean) => world.finish(runId, end, isReported)),
  ),
  action(
    3,
    'call back',
    fc.tuple(index),
    withRun((world, run) => world.callBack(run)),
  ),
  action(2, 'poll', nothing, (world) => world.poll()),
  action(
    1,
    'overdue',
    fc.tuple(index),
    withRun((world, run) => world.apply({ type: 'runsOverdue', runs: [{ ...run, reason: 'no progress' }] })),
  ),
  action(2, 'cancel', fc.tuple(fc.boolean()), (world, isObeyed) => world.cancel(isObeyed)),
  action(
    4,
    'collect',
    fc.tuple(index, fc.constantFrom(...FETCHES), fc.constantFrom('works', 'works', 'full', 'silent')),
    (world, ...given) => world.collect(...given),
  ),
  action(1, 'close', fc.tuple(fc.boolean()), (world, isTaken) => world.close(isTaken)),
  action(3, 'read', fc.tuple(fc.constantFrom('complete', 'incomplete')), (world, answer) =>
    world.read(answer),
  ),
  action(3, 'pass', fc.tuple(fc.integer({ min: 1, max: 20_000 })), (world, ms) => world.pass(ms)),
  action(1, 'jump', fc.tuple(fc.integer({ min: -90_000_000, max: 90_000_000 })), (world, ms) =>
    world.jump(ms),
  ),
  action(1, 'continue as new', nothing, (world) => world.continueAsNew()),
  action(1, 'unreadable', nothing, (world) =>
    world.apply({ type: 'serviceRead', reason: '401: Revoked token' }),
  ),
  action(1, 'readable', nothing, (world) => world.apply({ type: 'serviceRead' })),
  action(1, 'resume', nothing, (world) => world.apply({ type: 'resume', commandId: 'r' })),
  action(1, 'limit the cost', fc.tuple(limit), (world, maxCostNano) =>
    world.apply({ type: 'scale', limits: { maxCostNano } }),
  ),
];

/** Faults: the service starts extra runs, or hides runs that it started. */
const faults = [
  action(
    2,
    'duplicate',
    fc.tuple(index),
    withRun((world, run) => world.callBack(world.service.duplicate(run))),
  ),
  action(2, 'hidden run', fc.tuple(index, planned), (world, at, some) =>
    world.answer(at, [...some, 'made-and-throttled']),
  ),
  // The user decides while no list resolves the attempts.
  action(1, 'decide', fc.tuple(fc.constantFrom('unknown', 'fail', 'resubmit')), (world, rule) =>
    world.apply({ type: 'resume', unconfirmed: rule }),
  ),
  action(1, 'read nothing', nothing, (world) => world.read('none')),
];

export const randomActions = (most: number): fc.Arbitrary<readonly Action[]> =>
  fc.array(fc.oneof(...normal), { maxLength: most });

export const faultyActions = (most: number): fc.Arbitrary<readonly Action[]> =>
  fc.array(fc.oneof(...normal, ...faults), { maxLength: most });

export function perform(world: World, actions: readonly Action[]): void {
  for (const { act } of actions) act(world);
}

const sizes = {
  rows: fc.integer({ min: 1, max: 60 }),
  concurrency: fc.integer({ min: 1, max: 40 }),
  retries: fc.integer({ min: 0, max: 3 }),
  webhooks: fc.boolean(),
  lists: fc.boolean(),
  seed: fc.nat(),
  attemptCostNano: fc.constant({ '': 2 }),
  /** Beyond 8, the concurrency is fixed. */
  adaptive: fc.integer({ min: 1, max: 16 }),
};
type Given = Partial<BatchParams> & Pick<BatchParams, 'rows' | 'retries'>;

const withAdaptive = <T extends { readonly adaptive: number }>({ adaptive, ...others }: T) => ({
  ...others,
  ...(adaptive > 8 ? {} : { adaptive }),
});

/** Parameters of a small batch; `anyParams` also vary the rule for unconfirmed attempts. */
export const params: fc.Arbitrary<Given> = fc.record(sizes).map(withAdaptive);
export const anyParams: fc.Arbitrary<Given> = fc
  .record({
    ...sizes,
    unconfirmed: fc.record({
      rule: fc.constantFrom('unknown', 'fail', 'resubmit', 'ask'),
      afterMs: fc.constant(500),
    }),
  })
  .map(withAdaptive);
