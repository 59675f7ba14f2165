import { describe, expect, it } from 'vitest';
import { PROBE_MS } from '../../../src/batch/pausing/pauses.ts';
import { collect } from '../../../src/batch/decisions/collect.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { STUCK_MS, running } from '../scenes.ts';
import { World } from '../world.ts';

const kinds = (world: World): readonly string[] => [...world.state.pauses.keys()];

describe('blocked and unreachable', () => {
  it.each([
    ['no row is left to send', 1],
    ['unconfirmed attempts hold every slot', 3],
  ])('a pause that ends with a probe ends where %s: nothing could probe any more', (_, rows) => {
    const world = new World({ rows, concurrency: 1, unconfirmed: { rule: 'ask', afterMs: 0 } });
    world.answer(0, ['blocked']);
    world.pass(PROBE_MS);
    world.answer(0, ['dropped']);
    expect(progress(world.state)).toMatchObject({ state: 'running', unconfirmed: 1 });
    // The attempt itself stays unconfirmed.
    world.pass(STUCK_MS);
    expect(kinds(world)).toEqual(['unconfirmed']);
  });

  it('a pause that ends with a probe stays while a row waits for another attempt', () => {
    const world = new World({ rows: 2, concurrency: 2 });
    world.answer(0, ['accepted', 'blocked']);
    expect(kinds(world)).toEqual(['blocked']);
  });
});

describe('unreadable', () => {
  it('a pause because runs cannot be read ends when no run is left: no poll would ever say that they can be read again', () => {
    const world = running({ rows: 5, concurrency: 2 });
    world.apply({ type: 'serviceRead', reason: 'connect ECONNREFUSED' });
    expect(progress(world.state)).toMatchObject({
      state: 'paused',
      reason: 'runs cannot be read: connect ECONNREFUSED',
    });
    world.finish('run-0', 'succeeded');
    expect(progress(world.state)).toMatchObject({ state: 'paused', running: 1, sending: 0 });
    world.finish('run-1', 'succeeded');
    expect(progress(world.state)).toMatchObject({ state: 'running', sending: 2 });
    world.settle();
    expect(world.state.tally.outcomes.succeeded).toBe(5);
  });

  it('a pause because runs cannot be read ends when a poll can read them', () => {
    const world = running({ rows: 9, concurrency: 2 });
    world.apply({ type: 'serviceRead', reason: '401: Revoked token' });
    world.finish('run-0', 'succeeded');
    expect(world.sends).toEqual([]);
    world.apply({ type: 'serviceRead' });
    expect(progress(world.state)).toMatchObject({ state: 'running', sending: 1 });
  });
});

describe('files', () => {
  /** Row 1 waits for its files, and the batch is paused for their host. */
  function hostAway(): World {
    const world = running({ rows: 3, concurrency: 1 });
    world.finish('run-0', 'succeeded');
    world.answer(0, ['rejected']);
    world.end([], 'not-sent');
    while (!world.state.pauses.has('files')) {
      world.collect(0, 'host');
      if (!world.state.pauses.has('files')) world.pass(world.waitFor(collect));
    }
    return world;
  }

  it('a pause because no file can be fetched ends when no row waits for its files any more: no part would ever show that the host is back', () => {
    const world = hostAway();
    // The host works again but lacks the file.
    while (!world.folder.rows.has(1)) {
      expect(kinds(world)).toEqual(['files']);
      world.pass(world.waitFor(collect));
      world.collect(0, 'file');
    }
    expect(world.folder.outcomes.get(1)).toBe('failed');
    expect(kinds(world)).toEqual([]);
    world.settle();
    expect(world.state.finished).toBe(true);
  });

  it('a pause because no file can be fetched stays while a part is in flight that may come back with rows', () => {
    const world = hostAway();
    world.pass(world.waitFor(collect));
    expect([world.state.deferred.length, world.collects.length]).toEqual([0, 1]);
    expect(kinds(world)).toEqual(['files']);
  });
});
