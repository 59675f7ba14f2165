// Rows that have an outcome and are sent again: the batch loads a pass, and counts each row once.

import { describe, expect, it } from 'vitest';
import { addSegments, placeIn } from '../../../src/batch/state/lanes.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { closedSnapshot, continueFrom, restore, snapshot } from '../../../src/batch/state/snapshot.ts';
import { World } from '../world.ts';

const AGAIN = [{ lane: 0, first: 5_001, count: 2 }] as const;

const loaded = (world: World, pass = 2, segments: readonly object[] = AGAIN): void => {
  const [load] = world.loads.splice(0);
  expect(load).toEqual({ type: 'loadPass', pass });
  world.apply({
    type: 'passLoaded',
    pass,
    segments: segments as typeof AGAIN,
    by: 'ada@desk',
    reason: 'better now',
  });
};

const retry = (pass: number, commandId = `c${pass}`) => ({ type: 'retry', commandId, pass }) as const;

/** A batch that has sent nothing, with appended rows in two files that follow each other. */
function snapshotOf([first, second]: readonly [number, number]) {
  const world = new World({ rows: 3, concurrency: 0 });
  addSegments(world.state.lanes, [
    { lane: 0, first, count: second - first, isNew: true },
    { lane: 0, first: second, count: 1, isNew: true },
  ]);
  return snapshot(world.state);
}

/** A batch whose rows all failed, and that is being closed. */
function closing(rows = 3): World {
  const world = new World({ rows, concurrency: rows, retries: 0 });
  while (world.sends.length > 0) world.answer(0, ['accepted']);
  for (const { runId } of world.service.runs.slice()) world.finish(runId, 'failed');
  world.pass(1_000);
  while (world.collects.length > 0) world.collect();
  expect(world.closes).toHaveLength(1);
  return world;
}

