import { describe, expect, it } from 'vitest';
import { EVIDENCE_RUNS } from '../../../src/batch/decisions/store-writes.ts';
import { PASS } from '../../../src/batch/events.ts';
import { PROBE_MS } from '../../../src/batch/pausing/pauses.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { running } from '../scenes.ts';
import { World } from '../world.ts';

/** Runs of row 9 that match no row in the state. */
const show = (world: World, from: number, count: number): void => {
  const runs = Array.from({ length: count }, (_, at) => ({
    place: 9,
    attempt: 1,
    runId: `extra-${from + at}`,
  }));
  world.apply({ type: 'runsSeen', runs });
};
const crowded = (): World => {
  const world = running({ rows: 1, concurrency: 1 });
  show(world, 0, EVIDENCE_RUNS);
  return world;
};

const unreadable = { type: 'storeFailed', item: PASS, reason: 'passes/00002.json is no pass' } as const;

/** The results are written, so the store works: the pass is tried once more. */
function triedOnceMore(world: World): void {
  world.settle(() => world.loads.length > 0);
  expect(world.loads.splice(0)).toEqual([{ type: 'loadPass', pass: 2 }]);
}

describe('keep evidence', () => {
  it('runs that no row explains go to the store once they are two hundred, all that there are, one file after the other', () => {
    const world = running({ rows: 1, concurrency: 1 });
    show(world, 0, EVIDENCE_RUNS - 1);
    expect(world.keeps).toEqual([]);
    show(world, EVIDENCE_RUNS - 1, 101);
    expect(world.keeps.map(({ number, runs }) => [number, runs.length])).toEqual([[1, EVIDENCE_RUNS + 100]]);
    show(world, EVIDENCE_RUNS + 100, EVIDENCE_RUNS);
    expect(world.keeps).toHaveLength(1);
    world.keep();
    expect(world.keeps.map(({ number, runs }) => [number, runs[0]?.runId, runs.length])).toEqual([
      [2, `extra-${EVIDENCE_RUNS + 100}`, EVIDENCE_RUNS],
    ]);
    world.keep();
    expect([world.state.evidence.size, world.folder.evidence.size]).toEqual([0, 2 * EVIDENCE_RUNS + 100]);
  });

  it('runs that no row explains are all known at the end: those in the store, and the last few that go with the close', () => {
    const world = crowded();
    world.keep();
    show(world, 1_000, 3);
    world.finish('run-0', 'succeeded');
    world.collect();
    expect(world.closes[0]?.evidence.map(({ runId }) => runId)).toEqual([
      'extra-1000',
      'extra-1001',
      'extra-1002',
    ]);
    world.close();
    expect(world.folder.evidence.size).toBe(EVIDENCE_RUNS + 3);
  });

  it('runs that no row explains keep the batch from closing before the store has them', () => {
    const world = crowded();
    world.finish('run-0', 'succeeded');
    world.collect();
    expect(world.closes).toEqual([]);
    world.keep();
    expect(world.closes).toHaveLength(1);
  });

  it('runs that no row explains pause the batch if the store does not take them, and are given to it again', () => {
    const world = crowded();
    world.keep(false);
    expect(progress(world.state).pauses).toMatchObject([{ kind: 'store' }]);
    show(world, 1_000, 1);
    expect(world.keeps).toEqual([]);
    world.pass(PROBE_MS);
    expect(world.keeps.map(({ runs }) => runs.length)).toEqual([EVIDENCE_RUNS + 1]);
    world.keep();
    expect(progress(world.state).state).toBe('running');
    expect(world.state.evidence.size).toBe(0);
  });

  it('runs that no row explains are given to the store again after a continue-as-new, under another number', () => {
    const world = crowded();
    world.continueAsNew();
    expect(world.keeps.map(({ number, runs }) => [number, runs.length])).toEqual([[2, EVIDENCE_RUNS]]);
    world.keep();
    expect(world.state.evidence.size).toBe(0);
  });
});

const full = (world: World): void => world.collect(0, 'fetched', 'full');

/** The store failed to write two parts; some runs continue. */
function fullStore(): World {
  const world = running({ rows: 300, concurrency: 250 });
  for (let run = 0; run < 210; run += 1) world.finish(`run-${run}`, 'succeeded');
  while (world.sends.length > 0) world.answer(0, ['accepted']);
  full(world);
  full(world);
  return world;
}

