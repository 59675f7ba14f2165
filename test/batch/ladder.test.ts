import { describe, expect, it } from 'vitest';
import { laneOf, placeIn } from '../../src/batch/state/lanes.ts';
import { mostRetries } from '../../src/options/facts/failure-kind.ts';
import { relearn, MAX_UNPROVEN } from '../../src/batch/ladder.ts';
import { changeLimits } from '../../src/batch/on-event/change-limits.ts';
import type { RunTimes } from '../../src/batch/events.ts';
import { running } from './scenes.ts';
import { progress } from '../../src/batch/shown/progress.ts';
import { put } from '../../src/batch/state/put-row.ts';
import { baseOf } from '../../src/batch/state/row-state.ts';
import { LADDER, LadderWorld, VRAM_GB, type Need } from './ladder-world.ts';

/** A lane for each size class, from 1; the rows of class n need `gb[n - 1]`. */
const classes = (places: number, count: number) => ({
  rows: places * count,
  lanes: Array.from({ length: count }, (_, at) => ({ size: at + 1, places })),
  concurrency: 16,
});

const needing =
  (...gb: readonly number[]) =>
  (place: number): Need => ({ gb: gb[laneOf(place)] as number, seconds: 6 });

const cheapest = (gb: number): string => LADDER.find((gpu) => gb <= (VRAM_GB[gpu] ?? 0)) as string;

const rungsOf = ({ state }: LadderWorld) => state.lanes.map(({ climb }) => climb?.rung);

