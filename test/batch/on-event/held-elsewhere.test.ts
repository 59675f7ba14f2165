// A batch that another command is rebuilding.

import { describe, expect, it } from 'vitest';
import { LOG, PASS, type Event } from '../../../src/batch/events.ts';
import { PROBE_MS } from '../../../src/batch/pausing/pauses.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { World } from '../world.ts';

const REASON = 'the batch is being rebuilt by the state folder /b on vm';

/** A batch of the version that knows the pause, or of an earlier one. */
function worldOf(rows: number, version = 6): World {
  const world = new World({ rows, concurrency: 2 });
  Object.assign(world.state, { version });
  hold(world, 'elsewhere');
  return world;
}

const refuse = (world: World): void => {
  const group = world.sends.shift()?.group ?? 0;
  world.apply({
    type: 'groupEnded',
    group,
    results: [],
    rest: 'not-sent',
    reason: REASON,
    heldElsewhere: REASON,
  });
};
const unstored = (item: number): Event => ({
  type: 'storeFailed',
  item,
  reason: REASON,
  heldElsewhere: REASON,
});
/** The log is refused as well, until the batch is held here again. */
const hold = (world: World, where: 'here' | 'elsewhere'): void => {
  world.edit = (event) => (where === 'elsewhere' && event.type === 'logKept' ? unstored(LOG) : event);
};
const kinds = (world: World): readonly string[] => progress(world.state).pauses.map(({ kind }) => kind);

describe('a batch whose workers refuse to send because it is rebuilt elsewhere', () => {
  it('pauses with that reason, and does not count it as a failure of the service', () => {
    const world = worldOf(3);
    refuse(world);
    expect(progress(world.state)).toMatchObject({
      state: 'paused',
      reason: REASON,
      pauses: [{ kind: 'elsewhere', reason: REASON }],
    });
    expect([world.state.consecutiveFailures, world.sends.length]).toEqual([0, 0]);
  });

  it('probes with its log, and continues when that is taken', () => {
    const world = worldOf(3);
    refuse(world);
    world.pass(PROBE_MS + 1_000);
    expect([kinds(world), world.sends]).toEqual([['elsewhere'], []]);
    hold(world, 'here');
    world.pass(2 * PROBE_MS);
    expect(kinds(world)).toEqual([]);
    world.settle();
    expect(world.state.tally.outcomes.succeeded).toBe(3);
  });

  it('continues when a user resumes it', () => {
    const world = worldOf(3);
    refuse(world);
    world.apply({ type: 'resume', commandId: 'a' });
    expect([kinds(world), world.sends.length]).toEqual([[], 1]);
  });

  it('has the same rows to send afterwards, none of them as another attempt', () => {
    const world = worldOf(2);
    refuse(world);
    world.apply({ type: 'resume', commandId: 'a' });
    expect(world.sends[0]?.attempts).toEqual([
      { place: 1, attempt: 1 },
      { place: 2, attempt: 1 },
    ]);
  });

  it('in an earlier version takes it for a failure to send', () => {
    const world = worldOf(3, 5);
    refuse(world);
    expect([kinds(world), world.state.consecutiveFailures]).toEqual([[], 1]);
  });
});

describe('a batch whose workers refuse to store because it is rebuilt elsewhere', () => {
  const collecting = (version?: number): World => {
    const world = worldOf(1, version);
    world.answer(0, ['accepted']);
    world.finish('run-0', 'succeeded');
    expect(world.collects).toHaveLength(1);
    world.collects.length = 0;
    return world;
  };

  it('pauses with that reason, and stores the part later', () => {
    const world = collecting();
    world.apply(unstored(1));
    expect([kinds(world), progress(world.state).reason]).toEqual([['elsewhere'], REASON]);
    expect(world.collects).toEqual([]);
    world.pass(PROBE_MS);
    expect(world.collects).toHaveLength(1);
    hold(world, 'here');
    world.collect();
    expect(kinds(world)).toEqual([]);
    world.settle();
    expect(world.state.finished).toBe(true);
  });

  it('collects no further part until then', () => {
    const world = worldOf(2);
    world.answer(0, ['accepted']);
    world.finish('run-0', 'succeeded');
    world.pass(2_000);
    world.collects.length = 0;
    world.apply(unstored(1));
    world.finish('run-1', 'succeeded');
    world.pass(PROBE_MS - 1);
    expect(world.collects).toEqual([]);
  });

  it('in an earlier version takes it for a failure of the folder, with the same reason', () => {
    const world = collecting(5);
    world.apply(unstored(1));
    expect(progress(world.state).pauses).toMatchObject([
      { kind: 'store', reason: expect.stringContaining(REASON) as string },
    ]);
  });

  it('goes on when its log is taken again, although it has nothing to send', () => {
    const world = worldOf(1);
    world.answer(0, ['accepted']);
    world.apply({ type: 'scale', commandId: 'a', limits: { concurrency: 3 } });
    world.pass(5_000);
    expect(kinds(world)).toEqual(['elsewhere']);
    hold(world, 'here');
    world.pass(2 * PROBE_MS);
    expect(kinds(world)).toEqual([]);
  });

  it('goes on when a pass is read', () => {
    const world = worldOf(1);
    world.answer(0, ['accepted']);
    world.apply({ type: 'retry', commandId: 'r', pass: 2 });
    world.loads.length = 0;
    world.apply(unstored(PASS));
    expect(kinds(world)).toEqual(['elsewhere']);
    world.pass(PROBE_MS);
    expect(world.loads).toHaveLength(1);
    world.apply({ type: 'passLoaded', pass: 2, segments: [] });
    expect(kinds(world)).toEqual([]);
  });
});
