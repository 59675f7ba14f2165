import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chargeOf, limitOf } from '../../../src/batch/pool/pool-state.ts';
import { usedSlots } from '../../../src/batch/state/state.ts';
import { PoolWorld, type PoolBatch } from './pool-world.ts';

const index = fc.nat(50);
const action = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('deliver' as const), index, again: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('lose' as const), index }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('join' as const),
      rows: fc.integer({ min: 1, max: 30 }),
      concurrency: fc.integer({ min: 1, max: 12 }),
      weight: fc.integer({ min: 1, max: 5 }),
      urgency: fc.nat(2),
    }),
  },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('post' as const), index, dies: fc.boolean() }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('end' as const), index }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('collect' as const), index }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 70_000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const), index }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rebuild' as const), index }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('continueBatch' as const), index }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('continuePool' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('resize' as const), size: fc.nat(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('scale' as const),
      index,
      weight: fc.integer({ min: 1, max: 5 }),
    }),
  },
);
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

const RUNS = Number(process.env['POOL_RUNS'] ?? 120);

function endOne(world: PoolBatch['world'], at: number): void {
  const open = world.service.runs.filter(({ status }) => status === 'open');
  const run = open[at % Math.max(1, open.length)];
  if (run) world.finish(run.runId, 'succeeded');
}

function carryOut(pool: PoolWorld, step: Action): void {
  const pick = (at: number, work: (batch: PoolBatch) => void): void => {
    const batch = pool.batches[at % Math.max(1, pool.batches.length)];
    if (batch) work(batch);
  };
  switch (step.kind) {
    case 'deliver':
      return pool.deliver(step.index, step.again);
    case 'lose':
      return pool.lose(step.index);
    case 'join':
      return void pool.add({
        rows: step.rows,
        lanes: [{ places: step.rows }],
        concurrency: step.concurrency,
        weight: step.weight,
        urgency: step.urgency,
      });
    case 'post':
      return pick(step.index, (batch) =>
        pool.act(batch, (world) => world.answer(0, ['accepted'], step.dies)),
      );
    case 'end':
      return pick(step.index, (batch) => pool.act(batch, (world) => endOne(world, step.index)));
    case 'collect':
      return pick(step.index, (batch) =>
        pool.act(batch, (world) => {
          world.collect();
          world.read();
          world.close();
        }),
      );
    case 'pass':
      return pool.pass(step.ms);
    case 'kill':
      return pick(step.index, (batch) => void (batch.isDead = true));
    case 'rebuild':
      return pick(step.index, (batch) => pool.rebuild(batch));
    case 'continueBatch':
      return pick(step.index, (batch) => pool.act(batch, (world) => world.continueAsNew()));
    case 'continuePool':
      return pool.continuePool();
    case 'resize':
      return pool.resize(step.size);
    case 'scale':
      return pick(step.index, (batch) =>
        pool.act(batch, (world) => world.apply({ type: 'scale', limits: { weight: step.weight } })),
      );
  }
}

describe('a pool and its batches', () => {
  it('never grants a slot twice, whatever is delayed, repeated, lost, killed, rebuilt or resized', () => {
    const usedAtOnce: number[] = [];
    fc.assert(
      fc.property(fc.array(action, { minLength: 20, maxLength: 150 }), (actions) => {
        const pool = new PoolWorld(12);
        let most = 12;
        for (const step of actions) {
          if (step.kind === 'resize') most = Math.max(most, step.size);
          carryOut(pool, step);
          const used = pool.batches.reduce((sum, { world }) => sum + usedSlots(world.state), 0);
          usedAtOnce.push(used);
          expect(used).toBeLessThanOrEqual(most);
        }
        expect(pool.problems).toEqual([]);
      }),
      { numRuns: RUNS },
    );
    // The worlds are not idle.
    expect(Math.max(...usedAtOnce)).toBeGreaterThanOrEqual(12);
  });

  it('uses every slot that a member wants, once all messages have arrived', () => {
    fc.assert(
      fc.property(fc.array(action, { minLength: 20, maxLength: 100 }), (actions) => {
        const pool = new PoolWorld(12);
        for (const step of actions) if (step.kind !== 'kill') carryOut(pool, step);
        pool.settle();
        const { members, size } = pool.state;
        const wanted = members.reduce((sum, poolMember) => sum + poolMember.wanted, 0);
        const charged = members.reduce((sum, poolMember) => sum + chargeOf(poolMember), 0);
        const usable = members.reduce(
          (sum, poolMember) =>
            sum + Math.max(poolMember.used, Math.min(limitOf(poolMember), poolMember.wanted)),
          0,
        );
        expect(usable).toBeGreaterThanOrEqual(Math.min(size, wanted));
        expect(charged).toBeLessThanOrEqual(
          Math.max(
            size,
            members.reduce((sum, { used }) => sum + used, 0),
          ),
        );
        expect(pool.problems).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });
});
