import { describe, expect, it } from 'vitest';
import { hasPassed } from '../../../src/batch/canary.ts';
import { NO_TALLY, tallyOutcome } from '../../../src/batch/accounting/tally.ts';
import { newLane, type Segment } from '../../../src/batch/state/lanes.ts';
import type { BatchParams } from '../../../src/batch/params.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { World } from '../world.ts';

const kinds = ({ state }: World): readonly string[] => [...state.pauses.keys()];

/** Five of 20 rows first, unless given otherwise. */
const canary = (params: Partial<BatchParams> = {}): World =>
  new World({
    rows: 20,
    concurrency: 8,
    retries: 0,
    lanes: [{ places: 20, canary: 5 }],
    canary: { rows: 5, asks: false },
    ...params,
  });

function start(world: World): World {
  while (world.sends.length > 0) world.answer(0, ['accepted']);
  return world;
}

/** Ends the open runs: the first `failed` of them without success. */
function endAll(world: World, failed = 0): void {
  const open = world.service.runs.filter(({ status }) => status === 'open');
  for (const [at, { runId }] of open.entries()) world.finish(runId, at < failed ? 'failed' : 'succeeded');
}

function collectAll(world: World): void {
  world.pass(2_000);
  while (world.collects.length > 0) world.collect();
}

/** A user sends rows again that have an outcome. */
function sendAgain(world: World, pass: number, count: number): void {
  world.apply({ type: 'retry', commandId: `retry ${pass}`, pass });
  world.apply({ type: 'passLoaded', pass, segments: [{ lane: 0, first: pass * 500 + 1, count }] });
}

/** Ends a row that is sent again and had failed. */
function endAgain(world: World, outcome: 'succeeded' | 'failed'): void {
  for (const { runId, status } of world.service.runs) if (status === 'open') world.finish(runId, outcome);
  world.pass(2_000);
  const [command] = world.collects.splice(0, 1);
  const tally = tallyOutcome(tallyOutcome(NO_TALLY, outcome), 'failed', -1);
  world.apply({
    type: 'partCollected',
    part: command?.part ?? 0,
    result: { tally, again: 1, deferred: [], fetched: 0 },
  });
}

const placesSent = ({ sends }: World): readonly number[] =>
  sends.flatMap(({ attempts }) => attempts.map(({ place }) => place));