describe('a batch that runs', () => {
  it('loads a pass, sends its places after its own, and acknowledges the command', () => {
    const world = new World({ rows: 3, concurrency: 10 });
    world.apply(retry(2));
    expect(world.state.acknowledgements).toEqual([]);
    loaded(world);
    expect(world.state.acknowledgements).toEqual([{ id: 'c2', ok: true, note: '2 rows sent again' }]);
    expect(world.sends.flatMap(({ attempts }) => attempts).map(({ place }) => place)).toEqual([
      1, 2, 3, 5_001, 5_002,
    ]);
    world.pass(1_000);
    expect(world.logged).toMatchObject([{ event: 'retried', by: 'ada@desk', reason: 'better now' }]);
    expect(progress(world.state)).toMatchObject({ pass: 2, again: 2, rows: 3 });
  });

  it('adds rows, which are new and not sent again', () => {
    const world = new World({ rows: 3, concurrency: 10 });
    world.apply(retry(2));
    world.loads.splice(0);
    world.apply({
      type: 'passLoaded',
      pass: 2,
      segments: [
        { lane: 0, first: 5_001, count: 2, isNew: true },
        { lane: 0, first: 10_001, count: 1 },
      ],
      appended: 2,
      by: 'ada@desk',
    });
    const note = '2 rows appended, 1 row sent again';
    expect(world.state.acknowledgements).toEqual([{ id: 'c2', ok: true, note }]);
    expect(progress(world.state)).toMatchObject({ rows: 5, again: 1, sending: 6, done: -1 });
    world.pass(1_000);
    expect(world.logged).toMatchObject([{ event: 'appended', by: 'ada@desk', note }]);
    const [lane] = restore(JSON.parse(JSON.stringify({ ...snapshotOf([5_001, 5_501]) }))).lanes;
    expect(lane?.segments).toEqual([
      { first: 1, count: 3 },
      { first: 5_001, count: 501 },
    ]);
  });

  it('names only the added rows if none is sent again', () => {
    const world = new World({ rows: 3, concurrency: 10 });
    world.apply(retry(2));
    world.loads.splice(0);
    const segments = [{ lane: 0, first: 5_001, count: 2, isNew: true }] as const;
    world.apply({ type: 'passLoaded', pass: 2, segments, appended: 2 });
    expect(world.state.acknowledgements).toEqual([{ id: 'c2', ok: true, note: '2 rows appended' }]);
  });

  it('counts added rows as cancelled if it sends nothing more', () => {
    const world = new World({ rows: 3, concurrency: 1 });
    world.apply({ type: 'cancel', commandId: 'stop', running: false });
    world.apply(retry(2));
    world.loads.splice(0);
    const segments = [{ lane: 0, first: 5_001, count: 2, isNew: true }] as const;
    world.apply({ type: 'passLoaded', pass: 2, segments, appended: 2 });
    expect(world.state.acknowledgements.at(-1)).toMatchObject({ id: 'c2', ok: false });
    expect(progress(world.state)).toMatchObject({ rows: 5, done: 2, tally: { outcomes: { cancelled: 2 } } });
  });

  it('loads passes one after another, also if a command names only the second one', () => {
    const world = new World({ rows: 3, concurrency: 10 });
    world.apply(retry(3));
    loaded(world);
    loaded(world, 3, [{ lane: 1, gpu: 'H100', first: 1, count: 1 }]);
    expect(world.state.lanes.map(({ gpu }) => gpu)).toEqual([undefined, 'H100']);
    expect(world.sends.flatMap(({ attempts }) => attempts).at(-1)?.place).toBe(placeIn(1, 1));
    expect(world.state.acknowledgements).toMatchObject([{ id: 'c3', ok: true }]);
  });

  it('loads a pass once, and acknowledges a command about a pass that it has', () => {
    const world = new World({ rows: 3, concurrency: 10 });
    world.apply(retry(2));
    world.apply(retry(2));
    expect(world.loads).toHaveLength(1);
    loaded(world);
    world.apply({ type: 'passLoaded', pass: 2, segments: AGAIN });
    expect(progress(world.state).again).toBe(2);
    world.apply(retry(2, 'late'));
    expect(world.loads).toEqual([]);
    expect(world.state.acknowledgements.at(-1)).toEqual({ id: 'late', ok: true });
  });

  it('counts a row that is sent again as done when it has its new outcome', () => {
    const world = new World({ rows: 1, concurrency: 10 });
    while (world.sends.length > 0) world.answer(0, ['accepted']);
    world.apply(retry(2));
    loaded(world, 2, [{ lane: 0, first: 5_001, count: 1 }]);
    expect(progress(world.state)).toMatchObject({ done: -1, again: 1 });
    const { tally } = world.state;
    world.apply({ type: 'partCollected', part: 1, result: { tally, deferred: [], fetched: 0, again: 1 } });
    // Only a part that is being collected counts.
    expect(progress(world.state).again).toBe(1);
  });

  it('sends nothing of a pass if it is cancelled, and says so', () => {
    const world = new World({ rows: 3, concurrency: 1 });
    world.apply({ type: 'cancel', running: false });
    world.apply(retry(2));
    loaded(world);
    expect(world.state.acknowledgements.at(-1)).toEqual({
      id: 'c2',
      ok: false,
      note: 'the batch is cancelled: it sends nothing more',
    });
    expect(progress(world.state)).not.toHaveProperty('again');
    expect(world.state.pass).toBe(2);
    world.apply(retry(3));
    loaded(world, 3, [{ lane: 1, gpu: 'T4', first: 1, count: 1 }]);
    world.apply(retry(4));
    loaded(world, 4, [{ lane: 2, gpu: 'H100', first: 1, count: 1 }]);
    expect(world.state.lanes.map(({ gpu }) => gpu)).toEqual([undefined, 'T4', 'H100']);
  });

  it('leaves their outcome to rows that were to be sent again if it is cancelled', () => {
    const world = new World({ rows: 3, concurrency: 1 });
    world.apply(retry(2));
    loaded(world);
    world.apply({ type: 'cancel', running: false });
    world.settle();
    expect(world.state.tally.outcomes).toMatchObject({ succeeded: 1, cancelled: 2 });
    expect(progress(world.state)).not.toHaveProperty('again');
  });
});

