import { describe, expect, it } from 'vitest';
import { CANCELS_IN_FLIGHT } from '../../../src/batch/bounds.ts';
import { CANCEL_PATIENCE_MS, CANCEL_RUNS } from '../../../src/batch/decisions/cancel-runs.ts';
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

const overdue = (world: World, rows: number): void => {
  const runs = Array.from({ length: rows }, (_, at) => ({
    place: at + 1,
    attempt: 1,
    runId: `run-${at}`,
    reason: 'it hangs',
  }));
  world.apply({ type: 'runsOverdue', runs });
};

describe('abandoned runs', () => {
  it('an overdue run is abandoned a minute after the service was asked to cancel it: its row ends as unknown and its slot is free', () => {
    const world = running({ rows: 2, concurrency: 1 });
    overdue(world, 1);
    world.pass(10_000);
    world.cancel(false);
    world.pass(CANCEL_PATIENCE_MS - 1);
    expect(world.runOf(1)).toBe('run-0');
    world.pass(1);
    expect(world.sends.at(-1)?.attempts).toEqual([{ place: 2, attempt: 1 }]);
    world.pass(1_000);
    expect(world.collects[0]?.rows[0]?.attempts).toEqual([
      {
        attempt: 1,
        outcome: 'unknown',
        runId: 'run-0',
        reason: 'it hangs, and could not be cancelled: it may still run',
      },
    ]);
  });

  it('an overdue run is not abandoned before the service was asked to cancel it', () => {
    const world = running({ rows: 1, concurrency: 1 });
    overdue(world, 1);
    world.pass(10 * CANCEL_PATIENCE_MS);
    expect(world.runOf(1)).toBe('run-0');
  });

  it('an overdue run is not abandoned while runs cannot be read: its end may be there to see', () => {
    const world = running({ rows: 1, concurrency: 1 });
    overdue(world, 1);
    world.cancel(false);
    world.apply({ type: 'serviceRead', reason: '401' });
    world.pass(2 * CANCEL_PATIENCE_MS);
    expect(world.runOf(1)).toBe('run-0');
    world.apply({ type: 'serviceRead' });
    expect(world.runOf(1)).toBeUndefined();
  });

  it('an overdue run has its time again after a continue-as-new, as it is cancelled again', () => {
    const world = running({ rows: 1, concurrency: 1 });
    overdue(world, 1);
    world.cancel(false);
    world.pass(CANCEL_PATIENCE_MS - 1);
    world.continueAsNew();
    expect(world.cancels.map(({ runs }) => runs)).toEqual([[runOfFirst('run-0')]]);
    world.cancel(false);
    world.pass(CANCEL_PATIENCE_MS - 1);
    expect(world.runOf(1)).toBe('run-0');
    world.pass(1);
    expect(world.runOf(1)).toBeUndefined();
  });

  it('thousands of overdue runs are abandoned in one step when runs can be read again', () => {
    const world = running({ rows: 1_500, concurrency: 1_500 });
    overdue(world, 1_500);
    while (world.cancels.length > 0) world.cancel(false);
    world.apply({ type: 'serviceRead', reason: '401' });
    world.pass(2 * CANCEL_PATIENCE_MS);
    world.apply({ type: 'serviceRead' });
    expect(world.state.phases.running).toBe(0);
    expect(world.problems).toEqual([]);
  });
});
