import { describe, expect, it } from 'vitest';
import { CANCEL_PATIENCE_MS } from '../../../src/batch/decisions/cancel-runs.ts';
import { running, runOfFirst } from '../scenes.ts';
import type { World } from '../world.ts';

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
