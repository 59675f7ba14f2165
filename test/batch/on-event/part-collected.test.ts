import { describe, expect, it } from 'vitest';
import { REASON_BYTES } from '../../../src/batch/bounds.ts';
import {
  MAX_DEFERS,
  DEFER_BASE_MS,
  MAX_DEFER_MS,
  MAX_EMPTIES,
  FILES_PAUSE_AFTER_MS,
} from '../../../src/batch/on-event/part-collected.ts';
import type { DeferredRow } from '../../../src/batch/events.ts';
import { NO_TALLY, tallyOutcome } from '../../../src/batch/accounting/tally.ts';
import { collect } from '../../../src/batch/decisions/collect.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { running } from '../scenes.ts';
import { World } from '../world.ts';

/** The runs have succeeded, and their part is in flight. */
function collecting(rows: number): World {
  const world = running({ rows: rows + 1, concurrency: rows + 1 });
  for (let run = 0; run < rows; run += 1) world.finish(`run-${run}`, 'succeeded');
  world.pass(1_000);
  return world;
}

/** The oldest part is written without these rows. */
function collected(world: World, fetched: number, ...deferred: readonly DeferredRow[]): void {
  const [command] = world.collects.splice(0, 1);
  const count = (command?.rows.length ?? 0) - deferred.length;
  const tally = tallyOutcome(NO_TALLY, 'succeeded', count);
  world.apply({ type: 'partCollected', part: command?.part ?? 0, result: { tally, fetched, deferred } });
}

const host = (row: number): DeferredRow => ({ place: row, kind: 'host', reason: 'connect ECONNREFUSED' });
const file = (row: number): DeferredRow => ({ place: row, kind: 'file', reason: '404' });
const deferralOf = ({ state }: World, row: number) =>
  state.deferred.find((candidate) => candidate.place === row)?.deferral;

describe('parts', () => {
  it('a part that is written is counted, and its rows are forgotten', () => {
    const world = collecting(3);
    expect(progress(world.state)).toMatchObject({ collecting: 3, done: 0 });
    collected(world, 3);
    expect(progress(world.state)).toMatchObject({ collecting: 0, done: 3 });
    expect([...world.state.rows.keys()]).toEqual([4]);
  });

  it('a part that the batch did not ask for is not counted', () => {
    const world = collecting(1);
    const result = { tally: tallyOutcome(NO_TALLY, 'succeeded', 5), fetched: 5, deferred: [] };
    world.apply({ type: 'partCollected', part: 77, result });
    expect(progress(world.state).done).toBe(0);
  });

  it('a part that the store seemed not to take, and that is written after all, is not asked for again', () => {
    const world = collecting(2);
    const { part } = world.collects[0] ?? { part: 0 };
    world.apply({ type: 'storeFailed', item: part, reason: 'EIO' });
    collected(world, 2);
    world.pass(60_000);
    expect(world.state.unstored.size).toBe(0);
    expect(world.collects).toEqual([]);
  });

  it('a part that is written keeps no row back for the files of another one', () => {
    const world = collecting(3);
    collected(world, 2, file(2));
    expect(progress(world.state)).toMatchObject({ done: 2, collecting: 1 });
  });
});

