import { describe, expect, it } from 'vitest';
import { CLOCK_DOUBT_MS } from '../../../src/batch/clock.ts';
import { MIN_GUARD_ROWS } from '../../../src/batch/decisions/pause-for-failures.ts';
import type { BatchParams } from '../../../src/batch/params.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { running, unconfirmed } from '../scenes.ts';
import { World } from '../world.ts';

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
    for (let row = 3; row < MIN_GUARD_ROWS; row += 1) endNext(world, 'succeeded');
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

const USD = 1e9;
const BUDGET = { maxCostNano: 10 * USD, attemptCostNano: { '': 2 * USD } } satisfies Partial<BatchParams>;

/** Ends the runs and writes their part; each costs this much. */
function collectAll(world: World, costUsd: number): void {
  world.folder.costUsd = costUsd;
  for (const { runId } of world.service.runs) world.finish(runId, 'succeeded');
  world.pass(2_000);
  world.collect();
}

describe('--max-cost', () => {
  it('pauses when no run fits any more, with the figures and the GPU', () => {
    const lanes = [{ gpu: 'A10G', places: 30 }];
    const world = running({
      rows: 30,
      concurrency: 8,
      lanes,
      ...BUDGET,
      attemptCostNano: { A10G: 2 * USD },
    });
    expect([world.state.phases.running, kinds(world)]).toEqual([5, []]);
    collectAll(world, 1.75);
    expect(progress(world.state).reason).toBe(
      '$8.75 of $10.00 spent; the next run on A10G may cost up to $2.00',
    );
    expect([kinds(world), world.sends]).toEqual([['budget'], []]);
  });

  it('waits while a run in flight may leave enough, and not longer', () => {
    const world = running({ rows: 30, concurrency: 8, ...BUDGET, maxCostNano: 3 * USD });
    expect([world.state.phases.running, kinds(world)]).toEqual([1, []]);
    world.folder.costUsd = 1.5;
    world.finish('run-0', 'succeeded');
    world.pass(1_000);
    expect(kinds(world)).toEqual([]);
    world.collect();
    expect(kinds(world)).toEqual(['budget']);
  });

  it('says what is reserved for runs whose cost is not known', () => {
    const world = running({ rows: 1, concurrency: 1, retries: 1, ...BUDGET, maxCostNano: 3 * USD });
    world.finish('run-0', 'failed');
    expect(progress(world.state).reason).toBe(
      '$0.00 of $3.00 spent, $2.00 reserved for runs whose cost is not known yet; the next run may cost up to $2.00',
    );
  });

  it('pauses a batch whose rows cannot be sent because their cost has no known bound', () => {
    const world = running({ rows: 2, concurrency: 1, ...BUDGET, attemptCostNano: {} });
    expect(progress(world.state).reason).toBe('$0.00 of $10.00 spent; the next run has no known cost');
    world.apply({ type: 'cancel', running: false });
    world.settle();
    expect(world.problems).toEqual([]);
  });

  it('names the GPU of the cheapest run that does not fit', () => {
    const lanes = [
      { gpu: 'H100', places: 2 },
      { gpu: 'T4', places: 2 },
      { gpu: 'A10G', places: 2 },
    ];
    const attemptCostNano = { H100: 40 * USD, T4: 20 * USD, A10G: 30 * USD };
    const world = new World({ rows: 6, concurrency: 4, lanes, ...BUDGET, attemptCostNano });
    expect(progress(world.state).reason).toContain('the next run on T4 may cost up to $20.00');
  });

  it('does not pause a batch that has nothing left to send', () => {
    const world = running({ rows: 5, concurrency: 5, ...BUDGET });
    collectAll(world, 2.5);
    expect([kinds(world), world.state.tally.outcomes.succeeded]).toEqual([[], 5]);
  });

  it('continues when the user raises or removes it, by scale as by resume', () => {
    const paused = (): World => {
      const world = running({ rows: 30, concurrency: 8, ...BUDGET });
      collectAll(world, 2);
      expect(kinds(world)).toEqual(['budget']);
      return world;
    };
    const resumed = paused();
    resumed.apply({ type: 'resume', commandId: 'r', limits: { maxCostNano: 14 * USD } });
    expect([kinds(resumed), resumed.sends[0]?.attempts.length]).toEqual([[], 2]);
    expect(resumed.state.acknowledgements.at(-1)?.note).toBe('max-cost $10.00 → $14.00');
    const scaled = paused();
    scaled.apply({ type: 'scale', commandId: 's', limits: { maxCostNano: 'none' } });
    expect([kinds(scaled), scaled.sends[0]?.attempts.length]).toEqual([[], 8]);
    expect(progress(scaled.state)).not.toHaveProperty('budget');
    const unchanged = paused();
    unchanged.apply({ type: 'resume', commandId: 'r' });
    expect([kinds(unchanged), unchanged.sends]).toEqual([['budget'], []]);
  });

  it('ends with the batch when the last row that waits gets a run anyway', () => {
    const world = new World({ rows: 1, concurrency: 1, ...BUDGET, maxCostNano: 2 * USD });
    world.answer(0, ['made-and-throttled']);
    world.apply({ type: 'scale', limits: { maxCostNano: 1 } });
    world.pass(10_000);
    expect(kinds(world)).toEqual(['budget']);
    const [run] = world.service.runs;
    if (run !== undefined) world.callBack(run);
    world.finish('run-0', 'succeeded');
    expect(kinds(world)).toEqual([]);
    world.settle();
    expect(world.state.finished).toBe(true);
  });
});
