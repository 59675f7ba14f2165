import { describe, expect, it } from 'vitest';
import { tallyUse } from '../../src/batch/accounting/tally.ts';
import { GPU_NAME_CHARS, MAX_GPU_NAMES } from '../../src/batch/bounds.ts';
import { endRow } from '../../src/batch/state/put-row.ts';
import { acknowledge, MAX_ACKNOWLEDGED } from '../../src/batch/on-event/user-command.ts';
import { PAUSE_KINDS } from '../../src/batch/pausing/pause-kinds.ts';
import { pause } from '../../src/batch/pausing/pauses.ts';
import { loadByGpu } from '../../src/batch/shown/gpu-load.ts';
import { progress } from '../../src/batch/shown/progress.ts';
import { waitReason } from '../../src/batch/shown/wait-reason.ts';
import { begin } from '../../src/batch/state/state.ts';
import { type Lane, MAX_LANES, newClimbingLane, newLane } from '../../src/batch/state/lanes.ts';
import { paramsOf } from './params.ts';
import { ASKED_MS, running } from './scenes.ts';
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
    const shown = progress(begin(paramsOf(), 1, 0));
    expect(progress(new World().state)).not.toHaveProperty('reason');
    expect(shown).not.toHaveProperty('lastFailure');
    expect(shown).toMatchObject({ state: 'running', unsent: 10, costUsd: 0 });
  });

  it('progress names the last failure, also while other rows succeed after it', () => {
    const world = running({ rows: 3, concurrency: 3, retries: 0 });
    world.finish('run-0', 'succeeded');
    expect(progress(world.state)).not.toHaveProperty('lastFailure');
    world.finish('run-1', 'failed');
    world.finish('run-2', 'succeeded');
    expect(progress(world.state).lastFailure).toEqual({ place: 2, outcome: 'failed' });
  });

  it('progress takes at most 16 KB, whatever happens', () => {
    const state = begin(paramsOf({ batch: 'b'.repeat(60), rows: 1_000_000 }), 1, 1_800_000_000_000);
    const long = '"'.repeat(150);
    for (const kind of PAUSE_KINDS) pause(state, kind, long);
    for (let at = 0; at < 2 * MAX_GPU_NAMES; at += 1) {
      const name = `${at}`.padEnd(GPU_NAME_CHARS, 'x');
      state.tally = tallyUse(state.tally, name, {
        runs: 100_000,
        seconds: 1 / 3 + 10 ** 6,
        costUsd: 1 / 3 + 10 ** 5,
      });
    }
    state.lanes.push(...Array.from({ length: MAX_LANES }, (_, at) => fullLane(`${at}`.padEnd(60, 'y'))));
    for (let at = 0; at < 2 * MAX_ACKNOWLEDGED; at += 1)
      acknowledge(state, crypto.randomUUID(), { ok: true, note: `notify ${'x'.repeat(2_000)}` });
    endRow(state, { place: 999_999, attempt: 21, tries: 21, past: [] }, { outcome: 'failed', reason: long });
    expect(Buffer.byteLength(JSON.stringify(progress(state)))).toBeLessThanOrEqual(16_000);
  });
});

const places = (count: number) => [{ first: 1, count }];
const busy = (lane: Lane, outstanding: number): Lane => ({ ...lane, outstanding });

describe('the load by GPU', () => {
  it('adds up lanes of the same GPU, and keeps rows that ask for none apart', () => {
    const lanes = [
      busy(newLane('T4', places(5)), 2),
      busy(newLane('T4', places(1)), 3),
      busy(newLane(undefined, places(4)), 1),
    ];
    expect(loadByGpu(lanes)).toEqual([
      { gpu: 'T4', outstanding: 5, waiting: 0, unsent: 6 },
      { outstanding: 1, waiting: 0, unsent: 4 },
    ]);
  });

  it('counts the unsent rows of a ladder on the rung on which they will start', () => {
    const lane = newClimbingLane(1, ['T4', 'H100'], places(7));
    lane.climb.rung = 1;
    for (const rung of lane.climb.rungs) rung.outstanding = 1;
    expect(loadByGpu([lane])).toEqual([
      { gpu: 'T4', outstanding: 1, waiting: 0, unsent: 0 },
      { gpu: 'H100', outstanding: 1, waiting: 0, unsent: 7 },
    ]);
  });

  it('puts GPUs beyond the maximum together and loses no row', () => {
    const lanes = Array.from({ length: 2 * MAX_GPU_NAMES }, (_, at) => newLane(`gpu-${at}`, places(1)));
    const loads = loadByGpu(lanes);
    expect(loads).toHaveLength(MAX_GPU_NAMES + 1);
    expect(loads.at(-1)).toMatchObject({ gpu: 'other', unsent: MAX_GPU_NAMES });
  });

  it('agrees with the counts of the whole batch', () => {
    const world = running({ rows: 40, concurrency: 6 });
    world.finish('run-1', 'failed');
    world.answer(0, ['dropped', 'not-sent']);
    const { byGpu = [], sending, running: on, unconfirmed, retrying, unsent } = progress(world.state);
    const sumOf = (of: 'outstanding' | 'waiting' | 'unsent'): number =>
      byGpu.reduce((sum, load) => sum + load[of], 0);
    expect([sumOf('outstanding'), sumOf('waiting'), sumOf('unsent')]).toEqual([
      sending + on + unconfirmed,
      retrying,
      unsent,
    ]);
  });
});