describe('store again', () => {
  it('a store that takes nothing stops sending and says why', () => {
    const world = fullStore();
    expect(progress(world.state)).toMatchObject({
      state: 'paused',
      reason: 'the batch folder cannot be written: ENOSPC',
    });
    world.finish('run-215', 'succeeded');
    expect(world.sends).toEqual([]);
    expect(world.collects).toEqual([]);
  });

  it('a store that takes nothing is probed with one part at a time, less and less often', () => {
    const world = fullStore();
    world.pass(PROBE_MS);
    expect(world.collects).toHaveLength(1);
    full(world);
    world.pass(2 * PROBE_MS - 1);
    expect(world.collects).toEqual([]);
    world.pass(1);
    expect(world.collects).toHaveLength(1);
  });

  it('a store that takes nothing is given everything that it would not take once it takes one part, and loses nothing', () => {
    const world = fullStore();
    world.pass(PROBE_MS);
    world.collect();
    expect(world.collects.map(({ part }) => part)).toContain(2);
    expect(progress(world.state).state).toBe('running');
    world.settle();
    expect(world.problems).toEqual([]);
    expect(world.folder.rows.size).toBe(300);
    expect(world.folder.repeated).toEqual([]);
  });

  it('a store that takes nothing is asked for the results again, if they are what it would not take', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.finish('run-0', 'succeeded');
    world.collect();
    world.close(false);
    expect([progress(world.state).state, world.closes.length]).toEqual(['paused', 0]);
    world.apply({ type: 'resume' });
    expect([progress(world.state).state, world.closes.length]).toEqual(['running', 1]);
    world.close();
    expect(world.state.tally.outcomes.succeeded).toBe(1);
    expect(world.state.finished).toBe(true);
  });

  it('rows that were never sent are counted once, however often the results are tried', () => {
    const world = new World({ rows: 5, concurrency: 1 });
    world.apply({ type: 'cancel', running: false });
    world.answer(0, ['not-sent']);
    world.collect();
    for (let time = 0; time < 3; time += 1) {
      world.close(false);
      world.pass(world.waitMs);
    }
    expect(world.state.tally.outcomes.cancelled).toBe(5);
  });

  it('a pass that cannot be read pauses the batch with the reason, until it can be read', () => {
    const world = new World({ rows: 3 });
    world.apply({ type: 'retry', commandId: 'c', pass: 2 });
    for (let tries = 1; tries <= 3; tries += 1) {
      expect(world.loads.splice(0)).toEqual([{ type: 'loadPass', pass: 2 }]);
      world.apply({ type: 'storeFailed', item: PASS, reason: 'passes/00002.json is no pass' });
      expect(progress(world.state)).toMatchObject({
        state: 'paused',
        reason: 'rows to be sent again cannot be read: passes/00002.json is no pass',
      });
      expect(world.loads).toEqual([]);
      while (world.loads.length === 0) world.pass(1_000);
    }
    world.continueAsNew();
    expect(world.loads.length).toBeGreaterThan(0);
    world.apply({ type: 'passLoaded', pass: 2, segments: [] });
    expect(world.state.pauses.size).toBe(0);
    world.settle();
    expect(world.problems).toEqual([]);
  });

  it.each([
    ['before', true],
    ['during', false],
  ])('a cancelled batch ends without a pass that cannot be read, cancelled %s the try', (_, isBefore) => {
    const world = new World({ rows: 3, concurrency: 3 });
    world.apply({ type: 'retry', commandId: 'c', pass: 2 });
    if (isBefore) world.apply(unreadable);
    world.apply({ type: 'cancel', running: true });
    world.apply(unreadable);
    expect(world.state.acknowledgements).toContainEqual({
      id: 'c',
      ok: false,
      note: 'the batch is cancelled: it sends nothing more',
    });
    world.loads.length = 0;
    triedOnceMore(world);
    world.apply(unreadable);
    world.settle();
    expect([world.state.finished, world.loads, world.problems]).toEqual([true, [], []]);
    const { outcomes } = world.state.tally;
    expect(outcomes.succeeded + outcomes.cancelled).toBe(3);
    expect(world.state.pass).toBe(1);
  });

  it('a cancelled pass that can be read once the results are written gives its new rows their outcome', () => {
    const world = new World({ rows: 3, concurrency: 3 });
    world.apply({ type: 'retry', commandId: 'c', pass: 2 });
    world.apply({ type: 'cancel', running: true });
    world.apply(unreadable);
    world.loads.length = 0;
    triedOnceMore(world);
    world.continueAsNew();
    const segments = [{ lane: 1, gpu: 'T4' as const, first: 1, count: 2, isNew: true as const }];
    world.apply({ type: 'passLoaded', pass: 2, segments, appended: 2 });
    world.settle();
    const { outcomes } = world.state.tally;
    expect([world.state.finished, outcomes.succeeded + outcomes.cancelled, world.problems]).toEqual([
      true,
      5,
      [],
    ]);
    expect(outcomes.cancelled).toBeGreaterThanOrEqual(2);
  });

  it('a pass that was cancelled while the batch closed keeps it from ending only until it cannot be read', () => {
    const world = new World({ rows: 1 });
    world.answer(0, ['accepted']);
    world.finish('run-0', 'succeeded');
    world.collect();
    world.apply({ type: 'retry', commandId: 'c', pass: 2 });
    world.apply({ type: 'cancel', running: false });
    world.close();
    expect(world.loads.splice(0)).toEqual([{ type: 'loadPass', pass: 2 }]);
    world.apply(unreadable);
    triedOnceMore(world);
    world.apply(unreadable);
    world.settle();
    expect([world.state.finished, world.state.tally.outcomes.succeeded]).toEqual([true, 1]);
  });

  it('a store that shows a pass, and takes no part, stays named', () => {
    const world = fullStore();
    world.apply({ type: 'retry', commandId: 'c', pass: 2 });
    world.apply({ type: 'passLoaded', pass: 2, segments: [] });
    expect(progress(world.state)).toMatchObject({ state: 'paused', pauses: [{ kind: 'store' }] });
  });

  it('a store that shows a pass while it is probed with its only part stays named, and nothing is bought', () => {
    const world = running({ rows: 300, concurrency: 250 });
    for (let run = 0; run < 110; run += 1) world.finish(`run-${run}`, 'succeeded');
    while (world.sends.length > 0) world.answer(0, ['accepted']);
    full(world);
    world.apply({ type: 'retry', commandId: 'c', pass: 2 });
    world.pass(PROBE_MS);
    expect([world.collects.length, world.state.unstored.size]).toEqual([1, 0]);
    world.apply({ type: 'passLoaded', pass: 2, segments: [{ lane: 0, first: 5_001, count: 1 }] });
    world.finish('run-115', 'succeeded');
    expect(progress(world.state)).toMatchObject({ state: 'paused', pauses: [{ kind: 'store' }] });
    expect(world.sends).toEqual([]);
  });

  it('a store that takes no part after it failed to show a pass is named for that, and a pass does not end it', () => {
    const world = running({ rows: 300, concurrency: 250 });
    for (let run = 0; run < 210; run += 1) world.finish(`run-${run}`, 'succeeded');
    while (world.sends.length > 0) world.answer(0, ['accepted']);
    world.apply({ type: 'retry', commandId: 'c', pass: 2 });
    world.apply({ type: 'storeFailed', item: PASS, reason: 'EIO' });
    full(world);
    expect(progress(world.state).reason).toBe('the batch folder cannot be written: ENOSPC');
    world.pass(PROBE_MS);
    expect(world.loads).toHaveLength(2);
    world.continueAsNew();
    world.apply({ type: 'passLoaded', pass: 2, segments: [] });
    expect(progress(world.state)).toMatchObject({ state: 'paused', pauses: [{ kind: 'store' }] });
  });

  it('a part that the store wrote without reporting success is counted once', () => {
    const world = running({ rows: 2, concurrency: 2 });
    world.finish('run-0', 'succeeded');
    world.finish('run-1', 'succeeded');
    world.collect(0, 'fetched', 'silent');
    world.pass(PROBE_MS);
    world.settle();
    expect(world.problems).toEqual([]);
    expect(world.state.tally.outcomes.succeeded).toBe(2);
  });
});