describe('deferred rows', () => {
  it('a row whose files could not be fetched is collected again later, each time twice as much later, with what is known of it', () => {
    const world = collecting(1);
    const waits: number[] = [];
    for (let time = 1; time < MAX_DEFERS; time += 1) {
      collected(world, 0, file(1));
      expect(deferralOf(world, 1)?.tries).toBe(time);
      waits.push(world.waitFor(collect));
      world.pass(world.waitFor(collect));
    }
    expect(waits.slice(0, 3)).toEqual([2 * DEFER_BASE_MS, 4 * DEFER_BASE_MS, 8 * DEFER_BASE_MS]);
    expect(waits.at(-1)).toBe(MAX_DEFER_MS);
    expect(world.collects[0]?.rows).toMatchObject([
      { place: 1, attempts: [{ attempt: 1, outcome: 'succeeded', runId: 'run-0' }], isLastTry: true },
    ]);
  });

  it('a row is not blamed for a host that serves no file at all, and is collected again soon', () => {
    const world = collecting(1);
    for (let time = 0; time < 3; time += 1) {
      collected(world, 0, host(1));
      expect([deferralOf(world, 1)?.tries, world.waitFor(collect)]).toEqual([0, DEFER_BASE_MS]);
      world.pass(world.waitFor(collect));
    }
  });

  it('a row whose files could not be fetched is collected again no sooner because other files were fetched', () => {
    const world = running({ rows: 3, concurrency: 3 });
    world.finish('run-0', 'succeeded');
    world.pass(1_000);
    collected(world, 0, file(1));
    const before = deferralOf(world, 1);
    world.finish('run-1', 'succeeded');
    world.pass(1_000);
    collected(world, 1);
    expect(deferralOf(world, 1)).toEqual(before);
  });

  it('a row is not blamed for a host that is away while others serve: it waits as long as that takes', () => {
    const world = collecting(2);
    collected(world, 1, host(2));
    expect(deferralOf(world, 2)?.tries).toBe(0);
    for (let time = 0; time < 3 * MAX_DEFERS; time += 1) {
      world.pass(world.waitFor(collect));
      collected(world, 0, host(2));
    }
    expect(deferralOf(world, 2)?.tries).toBe(0);
    expect(progress(world.state).collecting).toBe(1);
  });

  it('a row whose files could not be fetched keeps its earlier attempts', () => {
    const world = running({ rows: 2, concurrency: 1, retries: 1 });
    world.finish('run-0', 'failed');
    world.answer(0, ['accepted']);
    world.pass(5_000);
    world.finish('run-1', 'succeeded');
    world.answer(0, ['accepted']);
    world.finish('run-2', 'succeeded');
    while (world.state.rows.size + world.state.parts.size > 0) {
      world.collect(
        0,
        world.state.deferred.length > 0 || world.collects[0]?.rows[0]?.deferral ? 'fetched' : 'file',
      );
      if (world.collects.length === 0) world.pass(Math.min(1_000, world.waitFor(collect)));
    }
    expect(world.folder.rows.get(1)?.attempts).toEqual([
      { attempt: 1, outcome: 'failed', runId: 'run-0' },
      { attempt: 2, outcome: 'succeeded', runId: 'run-2' },
    ]);
  });
});

describe('file hosts', () => {
  it('a file host that is away pauses the batch after ten seconds, with its reason', () => {
    const world = collecting(1);
    const since = world.state.now;
    while (world.state.now - since < FILES_PAUSE_AFTER_MS) {
      expect(world.state.pauses.size).toBe(0);
      collected(world, 0, { ...host(1), reason: 'x'.repeat(5_000) });
      if (world.state.pauses.size === 0) world.pass(world.waitFor(collect));
    }
    collected(world, 0, { ...host(1), reason: 'x'.repeat(5_000) });
    expect(progress(world.state).pauses).toMatchObject([
      { kind: 'files', reason: `outputs cannot be fetched: ${'x'.repeat(REASON_BYTES)}` },
    ]);
  });

  /** A row whose download failed after a minute. */
  const slow = (row: number): DeferredRow => ({ ...host(row), waitedMs: 60_000 });

  it('a file host that was slow for a minute pauses the batch with the first part', () => {
    const world = collecting(2);
    world.pass(60_000);
    collected(world, 0, slow(1), host(2));
    expect([...world.state.pauses.keys()]).toEqual(['files']);
  });

  it.each(['a file that came from elsewhere', 'a resume'])('%s ends what a slow download says', (what) => {
    const world = running({ rows: 3, concurrency: 3 });
    world.finish('run-0', 'succeeded');
    world.pass(1_000);
    world.finish('run-1', 'succeeded');
    world.pass(59_000);
    const [first] = world.collects.splice(0, 1);
    if (what === 'a resume') world.apply({ type: 'resume' });
    else collected(world, 1);
    world.collects.unshift(...(first ? [first] : []));
    world.pass(1_000);
    collected(world, 0, slow(1));
    expect(world.state.pauses.size).toBe(0);
  });

  it('files that are all refused pause the batch after ten seconds, so that it buys no more of them', () => {
    const world = collecting(3);
    const since = world.state.now;
    collected(world, 0, file(1), file(2), file(3));
    expect(world.state.pauses.size).toBe(0);
    while (world.state.pauses.size === 0) {
      world.pass(world.waitFor(collect));
      const rows = world.collects[0]?.rows ?? [];
      collected(world, 0, ...rows.map(({ place }) => file(place)));
    }
    expect(world.state.now - since).toBeLessThan(4 * FILES_PAUSE_AFTER_MS);
    expect([...world.state.pauses.keys()]).toEqual(['files']);
  });

  it('a file host that is away pauses nothing if a file came from elsewhere meanwhile', () => {
    const world = collecting(2);
    collected(world, 0, host(1), host(2));
    world.pass(DEFER_BASE_MS);
    collected(world, 1, host(2));
    expect(world.state.filesFailSince).toBeUndefined();
  });

  it('a file host that is away pauses nothing if only some files are missing, or if no row had any', () => {
    const world = collecting(2);
    for (let time = 0; time < 3; time += 1) {
      collected(world, 0, file(1), file(2));
      world.pass(world.waitFor(collect));
    }
    collected(world, 0);
    expect([world.state.filesFailSince, world.state.pauses.size]).toEqual([undefined, 0]);
  });
});