describe('--canary', () => {
  it('sends its rows alone until all of them are collected, then the others without asking', () => {
    const world = canary();
    expect(placesSent(world)).toEqual([1, 2, 3, 4, 5]);
    start(world);
    world.pass(60_000);
    expect(world.sends).toEqual([]);
    for (const { runId } of world.service.runs.slice(0, 4)) world.finish(runId, 'succeeded');
    collectAll(world);
    expect([world.sends, progress(world.state).canary]).toEqual([[], { rows: 5, ended: 4, gate: 'closed' }]);
    world.finish('run-4', 'succeeded');
    expect(world.sends).toEqual([]);
    collectAll(world);
    expect(placesSent(world)).toEqual([6, 7, 8, 9, 10, 11, 12, 13]);
    expect([kinds(world), progress(world.state).canary]).toEqual([[], { rows: 5, ended: 5, gate: 'open' }]);
    world.settle();
    expect([world.problems, world.state.tally.outcomes.succeeded]).toEqual([[], 20]);
  });

  it('is not failed by rows that could not be read, and is by one of its own', () => {
    const refused = { rows: 23, refused: 3 };
    const good = start(canary(refused));
    endAll(good);
    collectAll(good);
    expect([kinds(good), progress(good.state).canary]).toMatchObject([[], { gate: 'open' }]);
    const bad = start(canary(refused));
    endAll(bad, 1);
    collectAll(bad);
    expect(progress(bad.state).reason).toBe('1 of 5 canary rows failed: failed');
  });

  it('pauses with the reason if a row failed, until the user resumes it', () => {
    const world = start(canary());
    endAll(world, 2);
    collectAll(world);
    world.pass(3_600_000);
    expect([kinds(world), world.sends]).toEqual([['canary'], []]);
    expect(progress(world.state).reason).toBe('2 of 5 canary rows failed: failed');
    world.apply({ type: 'resume', commandId: 'r' });
    expect([kinds(world), placesSent(world).length]).toEqual([[], 8]);
    world.settle();
    expect([world.problems, world.state.tally.outcomes.succeeded]).toEqual([[], 18]);
  });

  it('says why the last of them failed, and counts a row only when its retries are used up', () => {
    const world = start(
      canary({ retries: 1, lanes: [{ places: 20, canary: 1 }], canary: { rows: 1, asks: false } }),
    );
    world.edit = (event) =>
      event.type === 'runsCompleted'
        ? {
            ...event,
            completions: event.completions.map((completion) => ({ ...completion, reason: 'out of memory' })),
          }
        : event;
    endAll(world, 1);
    world.pass(60_000);
    expect(kinds(world)).toEqual([]);
    start(world);
    endAll(world, 1);
    collectAll(world);
    expect(progress(world.state).reason).toBe('1 of 1 canary row failed: out of memory');
  });

  it('names no reason of a failure that no row in the state shows', () => {
    const world = start(canary());
    endAll(world, 1);
    world.state.lastFailure = undefined;
    collectAll(world);
    expect(progress(world.state).reason).toBe('1 of 5 canary rows failed');
  });

  it.each([
    [5, 'all 5 canary rows succeeded; 15 more are not sent yet'],
    [1, 'the canary row succeeded; 19 more are not sent yet'],
  ])('asks after the success of %i too, if the user wants that', (rows, reason) => {
    const world = start(canary({ lanes: [{ places: 20, canary: rows }], canary: { rows, asks: true } }));
    endAll(world);
    collectAll(world);
    expect([kinds(world), progress(world.state).reason]).toEqual([['canary'], reason]);
    world.continueAsNew();
    expect([kinds(world), world.sends]).toEqual([['canary'], []]);
    world.apply({ type: 'resume', commandId: 'r' });
    world.settle();
    expect([world.problems, world.state.tally.outcomes.succeeded]).toEqual([[], 20]);
  });

  it('tries a row alone that is sent again after the verdict, and then judges again', () => {
    const world = start(canary());
    endAll(world, 2);
    collectAll(world);
    expect(kinds(world)).toEqual(['canary']);
    for (const [pass, outcome] of [
      [2, 'failed'],
      [3, 'succeeded'],
    ] as const) {
      sendAgain(world, pass, 1);
      expect([kinds(world), placesSent(world)]).toEqual([[], [pass * 500 + 1]]);
      expect(progress(world.state).canary).toEqual({ rows: 5, ended: 4, gate: 'closed' });
      start(world);
      world.continueAsNew();
      world.pass(3_600_000);
      expect([kinds(world), world.sends]).toEqual([[], []]);
      endAgain(world, outcome);
      const failed = outcome === 'failed' ? 2 : 1;
      expect([kinds(world), progress(world.state).reason]).toEqual([
        ['canary'],
        expect.stringMatching(`^${failed} of 5 canary row`),
      ]);
    }
    sendAgain(world, 4, 1);
    start(world);
    endAgain(world, 'succeeded');
    expect([kinds(world), world.state.gate, placesSent(world).length]).toEqual([[], 'open', 8]);
  });

  it('rows appended right after it wait for the verdict', () => {
    const lanes = [{ places: 5, canary: 5 }];
    const world = canary({ concurrency: 2, rows: 5, lanes });
    world.apply({ type: 'retry', commandId: 'append', pass: 2 });
    const segments = [{ lane: 0, first: 6, count: 3, isNew: true }] as const;
    world.apply({ type: 'passLoaded', pass: 2, segments, appended: 3 });
    for (let turn = 0; turn < 10; turn += 1) {
      start(world);
      endAll(world, turn === 0 ? 1 : 0);
    }
    expect(world.service.runs).toHaveLength(5);
    collectAll(world);
    expect([kinds(world), world.sends]).toEqual([['canary'], []]);
  });

  it('tries a row alone that is sent again before the verdict, after the canary rows that wait', () => {
    const lanes = [{ places: 5, canary: 3 }];
    const world = start(canary({ concurrency: 1, rows: 5, lanes, canary: { rows: 3, asks: false } }));
    endAll(world, 1);
    collectAll(world);
    sendAgain(world, 2, 3);
    world.continueAsNew();
    expect(world.state.lanes[0]?.segments).toEqual([
      { first: 3, count: 1, isCanary: true },
      { first: 1_001, count: 3, isAgain: true, isCanary: true },
      { first: 4, count: 2 },
    ]);
  });

  it('opens for all rows with a resume after the verdict, also with a row that is sent again later', () => {
    const world = start(canary());
    endAll(world, 1);
    collectAll(world);
    world.apply({ type: 'resume', commandId: 'r' });
    sendAgain(world, 2, 1);
    expect([world.state.gate, kinds(world)]).toEqual(['open', []]);
    expect(world.state.lanes[0]?.segments.at(-1)).toEqual({ first: 1_001, count: 1, isAgain: true });
  });

  it('holds back rows that are appended before the verdict', () => {
    const world = start(canary());
    endAll(world, 1);
    collectAll(world);
    world.apply({ type: 'retry', commandId: 'append', pass: 2 });
    const segments = [{ lane: 0, first: 1_001, count: 3, isNew: true }] as const;
    world.apply({ type: 'passLoaded', pass: 2, segments, appended: 3 });
    world.pass(3_600_000);
    expect([kinds(world), world.sends]).toEqual([['canary'], []]);
  });

  it('is not over because a user paused and resumed the batch, changed its limits, or sends rows again', () => {
    const world = start(canary({ concurrency: 3 }));
    world.finish('run-0', 'failed');
    world.apply({ type: 'pause', commandId: 'p' });
    collectAll(world);
    world.apply({ type: 'scale', commandId: 's', limits: { concurrency: 8 } });
    world.apply({ type: 'retry', commandId: 'again', pass: 2 });
    world.loads.shift();
    world.apply({ type: 'passLoaded', pass: 2, segments: [{ lane: 0, first: 21, count: 1 }] });
    world.apply({ type: 'resume', commandId: 'r' });
    expect([world.state.gate, placesSent(world)]).toEqual(['closed', [4, 5, 21]]);
    start(world);
    endAll(world);
    collectAll(world);
    expect([kinds(world), world.sends]).toEqual([['canary'], []]);
  });

  it('ends with a cancel, and rows that are sent again later are not held back', () => {
    const world = start(canary());
    world.apply({ type: 'cancel', running: false, commandId: 'c' });
    endAll(world);
    world.settle();
    expect([world.state.finished, world.state.tally.outcomes]).toEqual([
      true,
      expect.objectContaining({ succeeded: 5, cancelled: 15 }),
    ]);
    expect(world.state.gate).toBe('open');
  });

  it('needs no gate in a batch without one', () => {
    const world = new World({ rows: 3 });
    world.apply({ type: 'cancel', running: false, commandId: 'c' });
    expect([world.state.gate, progress(world.state)]).toEqual([
      undefined,
      expect.not.objectContaining({ canary: {} }),
    ]);
  });

  it('takes rows of every lane, also of one without such rows afterwards', () => {
    const lanes = [
      { gpu: 'A10G', places: 4, canary: 2 },
      { gpu: 'H100', places: 1, canary: 1 },
      { gpu: 'T4', places: 2 },
    ];
    const world = canary({ rows: 7, lanes, canary: { rows: 3, asks: false } });
    expect(placesSent(world).toSorted((a, b) => a - b)).toEqual([1, 2, 100_000_001]);
    start(world);
    endAll(world);
    collectAll(world);
    expect(placesSent(world).toSorted((a, b) => a - b)).toEqual([3, 4, 200_000_001, 200_000_002]);
  });
});