describe('a ladder of GPUs', () => {
  it('ends each row on the cheapest rung that works, with at most 1.15 times the GPU seconds of an oracle', () => {
    const gb = [12, 20, 40] as const;
    const world = new LadderWorld(classes(100, 3), needing(...gb)).run();
    expect(world.rows.size).toBe(300);
    for (const [place, gpu] of world.gpus) expect(gpu).toBe(cheapest(gb[laneOf(place)] as number));
    expect(rungsOf(world)).toEqual([0, 1, 2]);
    const oracle = 300 * 6;
    expect(world.gpuSeconds / oracle).toBeLessThanOrEqual(1.15);
    expect(world.gpuSeconds).toBeGreaterThan(oracle);
  });

  it('starts a larger class at least on the rung that a smaller one needs, and leaves smaller classes where they are', () => {
    const world = new LadderWorld(classes(10, 3), needing(12, 20, 20)).run();
    expect(rungsOf(world)).toEqual([0, 1, 1]);
    const later = new LadderWorld({ ...classes(10, 3), concurrency: 1 }, needing(12, 20, 20)).run();
    const failed = later.sent.filter(({ gpu }) => gpu === 'T4').map(({ place }) => laneOf(place));
    expect(failed.filter((lane) => lane > 0)).toHaveLength(1);
  });

  it('tries a rung with at most two runs of a class until one has succeeded on it', () => {
    const world = new LadderWorld(classes(50, 1), needing(12));
    expect(world.sent).toHaveLength(MAX_UNPROVEN);
    world.run(({ rows }) => rows.size > 0);
    expect(world.state.lanes[0]?.climb?.isProven).toBe(true);
    expect(world.sent.length).toBeGreaterThan(MAX_UNPROVEN);
  });

  it('keeps rows of unknown size apart: they move no other class, and no class moves them', () => {
    const lanes = [
      { size: 0, places: 5 },
      { size: 1, places: 5 },
    ];
    expect(rungsOf(new LadderWorld({ rows: 10, lanes }, needing(20, 12)).run())).toEqual([1, 0]);
    expect(rungsOf(new LadderWorld({ rows: 10, lanes }, needing(12, 20)).run())).toEqual([0, 1]);
  });

  it('climbs without using up a retry, and on the highest rung the retry policy decides', () => {
    const world = new LadderWorld({ ...classes(3, 1), retries: 0 }, needing(100)).run();
    for (const { attempts } of world.rows.values())
      expect(attempts.length).toBeLessThanOrEqual(LADDER.length);
    expect(world.rows.get(1)?.attempts.map(({ rung }) => rung)).toEqual([0, 1, 2, 3]);
    expect(world.outcomeOf(1)).toBe('failed');
    const patient = new LadderWorld({ ...classes(1, 1), retries: 2 }, needing(100)).run();
    // Out of memory is retried once.
    expect(patient.rows.get(1)?.attempts.map(({ rung }) => rung)).toEqual([0, 1, 2, 3, 3]);
  });

  it('climbs when time runs out, but not for another failure', () => {
    const ends = [
      { outcome: 'failed', failure: 'node-error', seconds: 1 },
      { outcome: 'timed-out', seconds: 1 },
      { outcome: 'failed', failure: 'timeout', seconds: 1 },
      { outcome: 'succeeded', seconds: 1 },
    ] as const;
    const world = new LadderWorld({ ...classes(2, 1), retries: 1, concurrency: 1 }, needing(12));
    // The run of row 1 was sent before this.
    let at = 0;
    world.end = () => ends[at++] as (typeof ends)[number];
    world.run();
    expect(world.rows.get(2)?.attempts.map(({ rung }) => rung)).toEqual([0, 0, 1, 2]);
  });

  it('does not climb because a run was cancelled in the queue, but if it ran too long', () => {
    const rungAfter = (times: { readonly times?: RunTimes }): number | undefined => {
      const world = running({ ladder: LADDER, rows: 1, lanes: [{ size: 1, places: 1 }] });
      const [{ runId } = { runId: '' }] = world.service.runs;
      const run = { place: 1, attempt: 1, runId };
      world.apply({ type: 'runsOverdue', runs: [{ ...run, reason: 'the run takes too long' }] });
      const completions = [{ ...run, outcome: 'cancelled', ...times } as const];
      world.apply({ type: 'runsCompleted', by: 'poll', completions });
      return world.state.lanes[0]?.climb?.rung;
    };
    expect(rungAfter({})).toBe(0);
    expect(rungAfter({ times: [0, 0, 60_000] })).toBe(1);
  });

  it('starts a row that waits for a retry on the rung that its class has reached meanwhile', () => {
    const world = new LadderWorld({ ...classes(4, 1), retries: 1, concurrency: 2 }, needing(12));
    world.end = (place, gpu) => {
      if (gpu !== 'T4') return { outcome: 'succeeded', seconds: 1 };
      // Row 4 fails while row 3 waits for its retry.
      if (place === 3) return { outcome: 'failed', failure: 'node-error', seconds: 1 };
      return { outcome: 'failed', failure: 'out-of-memory', seconds: 1.1 };
    };
    world.run();
    expect(world.rows.get(3)?.attempts.map(({ rung }) => rung)).toEqual([0, 1]);
  });

  it('remembers its rungs when the state travels to another workflow run', () => {
    const world = new LadderWorld(classes(40, 3), needing(12, 20, 40)).run(({ rows }) => rows.size > 20);
    world.continueAsNew();
    const before = rungsOf(world);
    expect(before).toEqual([0, 1, 2]);
    const failures = world.sent.length;
    world.run();
    expect(rungsOf(world)).toEqual(before);
    const later = world.sent.slice(failures).filter(({ place, gpu }) => gpu !== LADDER[laneOf(place)]);
    expect(later).toEqual([]);
  });

  it('counts the runs of all classes against the limit of a GPU', () => {
    const world = new LadderWorld({ ...classes(20, 3), gpuConcurrency: { T4: 3 } }, needing(12, 12, 12));
    expect(world.sent).toHaveLength(3);
    world.run();
    expect(world.rows.size).toBe(60);
  });

  it('reserves for each attempt what a run on its own rung may cost', () => {
    const attemptCostNano = { T4: 1, A10G: 10, L40S: 100, H100: 1_000 };
    const world = new LadderWorld(
      { ...classes(20, 2), maxCostNano: 1_000_000, attemptCostNano },
      needing(12, 20),
    );
    const held = () => world.state.lanes.map(({ climb }) => climb?.rungs.map((rung) => rung.held.inFlight));
    expect(held()).toEqual([
      [2, 0, 0, 0],
      [2, 0, 0, 0],
    ]);
    // Rows that wait for their first run need the lowest rung.
    expect(progress(world.state).budget?.neededNano).toBe(40);
    world.run();
    expect(held()).toEqual([
      [0, 0, 0, 0],
      [0, 0, 0, 0],
    ]);
    expect(world.state.params.retries + LADDER.length - 1).toBe(mostRetries(world.state.params));
  });

  it('pauses when the next rung does not fit into the budget', () => {
    const attemptCostNano = { T4: 1, A10G: 1_000, L40S: 1_000, H100: 1_000 };
    const world = new LadderWorld({ ...classes(4, 1), maxCostNano: 500, attemptCostNano }, needing(20));
    world.run(({ state }) => state.pauses.has('budget'));
    expect(world.state.pauses.get('budget')?.reason).toContain('A10G');
    world.signal({ type: 'resume', limits: { maxCostNano: 'none' } }).run();
    expect(world.outcomeOf(placeIn(0, 1))).toBe('succeeded');
  });

  it('says in the log of the batch that rows start on a higher rung', () => {
    const world = new LadderWorld(classes(4, 2), needing(20, 20));
    const logged: string[] = [];
    world.run(({ state }) => {
      for (const { event, note = '' } of state.log)
        if (event === 'climbed' && !logged.includes(note)) logged.push(note);
      return false;
    });
    expect(logged).toContain('memory ran out on T4; rows of size class 1 and larger start on A10G');
  });

  it('says on which GPU each size class starts, the smallest first', () => {
    const lanes = [
      { size: 2, places: 4 },
      { size: 1, places: 4 },
      { gpu: 'H100', places: 1 },
    ];
    const world = new LadderWorld({ rows: 9, lanes, concurrency: 4 }, needing(20, 12, 12)).run();
    expect(progress(world.state).ladder).toEqual([
      { size: 1, gpu: 'T4', isProven: true },
      { size: 2, gpu: 'A10G', isProven: true },
    ]);
  });

  it('learns nothing from an attempt on no rung, such as one that a user sent to another GPU', () => {
    const { state } = new LadderWorld(classes(4, 2), needing(12, 12));
    relearn(state, 1, -1, { outcome: 'failed', failure: 'out-of-memory' });
    expect(state.lanes.map(({ climb }) => climb?.rung)).toEqual([0, 0]);
  });

  it('leaves a row where its repeated POST may find a run, when its class climbs', () => {
    const world = new LadderWorld({ ...classes(4, 1), concurrency: 2 }, needing(20));
    const [first, second] = world.sent.map(({ place }) => world.state.rows.get(place));
    if (first?.phase !== 'sending' || second?.phase !== 'sending') throw new Error('two rows are sent');
    put(world.state, { ...baseOf(first), phase: 'waiting', dueAt: 1e15, turnedAway: 'throttled' });
    put(world.state, { ...baseOf(second), phase: 'waiting', dueAt: 1e15 });
    relearn(world.state, first.place, 0, { outcome: 'timed-out' });
    expect([first, second].map(({ place }) => world.state.rows.get(place)?.rung)).toEqual([0, 1]);
  });

  it('does not find its concurrency automatically', () => {
    const { state } = new LadderWorld(classes(4, 1), needing(12));
    expect(changeLimits(state, { concurrency: 8, adaptive: true })).toEqual({
      ok: false,
      note: 'concurrency auto and ladder exclude each other: rows of several size classes share each GPU',
    });
  });
});
