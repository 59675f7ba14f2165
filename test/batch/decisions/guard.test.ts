import { describe, expect, it } from 'vitest';
import { CLOCK_DOUBT_MS } from '../../../src/batch/clock.ts';
import { GUARD_ROWS_LEAST } from '../../../src/batch/decisions/pause.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { running, unconfirmed } from '../scenes.ts';
import type { World } from '../world.ts';

/** Ends the next run of the batch. */
function endNext(world: World, end: 'failed' | 'succeeded'): void {
  while (world.sends.length > 0) world.answer(0, ['accepted']);
  const next = world.service.runs.find(({ status }) => status === 'open');
  if (next !== undefined) world.finish(next.runId, end);
}
const kinds = ({ state }: World): readonly string[] => [...state.pauses.keys()];

describe('--fail-after', () => {
  it('pauses when so many rows ended without success, and runs that were sent finish', () => {
    const world = running({ rows: 100, concurrency: 4, retries: 0, failAfter: { rows: 3 } });
    for (let row = 0; row < 2; row += 1) endNext(world, 'failed');
    expect(kinds(world)).toEqual([]);
    endNext(world, 'failed');
    expect(kinds(world)).toEqual(['failures']);
    expect(progress(world.state).reason).toBe('3 of 3 rows ended without success; --fail-after is 3 rows');
    for (let row = 0; row < 3; row += 1) endNext(world, 'succeeded');
    world.pass(600_000);
    expect([world.sends, world.state.phases.running]).toEqual([[], 0]);
  });

  it('counts a row only when its retries are used up', () => {
    const world = running({ rows: 3, concurrency: 1, retries: 1, failAfter: { rows: 1 } });
    for (let row = 0; row < 3; row += 1) endNext(world, 'failed');
    expect(kinds(world)).toEqual([]);
    world.pass(60_000);
    endNext(world, 'failed');
    expect(kinds(world)).toEqual(['failures']);
  });

  it('takes a share of the rows that have ended, when they are enough', () => {
    const world = running({ rows: 200, concurrency: 4, retries: 0, failAfter: { share: 0.1 } });
    endNext(world, 'failed');
    endNext(world, 'failed');
    for (let row = 3; row < GUARD_ROWS_LEAST; row += 1) endNext(world, 'succeeded');
    expect(kinds(world)).toEqual([]);
    endNext(world, 'succeeded');
    expect(kinds(world)).toEqual(['failures']);
    expect(progress(world.state).reason).toContain(
      '2 of 20 rows ended without success; --fail-after is 10 % of',
    );
  });

  it('does not pause below the share, nor a batch that has nothing left to send', () => {
    const world = running({ rows: 30, concurrency: 4, retries: 0, failAfter: { share: 0.5 } });
    for (let row = 0; row < 30; row += 1) endNext(world, row % 3 === 0 ? 'failed' : 'succeeded');
    expect(kinds(world)).toEqual([]);
    const last = running({ rows: 2, concurrency: 2, retries: 0, failAfter: { rows: 1 } });
    endNext(last, 'failed');
    expect(kinds(last)).toEqual([]);
  });

  it('counts anew after a resume', () => {
    const world = running({ rows: 100, concurrency: 4, retries: 0, failAfter: { rows: 2 } });
    endNext(world, 'failed');
    endNext(world, 'failed');
    world.apply({ type: 'resume', commandId: 'r' });
    endNext(world, 'failed');
    expect(kinds(world)).toEqual([]);
    world.continueAsNew();
    endNext(world, 'failed');
    expect(kinds(world)).toEqual(['failures']);
  });

  it('can be changed and removed while the batch runs', () => {
    const world = running({ rows: 100, concurrency: 4, retries: 0, failAfter: { rows: 2 } });
    world.apply({ type: 'scale', commandId: 's', limits: { failAfter: { share: 0.25 } } });
    expect(world.state.acknowledgements.at(-1)?.note).toBe('fail-after 2 rows → 25 % of the rows');
    world.apply({ type: 'scale', commandId: 't', limits: { failAfter: 'none' } });
    expect(world.state.acknowledgements.at(-1)?.note).toBe('fail-after 25 % of the rows → none');
    for (let row = 0; row < 30; row += 1) endNext(world, 'failed');
    expect(kinds(world)).toEqual([]);
  });

  it('does not count cancelled rows', () => {
    const world = running({ rows: 4, concurrency: 2, retries: 0, failAfter: { rows: 1 } });
    world.apply({ type: 'cancel', running: true });
    world.settle();
    expect([world.state.endings.bad, world.state.finished]).toEqual([0, true]);
  });
});

describe('--deadline', () => {
  const HOUR_MS = 3_600_000;
  const world = (): World => {
    const made = running({ rows: 10, concurrency: 2 });
    made.apply({ type: 'scale', commandId: 's', limits: { deadlineAt: made.wallAt + HOUR_MS } });
    return made;
  };

  it('pauses at its time, also if nothing else happens', () => {
    const batch = world();
    batch.pass(HOUR_MS - 1);
    expect(kinds(batch)).toEqual([]);
    batch.pass(1);
    expect(kinds(batch)).toEqual(['deadline']);
    expect(progress(batch.state).reason).toMatch(/^the deadline \d{4}-.+Z has passed$/);
    batch.finish('run-0', 'succeeded');
    expect(batch.sends).toEqual([]);
  });

  it('is gone when the user resumes after it, and is kept before it', () => {
    const late = world();
    late.pass(HOUR_MS);
    late.finish('run-0', 'succeeded');
    late.apply({ type: 'resume', commandId: 'r' });
    expect([late.sends.length, progress(late.state).deadlineAt]).toEqual([1, undefined]);
    const passed = world();
    passed.apply({ type: 'resume', commandId: 'r', limits: { deadlineAt: passed.wallAt - 1 } });
    expect(kinds(passed)).toEqual(['deadline']);
    const early = world();
    early.apply({ type: 'resume', commandId: 'r' });
    early.pass(HOUR_MS);
    expect(kinds(early)).toEqual(['deadline']);
  });

  it('is gone when the user resumes, also if the time was set back meanwhile', () => {
    const batch = world();
    batch.pass(HOUR_MS);
    batch.jump(-2 * HOUR_MS);
    batch.apply({ type: 'resume', commandId: 'r' });
    expect(progress(batch.state).deadlineAt).toBeUndefined();
  });

  it('does not make the batch believe a jump of the time: a POST without an answer is not proved absent by it', () => {
    const batch = unconfirmed({ rows: 3, concurrency: 1 });
    batch.apply({ type: 'scale', limits: { deadlineAt: batch.wallAt + 24 * HOUR_MS } });
    const before = batch.state.now;
    batch.jump(2 * HOUR_MS);
    expect(batch.state.now - before).toBeLessThanOrEqual(CLOCK_DOUBT_MS);
  });
});
