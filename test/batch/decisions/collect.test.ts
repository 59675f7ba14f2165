import { describe, expect, it } from 'vitest';
import { COLLECTS_IN_FLIGHT } from '../../../src/batch/bounds.ts';
import { FILES_PROBE_ROWS } from '../../../src/batch/on-event/part-collected.ts';
import { PROBE_MS } from '../../../src/batch/pausing/pauses.ts';
import { collect, COLLECT_AFTER_MS, COLLECT_ROWS } from '../../../src/batch/decisions/collect.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import type { Deferred } from '../../../src/batch/state/row-state.ts';
import { put } from '../../../src/batch/state/put-row.ts';
import { TIMING } from '../params.ts';
import { running } from '../scenes.ts';
import type { World } from '../world.ts';

const RARE = { ...TIMING, pollIntervalMs: 1_000_000 };
const finishAll = (world: World): void => {
  const completions = world.service.runs.map(({ place, attempt, runId }) => ({
    place,
    attempt,
    runId,
    outcome: 'succeeded' as const,
  }));
  for (const run of world.service.runs) run.status = 'succeeded';
  world.apply({ type: 'runsCompleted', by: 'webhook', completions });
};
const rowsOf = (world: World): readonly (readonly number[])[] =>
  world.collects.map(({ rows }) => rows.map(({ place }) => place));

/** The batch is paused because of a file host; some rows wait for it, others run. */
function hostAway(rows = 5): World {
  const world = running({ rows: 105, concurrency: 100, timing: RARE });
  for (let run = 0; run < rows; run += 1) world.finish(`run-${run}`, 'succeeded');
  world.pass(COLLECT_AFTER_MS);
  while (!world.state.pauses.has('files')) {
    world.collect(0, 'host');
    if (!world.state.pauses.has('files')) world.pass(world.waitMs);
  }
  while (world.sends.length > 0) world.answer(0, ['accepted']);
  return world;
}

