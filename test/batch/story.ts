// What may happen to a small world, in any order and as often as it likes.

import fc from 'fast-check';
import type { BatchParams } from '../../src/batch/params.ts';
import type { Fetch } from './folder.ts';
import type { End, PlannedResult, Run } from './service.ts';
import type { World } from './world.ts';

const FATES: readonly PlannedResult[] = [
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
const fates = fc.array(fc.oneof(fc.constant<PlannedResult>('accepted'), fc.constantFrom(...FATES)), {
  minLength: 1,
  maxLength: 6,
});
/** Something that happens; `name` and `given` explain a counterexample. */
type Deed = {
  readonly name: string;
  readonly given: readonly unknown[];
  readonly act: (world: World) => void;
};

const deed = <T extends unknown[]>(
  weight: number,
  name: string,
  given: fc.Arbitrary<T>,
  act: (world: World, ...given: T) => void,
): fc.WeightedArbitrary<Deed> => ({
  weight,
  arbitrary: given.map((some) => ({ name, given: some, act: (world) => act(world, ...some) })),
});

/** Something that happens to one of the runs, if there are any. */
const withRun =
  <T extends unknown[]>(act: (world: World, run: Run, ...given: T) => void) =>
  (world: World, at: number, ...given: T) => {
    const run = world.service.runs[at % Math.max(1, world.service.runs.length)];
    if (run) act(world, run, ...given);
  };

const nothing = fc.constant<[]>([]);
const index = fc.nat(99);

const gentle = [
  deed(6, 'answer', fc.tuple(index, fates, fc.boolean()), (world, ...given) => world.answer(...given)),
  deed(3, 'post', fc.tuple(index, fates), (world, ...given) => world.post(...given)),
  deed(
    6,
    'finish',
    fc.tuple(index, fc.constantFrom(...ENDS), fc.boolean()),
    withRun((world, { runId }, end: End, isReported: boolean) => world.finish(runId, end, isReported)),
  ),
  deed(
    3,
    'call back',
    fc.tuple(index),
    withRun((world, run) => world.callBack(run)),
  ),
  deed(2, 'poll', nothing, (world) => world.poll()),
  deed(
    1,
    'overdue',
    fc.tuple(index),
    withRun((world, run) => world.tell({ type: 'runsOverdue', runs: [{ ...run, reason: 'no progress' }] })),
  ),
  deed(2, 'cancel', fc.tuple(fc.boolean()), (world, isObeyed) => world.cancel(isObeyed)),
  deed(
    4,
    'collect',
    fc.tuple(index, fc.constantFrom(...FETCHES), fc.constantFrom('works', 'works', 'full', 'silent')),
    (world, ...given) => world.collect(...given),
  ),
  deed(1, 'close', fc.tuple(fc.boolean()), (world, isTaken) => world.close(isTaken)),
  deed(3, 'read', fc.tuple(fc.constantFrom('complete', 'incomplete')), (world, answer) => world.read(answer)),
  deed(3, 'pass', fc.tuple(fc.integer({ min: 1, max: 20_000 })), (world, ms) => world.pass(ms)),
  deed(1, 'jump', fc.tuple(fc.integer({ min: -90_000_000, max: 90_000_000 })), (world, ms) => world.jump(ms)),
  deed(1, 'continue as new', nothing, (world) => world.continueAsNew()),
  deed(1, 'unreadable', nothing, (world) =>
    world.tell({ type: 'serviceRead', reason: '401: Revoked token' }),
  ),
  deed(1, 'readable', nothing, (world) => world.tell({ type: 'serviceRead' })),
  deed(1, 'resume', nothing, (world) => world.tell({ type: 'resume', commandId: 'r' })),
];

/** The service starts runs that the batch did not ask for, or denies runs that it started. */
const lies = [
  deed(
    2,
    'duplicate',
    fc.tuple(index),
    withRun((world, run) => world.callBack(world.service.duplicate(run))),
  ),
  deed(2, 'lie', fc.tuple(index, fates), (world, at, some) =>
    world.answer(at, [...some, 'made-and-throttled']),
  ),
  // The user decides while the lists say nothing.
  deed(1, 'decide', fc.tuple(fc.constantFrom('unknown', 'fail', 'resubmit')), (world, rule) =>
    world.tell({ type: 'resume', unconfirmed: rule }),
  ),
  deed(1, 'read nothing', nothing, (world) => world.read('none')),
];

export const story = (most: number): fc.Arbitrary<readonly Deed[]> =>
  fc.array(fc.oneof(...gentle), { maxLength: most });

export const wildStory = (most: number): fc.Arbitrary<readonly Deed[]> =>
  fc.array(fc.oneof(...gentle, ...lies), { maxLength: most });

export function happen(world: World, deeds: readonly Deed[]): void {
  for (const { act } of deeds) act(world);
}

const sizes = {
  rows: fc.integer({ min: 1, max: 60 }),
  concurrency: fc.integer({ min: 1, max: 40 }),
  retries: fc.integer({ min: 0, max: 3 }),
  webhooks: fc.boolean(),
  lists: fc.boolean(),
  seed: fc.nat(),
};
type Given = Partial<BatchParams> & Pick<BatchParams, 'rows' | 'retries'>;

/** Parameters of a batch of some rows, and of one with any rule for attempts that no list resolves. */
export const params: fc.Arbitrary<Given> = fc.record(sizes);
export const wildParams: fc.Arbitrary<Given> = fc.record({
  ...sizes,
  unconfirmed: fc.record({
    rule: fc.constantFrom('unknown', 'fail', 'resubmit', 'ask'),
    afterMs: fc.constant(500),
  }),
});
