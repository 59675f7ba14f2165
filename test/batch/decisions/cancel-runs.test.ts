import { describe, expect, it } from 'vitest';
import { CANCELS_IN_FLIGHT } from '../../../src/batch/bounds.ts';
import { CANCEL_RUNS } from '../../../src/batch/decisions/cancel-runs.ts';
import { running, runOfFirst } from '../scenes.ts';
import { World } from '../world.ts';

const cancelled = ({ cancels }: World): readonly string[] =>
  cancels.flatMap(({ runs }) => runs.map(({ runId }) => runId));

describe('cancel runs', () => {
  it('cancels are merged: a hundred runs a command, four commands in flight', () => {
    const world = running({ rows: 1_000, concurrency: 950 });
    world.apply({ type: 'cancel', running: true });
    expect(world.cancels.map(({ runs }) => runs.length)).toEqual(
      Array.from({ length: CANCELS_IN_FLIGHT }, () => CANCEL_RUNS),
    );
    const asked = new Set<string>();
    while (world.cancels.length > 0) {
      for (const { runId } of world.cancels[0]?.runs ?? []) asked.add(runId);
      world.cancel();
      expect(world.cancels.length).toBeLessThanOrEqual(CANCELS_IN_FLIGHT);
    }
    expect(asked.size).toBe(950);
    expect(world.state.cancels.size).toBe(0);
  });

  it('cancels name no run that is named by another command in flight', () => {
    const world = running({ rows: 10, concurrency: 5 });
    world.apply({ type: 'runsSeen', runs: [runOfFirst('other')] });
    world.apply({ type: 'cancel', running: true });
    expect(cancelled(world).toSorted()).toEqual(['other', 'run-0', 'run-1', 'run-2', 'run-3', 'run-4']);
    expect(world.cancels).toHaveLength(2);
  });

  it('cancels ask also for the runs that are accepted, or turn up, after the user cancelled', () => {
    const world = new World({ rows: 2, concurrency: 2 });
    world.apply({ type: 'cancel', running: true });
    world.answer(0, ['accepted', 'lost']);
    expect(cancelled(world)).toEqual(['run-0']);
    world.read();
    expect(cancelled(world)).toEqual(['run-0', 'run-1']);
  });

  it('cancels are asked for again after a continue-as-new, by the rows that run and for duplicates', () => {
    const world = running({ rows: 4, concurrency: 4 });
    world.apply({ type: 'cancel', running: true });
    world.apply({ type: 'runsSeen', runs: [runOfFirst('other')] });
    const before = cancelled(world).toSorted();
    world.continueAsNew();
    expect(cancelled(world).toSorted()).toEqual(before);
    world.cancel();
    world.finish('run-0', 'cancelled');
    world.settle();
    expect(world.problems).toEqual([]);
    expect(world.state.tally.outcomes.cancelled).toBe(4);
  });

  it('cancels are answered once: an answer that is not awaited changes nothing', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.apply({ type: 'runsCancelled', id: 99 });
    expect(world.runOf(1)).toBe('run-0');
  });
});