describe('a batch that ends', () => {
  it('closes once more if a pass was added while it was closing', () => {
    const world = closing();
    world.apply(retry(2));
    expect(world.loads).toEqual([]);
    world.apply({ type: 'closed' });
    expect(world.state.finished).toBe(false);
    loaded(world);
    expect(world.sends.flatMap(({ attempts }) => attempts)).toHaveLength(2);
    expect(world.state.resumedAt).toEqual(world.state.endings);
  });

  it('sends nothing of a pass that was added and cancelled while it was closing', () => {
    const world = closing();
    world.apply(retry(2), { type: 'cancel', running: true, commandId: 'stop' });
    expect(world.state.acknowledgements).toEqual([{ id: 'stop', ok: true }]);
    world.apply({ type: 'closed' });
    loaded(world);
    expect(world.sends).toEqual([]);
    expect(world.state.acknowledgements.at(-1)).toMatchObject({ id: 'c2', ok: false });
    world.settle();
    expect(world.state.pass).toBe(2);
  });

  it('holds a pass that was added while it was closing if a user pauses it', () => {
    const world = closing();
    world.apply(retry(2), { type: 'pause', commandId: 'wait' });
    world.apply({ type: 'closed' });
    loaded(world);
    expect(world.sends).toEqual([]);
    expect(world.state.acknowledgements).toMatchObject([
      { id: 'wait', ok: true },
      { id: 'c2', ok: true },
    ]);
  });

  it('goes on without the failures of the time before, and knows how the clock of the service stood', () => {
    const world = new World({ rows: 3, concurrency: 3, retries: 0, failAfter: { rows: 3 } });
    while (world.sends.length > 0) world.answer(0, ['accepted']);
    for (const { runId } of world.service.runs.slice()) world.finish(runId, 'failed');
    const MONTH_MS = 30 * 24 * 3_600_000;
    const closed = JSON.parse(JSON.stringify(closedSnapshot(world.state)));
    world.wallAt += MONTH_MS;
    world.state = continueFrom({ ...closed, serviceOffset: { min: 0, max: 0 } }, 2, world.wallAt);
    world.apply({ type: 'started' });
    loaded(world);
    expect(world.state.serviceOffset).toEqual({ min: 0, max: 0 });
    expect(world.state.pauses.has('failures')).toBe(false);
    expect(world.sends).toHaveLength(1);
  });

  it('goes on if a command names a pass together with its end', () => {
    const world = closing();
    world.apply({ type: 'closed' }, retry(2));
    expect(world.state.finished).toBe(false);
    loaded(world);
    expect(world.sends).toHaveLength(1);
  });

  it('leaves a state from which a later pass continues', () => {
    const world = closing();
    const closed = closedSnapshot(world.state);
    const again = restore(JSON.parse(JSON.stringify(closed)));
    expect(again).toMatchObject({ closing: false, finished: false, log: [], tally: world.state.tally });
    expect(again.lanes).toMatchObject([{ segments: [], waiting: [], outstanding: 0 }]);
  });

  it('sends rows of a cancelled batch that were never sent only if a pass names them', () => {
    const world = new World({ rows: 3, concurrency: 1 });
    world.apply({ type: 'cancel', running: false });
    while (world.sends.length > 0) world.answer(0, ['accepted']);
    world.finish('run-0', 'failed');
    world.pass(1_000);
    world.settle();
    expect(world.state.tally.outcomes.cancelled).toBe(2);
    world.apply({ type: 'closed' }, retry(2));
    loaded(world, 2, [{ lane: 0, first: 5_001, count: 1 }]);
    expect(world.sends.flatMap(({ attempts }) => attempts)).toEqual([{ place: 5_001, attempt: 1 }]);
  });
});
