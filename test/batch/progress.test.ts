import { describe, expect, it } from 'vitest';
import { tallyUse } from '../../src/batch/accounting/tally.ts';
import { GPU_NAME_CHARS, GPU_NAMES_MAX } from '../../src/batch/bounds.ts';
import { acknowledge, ACKNOWLEDGED_MOST } from '../../src/batch/on-event/user-command.ts';
import { endRow } from '../../src/batch/on-event/end-row.ts';
import { pause } from '../../src/batch/pausing/pauses.ts';
import { PAUSE_KINDS } from '../../src/batch/pausing/pause-kinds.ts';
import { progress } from '../../src/batch/shown/progress.ts';
import { LANES_MAX, newLane, type Lane } from '../../src/batch/state/lanes.ts';
import { begin } from '../../src/batch/state/begin.ts';
import { paramsOf } from './params.ts';
import { running } from './scenes.ts';
import { World } from './world.ts';

const fullLane = (gpu: string): Lane => ({
  ...newLane(gpu, [{ first: 1, count: 1_000_000 }]),
  outstanding: 3_000,
});

function accountedFor({ state }: World): number {
  const { done, collecting, sending, running: on, unconfirmed, retrying, unsent } = progress(state);
  return done + collecting + sending + on + unconfirmed + retrying + unsent;
}

describe('progress', () => {
  it('progress accounts for every row at any moment', () => {
    const world = running({ rows: 40, concurrency: 6 });
    world.finish('run-0', 'succeeded');
    world.finish('run-1', 'failed');
    world.answer(0, ['dropped', 'not-sent']);
    expect(accountedFor(world)).toBe(40);
    world.pass(1_000);
    expect(world.collects).toHaveLength(1);
    expect(accountedFor(world)).toBe(40);
    world.apply({ type: 'cancel', running: false });
    while (world.closes.length === 0) {
      expect(accountedFor(world)).toBe(40);
      if (world.readings.length > 0) world.read();
      else if (world.sends.length > 0) world.answer(0, ['accepted']);
      else if (world.collects.length > 0) world.collect();
      else {
        for (const { runId } of world.service.runs) world.finish(runId, 'succeeded');
        world.pass(1_000);
      }
    }
    expect(accountedFor(world)).toBe(40);
    world.settle();
    expect(progress(world.state)).toMatchObject({ state: 'finished', done: 40, unsent: 0 });
  });

  it('progress names every reason for which the batch is paused, the oldest first, since when by the time that people know', () => {
    const state = begin(paramsOf(), 1, 1_000);
    state.trouble = 'nothing could be sent';
    expect(progress(state)).toMatchObject({ state: 'running', reason: 'nothing could be sent', pauses: [] });
    pause(state, 'store', 'ENOSPC');
    state.wallAt = 5_000;
    pause(state, 'blocked', '401');
    expect(progress(state)).toMatchObject({
      state: 'paused',
      reason: 'ENOSPC',
      pauses: [
        { kind: 'store', reason: 'ENOSPC', since: 1_000 },
        { kind: 'blocked', reason: '401', since: 5_000 },
      ],
    });
  });

  it('progress says nothing of a failure or of a reason if there is none', () => {
    const found = progress(begin(paramsOf(), 1, 0));
    expect(progress(new World().state)).not.toHaveProperty('reason');
    expect(found).not.toHaveProperty('lastFailure');
    expect(found).toMatchObject({ state: 'running', unsent: 10, costUsd: 0 });
  });

  it('progress names the last failure, also while other rows succeed after it', () => {
    const world = running({ rows: 3, concurrency: 3, retries: 0 });
    world.finish('run-0', 'succeeded');
    expect(progress(world.state)).not.toHaveProperty('lastFailure');
    world.finish('run-1', 'failed');
    world.finish('run-2', 'succeeded');
    expect(progress(world.state).lastFailure).toEqual({ place: 2, outcome: 'failed' });
  });

  it('progress takes at most 9.5 KB, whatever happens', () => {
    const state = begin(paramsOf({ batch: 'b'.repeat(60), rows: 1_000_000 }), 1, 1_800_000_000_000);
    const long = '"'.repeat(150);
    for (const kind of PAUSE_KINDS) pause(state, kind, long);
    for (let at = 0; at < 2 * GPU_NAMES_MAX; at += 1) {
      const name = `${at}`.padEnd(GPU_NAME_CHARS, 'x');
      state.tally = tallyUse(state.tally, name, {
        runs: 100_000,
        seconds: 1 / 3 + 10 ** 6,
        costUsd: 1 / 3 + 10 ** 5,
      });
    }
    state.lanes.push(...Array.from({ length: LANES_MAX }, (_, at) => fullLane(`${at}`.padEnd(60, 'y'))));
    for (let at = 0; at < 2 * ACKNOWLEDGED_MOST; at += 1) acknowledge(state, crypto.randomUUID());
    endRow(state, { place: 999_999, attempt: 21, tries: 21, past: [] }, { outcome: 'failed', reason: long });
    expect(Buffer.byteLength(JSON.stringify(progress(state)))).toBeLessThanOrEqual(9_500);
  });
});
