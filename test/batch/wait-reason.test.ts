import { describe, expect, it } from 'vitest';
import { progress, waitReason } from '../../src/batch/shown/progress.ts';
import { STUCK_MS } from './scenes.ts';
import { World } from './world.ts';

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
    expect(reasonOf(world)).toMatch(/^2 attempts may have started runs; waiting for run lists/);
    world.pass(STUCK_MS);
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
    expect(waitReason({ ...idle, wantedPass: 2 })).toBe('waiting for the rows of pass 2');
    expect(waitReason({ ...idle, isLoadingPass: true })).toBe('waiting for the rows of pass 1');
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
