import { describe, expect, it } from 'vitest';
import { rowsDone } from '../../../src/batch/accounting/tally.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { running } from '../scenes.ts';
import { World } from '../world.ts';

describe('close', () => {
  it('closing comes once, after the last row is collected', () => {
    const world = running({ rows: 2, concurrency: 2 });
    world.finish('run-0', 'succeeded');
    world.finish('run-1', 'succeeded');
    expect(world.closes).toEqual([]);
    while (world.collects.length > 0) world.collect();
    world.apply({ type: 'woke' });
    expect(world.closes).toHaveLength(1);
    world.close();
    expect(progress(world.state)).toMatchObject({ state: 'finished', done: 2 });
  });

  it('closing waits for cancels that the service was not asked for yet', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.apply({ type: 'runsSeen', runs: [{ place: 1, attempt: 1, runId: 'other' }] });
    world.finish('run-0', 'succeeded');
    world.collect();
    expect(world.closes).toEqual([]);
    world.cancel();
    expect(world.closes).toHaveLength(1);
  });

  it('closing waits for the response of a group whose runs have all ended', () => {
    const world = new World({ rows: 1, concurrency: 1 });
    world.post(0, ['accepted']);
    world.finish('run-0', 'succeeded');
    world.collect();
    expect(world.closes).toEqual([]);
    world.answer(0, []);
    expect(world.closes).toHaveLength(1);
  });

  it.each([0, -86_400_000])(
    "closing reads the lists back to the start of the batch, although Temporal's clock was set by %i ms meanwhile",
    (setMs) => {
      const world = running({ rows: 1, concurrency: 1 });
      world.pass(7_000);
      world.jump(setMs);
      world.finish('run-0', 'succeeded');
      world.collect();
      expect(world.closes[0]?.back).toEqual({ agoMs: 7_000, wallAt: world.wallAt });
    },
  );

  it('closing is repeated for a run that turned up meanwhile, and counts no row twice', () => {
    const world = running({ rows: 3, concurrency: 1 });
    world.apply({ type: 'cancel', running: false });
    world.finish('run-0', 'succeeded');
    world.collect();
    world.apply({ type: 'runsSeen', runs: [{ place: 1, attempt: 1, runId: 'late' }] });
    expect(world.closes.map(({ evidence }) => evidence.length)).toEqual([0]);
    world.close();
    expect(world.closes.map(({ evidence }) => evidence.map(({ runId }) => runId))).toEqual([['late']]);
    world.close();
    expect(world.state.finished).toBe(true);
    expect(rowsDone(world.state.tally)).toBe(3);
  });

  it('closing is not begun for a sheet whose rows are all still to come', () => {
    const world = new World({ rows: 1, concurrency: 1 });
    world.answer(0, ['blocked']);
    expect(world.closes).toEqual([]);
  });
});