describe('runs that succeed without a file', () => {
  const empty = (place: number): DeferredRow => ({
    ...file(place),
    reason: 'the run succeeded but produced no file',
    isEmpty: true,
  });

  /** Ends all runs without a file, until the batch is paused or nothing is left. */
  function endEmpty(world: World): void {
    while (world.state.pauses.size === 0 && !world.state.finished) {
      while (world.sends.length > 0) world.answer(0, ['accepted']);
      for (const run of world.service.runs) if (run.status === 'open') world.finish(run.runId, 'succeeded');
      if (world.closes.length > 0) world.close();
      else if (world.collects.length > 0) world.collect(0, 'empty');
      else world.pass(1_000);
    }
  }

  it('fail their rows within half a minute, and pause nothing as if a file host were away', () => {
    const world = collecting(4);
    const since = world.state.now;
    collected(world, 0, ...[1, 2, 3, 4].map(empty));
    for (let time = 1; time < MAX_EMPTIES; time += 1) {
      world.continueAsNew();
      world.pass(world.waitFor(collect));
      const rows = world.collects[0]?.rows ?? [];
      expect(rows.map(({ isLastTry }) => isLastTry === true)).toEqual(
        rows.map(() => time === MAX_EMPTIES - 1),
      );
      if (time < MAX_EMPTIES - 1) collected(world, 0, ...rows.map(({ place }) => empty(place)));
    }
    expect(world.state.now - since).toBeLessThanOrEqual(30_000);
    expect([...world.state.pauses.keys()]).toEqual([]);
  });

  it('pause a batch of which no row has succeeded after ten of them and those that are not looked at yet', () => {
    const world = new World({ rows: 60, concurrency: 4 });
    endEmpty(world);
    expect([...world.state.pauses.keys()]).toEqual(['alike']);
    expect(progress(world.state).reason).toMatch(
      /^\d\d runs succeeded but produced no file. Does the workflow save its images\?$/,
    );
    expect(world.service.runs.length).toBeLessThanOrEqual(20);
    for (let resumes = 0; resumes < 3 && !world.state.finished; resumes += 1) {
      world.apply({ type: 'resume' });
      endEmpty(world);
    }
    expect([world.state.finished, world.state.tally.outcomes.failed]).toEqual([true, 60]);
  });

  it('end a small batch with failed rows', () => {
    const world = new World({ rows: 4, concurrency: 4 });
    endEmpty(world);
    expect([world.state.finished, world.state.tally.outcomes.failed]).toEqual([true, 4]);
  });

  it('fail their rows as missing files do in a batch of an earlier version', () => {
    const world = collecting(1);
    world.state = { ...world.state, version: 5 };
    collected(world, 0, empty(1));
    expect(deferralOf(world, 1)?.isEmpty).toBeUndefined();
    collected(world, 0);
  });
});

describe('store', () => {
  it('an unknown part is no reason to pause if the store does not take it', () => {
    const world = collecting(1);
    world.apply({ type: 'storeFailed', item: 99, reason: 'ENOSPC' });
    expect(progress(world.state).state).toBe('running');
  });

  it('a part that the store does not take pauses the batch with its reason', () => {
    const world = collecting(1);
    world.apply({ type: 'storeFailed', item: 1, reason: 'x'.repeat(5_000) });
    expect(progress(world.state).reason).toBe(
      `the batch folder cannot be written: ${'x'.repeat(REASON_BYTES)}`,
    );
    expect([...world.state.unstored]).toEqual([1]);
  });
});