describe('collect', () => {
  it('collecting waits a second for company, and not at all for what is last', () => {
    const world = running({ rows: 3, concurrency: 2, timing: RARE });
    world.finish('run-0', 'succeeded');
    world.answer(0, ['accepted']);
    expect(world.collects).toEqual([]);
    expect(world.waitMs).toBe(COLLECT_AFTER_MS);
    world.pass(COLLECT_AFTER_MS);
    expect(rowsOf(world)).toEqual([[1]]);
    world.finish('run-1', 'succeeded');
    expect(world.collects).toHaveLength(1);
    world.finish('run-2', 'succeeded');
    expect(rowsOf(world)).toEqual([[1], [2, 3]]);
  });

  it('collecting does not wait once there are a hundred rows', () => {
    const world = running({ rows: 300, concurrency: 150, timing: RARE });
    for (let run = 0; run < COLLECT_ROWS; run += 1) world.finish(`run-${run}`, 'succeeded');
    expect(world.collects.map(({ rows }) => rows.length)).toEqual([COLLECT_ROWS]);
  });

  it('collecting has at most eight parts in flight', () => {
    const world = running({ rows: 2_000, concurrency: 1_200 });
    finishAll(world);
    expect(world.collects).toHaveLength(COLLECTS_IN_FLIGHT);
    world.collect();
    expect(world.collects).toHaveLength(COLLECTS_IN_FLIGHT);
  });

  it('collecting names all attempts of a row, the last one with its outcome', () => {
    const world = running({ rows: 1, concurrency: 1, retries: 1 });
    world.finish('run-0', 'failed');
    world.pass(60_000);
    world.answer(0, ['accepted']);
    world.finish('run-1', 'timed-out');
    expect(world.collects[0]?.rows).toEqual([
      {
        place: 1,
        attempts: [
          { attempt: 1, outcome: 'failed', runId: 'run-0' },
          { attempt: 2, outcome: 'timed-out', runId: 'run-1' },
        ],
      },
    ]);
  });

  it('collecting takes what was deferred when it is due, with what else has ended', () => {
    const world = running({ rows: 4, concurrency: 4, timing: RARE });
    world.finish('run-0', 'succeeded');
    world.pass(COLLECT_AFTER_MS);
    world.collect(0, 'host');
    const { waitMs } = world;
    world.pass(waitMs - 1);
    world.finish('run-1', 'succeeded');
    expect(world.collects).toEqual([]);
    world.pass(1);
    expect(rowsOf(world)).toEqual([[1, 2]]);
  });

  it('collecting leaves what was deferred behind until it is due, though other rows are collected', () => {
    const world = running({ rows: 4, concurrency: 4, timing: RARE });
    world.finish('run-0', 'succeeded');
    world.pass(COLLECT_AFTER_MS);
    world.collect(0, 'host');
    world.finish('run-1', 'succeeded');
    world.pass(COLLECT_AFTER_MS);
    expect(rowsOf(world)).toEqual([[2]]);
  });

  it('collecting waits while the store takes nothing', () => {
    const world = running({ rows: 5, concurrency: 5, timing: RARE });
    world.finish('run-0', 'succeeded');
    world.pass(COLLECT_AFTER_MS);
    world.finish('run-1', 'succeeded');
    world.collect(0, 'fetched', 'full');
    world.pass(PROBE_MS - 1);
    expect(world.collects).toEqual([]);
  });

  it('collecting probes with a few rows while no file can be fetched: deferred ones and new ones', () => {
    const world = hostAway();
    for (let run = 5; run < 50; run += 1) world.finish(`run-${run}`, 'succeeded');
    world.pass(PROBE_MS - 1);
    expect(world.collects).toEqual([]);
    world.pass(1);
    expect(rowsOf(world)).toEqual([[1, 2, 3, 4, 6, 7, 8, 9]]);
    world.collect(0, 'host');
    expect(world.waitFor(collect)).toBe(2 * PROBE_MS);
    expect(world.sends).toEqual([]);
  });

  it('collecting lets every row probe, however many others wait and fail', () => {
    const world = hostAway(20);
    for (let run = 20; run < 60; run += 1) world.finish(`run-${run}`, 'succeeded');
    const turns = new Map<number, number>();
    for (let probes = 0; probes < 20; probes += 1) {
      world.pass(world.waitFor(collect));
      for (const place of rowsOf(world).flat()) turns.set(place, (turns.get(place) ?? 0) + 1);
      world.collect(0, 'host');
    }
    expect(turns.size).toBe(60);
  });

  it.each([20, 40])(
    'collecting fetches good files soon, though the first 20 are refused, with %i slots',
    (concurrency) => {
      const world = running({ rows: 400, concurrency, timing: RARE });
      const since = world.wallAt;
      const fetch = (place: number) => (place <= 20 ? 'file' : 'fetched');
      const good = () => [...world.folder.outcomes].filter(([, outcome]) => outcome === 'succeeded').length;
      let firstMs = 0;
      // Each run takes a minute.
      for (let secs = 1; good() < 380 && secs < 20_000; secs += 1) {
        world.pass(1_000);
        if (secs % 60 === 0) finishAll(world);
        while (world.collects.length > 0) world.collect(0, fetch);
        while (world.sends.length > 0) world.answer(0, ['accepted']);
        if (firstMs === 0 && good() > 0) firstMs = world.wallAt - since;
      }
      expect(firstMs).toBeLessThan(300_000);
    },
  );

  it('collecting probes with one part at a time, although more rows wait', () => {
    const world = hostAway();
    for (let run = 5; run < 50; run += 1) world.finish(`run-${run}`, 'succeeded');
    world.pass(4 * PROBE_MS);
    expect(world.collects).toHaveLength(1);
    world.collect(0, 'host');
    expect(world.collects).toHaveLength(1);
  });

  it('collecting fetches all files that a host did not give as soon as it gave one', () => {
    const world = hostAway(20);
    const last = world.state.deferred.at(-1) as Deferred;
    // The row has failed before, so it waits longer than the host's outage lasts.
    put(world.state, { ...last, deferral: { tries: 6, notBefore: world.state.now + 10 * PROBE_MS } });
    world.pass(PROBE_MS);
    expect(rowsOf(world).flat()).toHaveLength(FILES_PROBE_ROWS);
    world.collect();
    expect(rowsOf(world).flat()).toHaveLength(20 - FILES_PROBE_ROWS);
  });

  it('collecting writes what has waited for a file host as soon as one file was fetched', () => {
    const world = hostAway();
    for (let run = 5; run < 50; run += 1) world.finish(`run-${run}`, 'succeeded');
    world.pass(PROBE_MS);
    world.collect();
    expect(progress(world.state).state).toBe('running');
    expect(world.folder.rows.size).toBe(FILES_PROBE_ROWS);
    expect(rowsOf(world).flat()).toHaveLength(42);
    world.settle();
    expect(world.problems).toEqual([]);
  });

  it('collecting marks the last try of a row whose files cannot be fetched', () => {
    const world = running({ rows: 2, concurrency: 1, timing: RARE });
    world.finish('run-0', 'succeeded');
    const tries: (true | undefined)[] = [];
    while (world.folder.rows.size === 0) {
      world.pass(Math.max(1, world.waitMs));
      tries.push(world.collects[0]?.rows[0]?.isLastTry);
      world.collect(0, 'file');
    }
    expect(tries).toEqual([...Array.from({ length: 7 }, () => undefined), true]);
    expect(world.folder.outcomes.get(1)).toBe('failed');
  });

  it('collecting gives the files of a cancelled batch up that do not come a second time', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.finish('run-0', 'succeeded');
    world.apply({ type: 'cancel', running: false });
    expect(world.collects[0]?.rows[0]?.isLastTry).toBeUndefined();
    world.collect(0, 'host');
    world.pass(world.waitMs);
    expect(world.collects[0]?.rows[0]?.isLastTry).toBe(true);
    world.collect(0, 'host');
    expect(world.folder.outcomes.get(1)).toBe('failed');
  });

  it('collecting asks again for parts that the workflow run before this one had asked for', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.finish('run-0', 'succeeded');
    const before = world.collects.slice();
    world.continueAsNew();
    expect(world.collects).toEqual(before);
  });
});