const reasonOf = ({ state }: World): string | undefined => progress(state).reason;

describe('a batch that waits', () => {
  it('for runs that may end names no reason', () => {
    const world = new World({ rows: 2, concurrency: 2 });
    expect(reasonOf(world)).toBeUndefined();
    world.answer(0, ['accepted']);
    expect(reasonOf(world)).toBeUndefined();
  });

  it('for the cancel of runs that took too long says so', () => {
    const world = new World({ rows: 1, concurrency: 1 });
    world.answer(0, ['accepted']);
    const [{ runId } = { runId: '' }] = world.service.runs;
    world.apply({ type: 'runsOverdue', runs: [{ place: 1, attempt: 1, runId, reason: 'too long' }] });
    expect(reasonOf(world)).toBe('waiting for the service to cancel 1 run that took too long');
  });

  it('for run lists says how many attempts they decide about', () => {
    const world = new World({ rows: 8, concurrency: 2 });
    world.answer(0, ['dropped']);
    expect(reasonOf(world)).toMatch(/^2 attempts may have started runs \(no answer\); waiting for run lists/);
    world.passUnread(ASKED_MS);
    expect(progress(world.state).state).toBe('paused');
  });

  it('for files says how many rows they belong to, and why they could not be fetched, also in the log', () => {
    const world = new World({ rows: 2, concurrency: 2 });
    world.answer(0, ['accepted']);
    for (const { runId } of world.service.runs) world.finish(runId, 'succeeded');
    expect(reasonOf(world)).toBe('waiting for files: 2 rows');
    world.collect(0, 'file');
    expect(reasonOf(world)).toMatch(/^waiting for files: 2 rows to try again: ./);
    expect(world.state.log.map(({ event }) => event)).toContain('files-deferred');
    expect(waitReason({ ...world.state, filesFault: undefined })).toBe(
      'waiting for files: 2 rows to try again',
    );
    while (world.state.deferred.length > 0) {
      world.pass(60_000);
      world.collect(0, 'fetched');
    }
    expect(reasonOf(world)).toBe('waiting for the results to be written');
    expect(world.state.filesFault).toBeUndefined();
    world.close();
    expect(reasonOf(world)).toBeUndefined();
  });

  it('for its notifications, another attempt or the rate says so', () => {
    const ending = new World({ rows: 1, concurrency: 1, notify: ['slack:a'] });
    ending.answer(0, ['rejected']);
    ending.collect();
    ending.close();
    expect(reasonOf(ending)).toBe('waiting for notifications');
    const again = new World({ rows: 1, concurrency: 1, retries: 1 });
    again.answer(0, ['accepted']);
    again.finish(again.service.runs[0]?.runId ?? '', 'failed');
    expect(reasonOf(again)).toBe('waiting for another attempt of 1 row');
    const slow = new World({ rows: 3, concurrency: 3, startsPerMinute: 1 });
    slow.answer(0, ['rejected']);
    expect(reasonOf(slow)).toBe('waiting for --rate');
  });

  it('for a pass, a new workflow run or a delay says so', () => {
    const world = new World({ rows: 4, concurrency: 1 });
    const { state } = world;
    const idle = { ...state, rows: new Map(), phases: { ...state.phases, sending: 0 } };
    expect(waitReason({ ...idle, wantedPass: 2 })).toBe('waiting for rows that were added or sent again');
    expect(waitReason({ ...idle, isLoadingPass: true })).toBe(
      'waiting for rows that were added or sent again',
    );
    expect(waitReason({ ...idle, isStopping: true })).toBe('waiting for a new workflow run');
    expect(waitReason(idle)).toBe('waiting to send its next rows');
    const sent = { ...idle, cancelling: 'unsent' } as const;
    expect(waitReason(sent)).toBe('waiting for the end of 1 group of requests');
    const done = { ...sent, groups: new Map() };
    expect(waitReason(done)).toBeUndefined();
    expect(waitReason({ ...done, loggingNow: 1 })).toBe('waiting for its folder to be written');
    const cancels = new Map([['run', { place: 1, attempt: 1, runId: 'run' }]]);
    expect(waitReason({ ...done, cancels })).toBe('waiting for the service to cancel 1 run');
  });
});
