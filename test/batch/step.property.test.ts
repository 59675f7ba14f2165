import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mayCarry, pack } from '../../src/batch/carry.ts';
import { rowsDone } from '../../src/batch/tally.ts';
import { stillUncertain } from '../../src/batch/ledger.ts';
import { World, type Fate } from './world.ts';

const fate = fc.constantFrom<Fate>(
  'accepted',
  'accepted',
  'accepted',
  'refused',
  'not-sent',
  'not-processed',
  'lost',
  'dropped',
);

/** What may happen next, in any order, as often as it likes. */
const happening = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('answer' as const),
      index: fc.nat(9),
      fates: fc.array(fate, { minLength: 1, maxLength: 6 }),
      died: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('begin' as const),
      index: fc.nat(9),
      fates: fc.array(fate, { minLength: 1, maxLength: 6 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('finish' as const),
      index: fc.nat(99),
      status: fc.constantFrom('succeeded' as const, 'failed' as const, 'cancelled' as const),
      told: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('repeat' as const), index: fc.nat(99) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('see' as const), index: fc.nat(99) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('list' as const), complete: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('collect' as const), index: fc.nat(9) }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 5_000 }) }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('look' as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('carry' as const) }) },
);
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

function happen(world: World, what: Happening): void {
  const run = 'index' in what ? world.runs[what.index % Math.max(1, world.runs.length)] : undefined;
  switch (what.type) {
    case 'answer':
      return world.answer(what.index, what.fates, what.died);
    case 'begin':
      return world.begin(what.index, what.fates);
    case 'finish':
      return run && world.finish(run.runId, what.status, what.told);
    case 'repeat':
      return run && world.tellEnd(run);
    case 'see':
      return (
        run &&
        world.tell({ type: 'runsSeen', seen: [{ row: run.row, attempt: run.attempt, runId: run.runId }] })
      );
    case 'list':
      return world.list(what.complete ? 'complete' : 'incomplete');
    case 'collect':
      return world.collect(what.index);
    case 'pass':
      return world.pass(what.ms);
    case 'look':
      return world.look();
    case 'carry':
      return world.carry();
  }
}

const order = fc.record({
  rows: fc.integer({ min: 1, max: 60 }),
  cap: fc.integer({ min: 1, max: 40 }),
  retries: fc.integer({ min: 0, max: 3 }),
  seed: fc.nat(),
});

describe('whatever happens in whatever order', () => {
  it('every row ends once, no attempt is posted twice, the cap holds and the ledger adds up', () => {
    fc.assert(
      fc.property(order, fc.array(happening, { maxLength: 120 }), (asked, story) => {
        const world = new World(asked);
        for (const what of story) happen(world, what);
        world.settle();
        expect(world.problems).toEqual([]);
        expect([...world.collected.keys()].sort((a, b) => a - b)).toEqual(
          Array.from({ length: asked.rows }, (_, at) => at + 1),
        );
        expect(rowsDone(world.state.tally)).toBe(asked.rows);
        expect(stillUncertain(world.state.ledger)).toBe(0);
      }),
      { numRuns: 1_500 },
    );
  });

  it('a row that counts as succeeded has a run of its own that succeeded', () => {
    fc.assert(
      fc.property(order, fc.array(happening, { maxLength: 80 }), (asked, story) => {
        const world = new World(asked);
        for (const what of story) happen(world, what);
        world.settle();
        for (const [row, end] of world.collected) {
          const last = end.attempts.at(-1);
          if (last?.outcome !== 'succeeded') continue;
          expect(world.runs).toContainEqual({
            row,
            attempt: last.attempt,
            runId: last.runId,
            status: 'succeeded',
          });
        }
      }),
      { numRuns: 300 },
    );
  });

  it('no more runs are bought for a row than it had ends without success, and one', () => {
    fc.assert(
      fc.property(order, fc.array(happening, { maxLength: 80 }), (asked, story) => {
        const world = new World(asked);
        for (const what of story) happen(world, what);
        world.settle();
        for (let row = 1; row <= asked.rows; row += 1) {
          const bought = world.runs.filter((run) => run.row === row);
          expect(bought.length).toBeLessThanOrEqual(1 + asked.retries);
          expect(bought.filter(({ status }) => status === 'succeeded').length).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('cancelled at any moment, it still ends, and what ran is known', () => {
    fc.assert(
      fc.property(
        order,
        fc.array(happening, { maxLength: 40 }),
        fc.array(happening, { maxLength: 40 }),
        fc.boolean(),
        (asked, before, after, running) => {
          const world = new World(asked);
          for (const what of before) happen(world, what);
          world.tell({ type: 'cancel', running });
          const sent = world.posted.size;
          const inFlight = world.sends.reduce((sum, send) => sum + send.attempts.length, 0);
          for (const what of after) happen(world, what);
          world.settle();
          expect(world.problems).toEqual([]);
          expect(world.posted.size).toBeLessThanOrEqual(sent + inFlight);
          expect(rowsDone(world.state.tally)).toBe(asked.rows);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('the carried state is as small as its weight says', () => {
    fc.assert(
      fc.property(order, fc.array(happening, { maxLength: 80 }), (asked, story) => {
        const world = new World(asked);
        for (const what of story) happen(world, what);
        if (!mayCarry(world.state)) return;
        const entries = Buffer.byteLength(JSON.stringify(pack(world.state).entries));
        expect(entries).toBeLessThanOrEqual(world.state.bytes + 2);
      }),
      { numRuns: 300 },
    );
  });
});
