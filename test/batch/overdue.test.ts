import { describe, expect, it } from 'vitest';
import { step } from '../../src/batch/step.ts';
import { underWay } from './world.ts';

describe('a run that takes too long', () => {
  const late = { row: 1, attempt: 1, runId: 'run-0', reason: 'it did not start within 24 h' };

  it('is cancelled once, and its row is tried again when it has ended', () => {
    const world = underWay({ rows: 1, cap: 1, retries: 1 });
    const asked = step(world.state, [{ type: 'overdue', runs: [late, late] }], world.now).commands;
    expect(asked.filter(({ type }) => type === 'cancelRuns')).toEqual([
      { type: 'cancelRuns', runs: [{ row: 1, attempt: 1, runId: 'run-0' }] },
    ]);
    expect(world.sends).toHaveLength(0);
    world.finish('run-0', 'cancelled');
    expect(world.state.entries.get(1)).toMatchObject({
      phase: 'waiting',
      attempt: 2,
      past: [{ outcome: 'timed-out', reason: 'it did not start within 24 h, and was cancelled' }],
    });
  });

  it('has its own end where it came to one all the same, and is no other run', () => {
    const world = underWay({ rows: 1, cap: 1, retries: 0 });
    world.tell({
      type: 'overdue',
      runs: [
        { ...late, runId: 'other' },
        { ...late, row: 7 },
      ],
    });
    world.tell({ type: 'overdue', runs: [late] });
    const end = { row: 1, attempt: 1, runId: 'run-0', outcome: 'succeeded' } as const;
    world.tell({ type: 'runsEnded', by: 'look', ends: [end] });
    expect(world.collects[0]?.rows[0]?.attempts).toMatchObject([{ outcome: 'succeeded' }]);
  });
});