describe('a batch that is rebuilt', () => {
  const specs = { lanes: [{ places: 10, canary: 2 }, { places: 4 }] };
  const unsent = { first: 3, count: 8 };
  const CANARY = { first: 1, count: 2, isCanary: true } as const;

  it('has passed its canary if any other row was taken from its lanes', () => {
    const lanes = (...segments: readonly Segment[][]) =>
      segments.map((laneSegments) => newLane(undefined, laneSegments));
    const secondLane = { first: 1, count: 4 };
    expect(hasPassed(lanes([CANARY, unsent], [secondLane]), specs)).toBe(false);
    expect(hasPassed(lanes([unsent], [secondLane]), specs)).toBe(false);
    expect(hasPassed(lanes([unsent, { first: 501, count: 3, isAgain: true }], [secondLane]), specs)).toBe(
      false,
    );
    const added = { first: 501, count: 20 };
    expect(hasPassed(lanes([unsent, added], [secondLane]), specs)).toBe(false);
    expect(hasPassed(lanes([{ first: 4, count: 7 }, added], [secondLane]), specs)).toBe(true);
    expect(hasPassed(lanes([{ first: 4, count: 7 }], [secondLane]), specs)).toBe(true);
    expect(hasPassed(lanes([unsent]), specs)).toBe(true);
  });
});
