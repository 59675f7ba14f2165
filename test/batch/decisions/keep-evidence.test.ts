import { describe, expect, it } from 'vitest';
import { EVIDENCE_RUNS } from '../../../src/batch/decisions/store-writes.ts';
import { PROBE_MS } from '../../../src/batch/pausing/pauses.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { running } from '../scenes.ts';
import type { World } from '../world.ts';

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
