import { describe, expect, it } from 'vitest';
import { LOG, MAX_LOG } from '../../src/batch/events.ts';
import { running } from './scenes.ts';

describe('the log of a batch', () => {
  it('has what happens during the close: it is written after it, in another file, and then the batch ends', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.finish('run-0', 'succeeded');
    world.collect();
    expect(world.closes).toMatchObject([{ log: [], logNumber: 1 }]);
    world.apply({ type: 'resume', by: 'ann@desk' });
    world.pass(5_000);
    expect(world.logged).toEqual([]);
    world.close();
    expect(world.state.finished).toBe(false);
    world.pass(5_000);
    expect(world.logged).toMatchObject([{ event: 'resumed', by: 'ann@desk' }]);
    expect([world.closes, world.state.logFiles, world.state.finished]).toEqual([[], 2, true]);
  });

  it('names each pause and command, who gave it, and what changed', () => {
    const world = running({ rows: 20, concurrency: 2 });
    const at = world.wallAt;
    world.apply({ type: 'pause', commandId: 'p', by: 'ann@desk', reason: 'lunch' });
    world.apply({ type: 'scale', commandId: 's', by: 'bob@desk', limits: { concurrency: 1 } });
    world.apply({ type: 'resume', commandId: 'r', by: 'ann@desk' });
    world.apply({ type: 'cancel', running: true, by: 'ann@desk', reason: 'wrong sheet' });
    world.pass(2_000);
    expect(world.logged).toEqual([
      { at, event: 'paused', kind: 'user', reason: 'paused by ann@desk: lunch' },
      {
        at,
        event: 'scaled',
        by: 'bob@desk',
        note: 'concurrency 2 → 1; 2 runs are outstanding, and none starts before that is below 1',
        limits: { concurrency: 1 },
      },
      { at, event: 'resumed', by: 'ann@desk' },
      { at, event: 'cancelled', running: true, by: 'ann@desk', reason: 'wrong sheet' },
    ]);
  });

  it('is written by the close, if it did not wait long enough before', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.apply({ type: 'scale', limits: { concurrency: 3 } });
    world.finish('run-0', 'succeeded');
    world.collect();
    expect(world.closes[0]).toMatchObject({ log: [{ event: 'scaled' }], logNumber: 1 });
  });

  it('keeps its newest entries when the store takes none, and writes them when it does', () => {
    const world = running({ rows: 3, concurrency: 1 });
    world.edit = (event) =>
      event.type === 'logKept' ? { type: 'storeFailed', item: LOG, reason: 'ENOSPC' } : event;
    for (let at = 0; at < MAX_LOG + 20; at += 1)
      world.apply({ type: 'scale', limits: { concurrency: 1 + (at % 2) } });
    world.pass(5_000);
    expect([world.state.log.length, [...world.state.pauses.keys()]]).toEqual([MAX_LOG, ['store']]);
    world.edit = (event) => event;
    for (let turn = 0; turn < 5; turn += 1) world.pass(60_000);
    expect([world.state.log.length, world.state.pauses.size]).toEqual([0, 0]);
  });
});
