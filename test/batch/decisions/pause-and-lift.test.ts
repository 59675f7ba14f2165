import { describe, expect, it } from 'vitest';
import { collect } from '../../../src/batch/decisions/collect.ts';
import { POOL_GONE_MS } from '../../../src/batch/decisions/pause-for-pool.ts';
import { UNREADABLE_MS } from '../../../src/batch/decisions/pause-for-unconfirmed.ts';
import { POOL_AGAIN_MS } from '../../../src/batch/on-event/apply.ts';
import { stuckFrom } from '../../../src/batch/on-event/list-read.ts';
import type { Grant } from '../../../src/batch/pool/messages.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { unconfirmedRows } from '../../../src/batch/state/state.ts';
import { PROBE_MS } from '../../../src/batch/pausing/pauses.ts';
import { TIMING } from '../params.ts';
import { ASKED_MS, readUntilResolved, running, STUCK_MS, unconfirmed } from '../scenes.ts';
import { World } from '../world.ts';

const NEVER = { rule: 'unknown', afterMs: 10 ** 9 } as const;
const inPool = (concurrency = 6): World =>
  new World({ pool: 'gpus', rows: 20, concurrency, lists: false, unconfirmed: NEVER, notify: ['slack:a'] });
const grant = (world: World, changes: Partial<Grant>): void =>
  void world.apply({
    type: 'grant',
    life: world.state.membership?.life ?? 0,
    epoch: 1,
    limit: 0,
    ...changes,
  });
const kinds = (world: World): readonly string[] => progress(world.state).pauses.map(({ kind }) => kind);

/** Lets the reports of the batch find no pool, for this long. */
function withoutPool(world: World, ms: number): void {
  for (let left = ms; left > 0; left -= POOL_AGAIN_MS) {
    world.apply({ type: 'usageReported', failure: 'not found' });
    world.pass(Math.min(left, POOL_AGAIN_MS));
  }
}

describe('a batch that its pool leaves without slots', () => {
  it('pauses and notifies when the pool is gone for 30 s, and continues with the first slot', () => {
    const world = inPool();
    withoutPool(world, POOL_GONE_MS - 1);
    expect(kinds(world)).toEqual([]);
    world.pass(1);
    expect(kinds(world)).toEqual(['pool']);
    expect(progress(world.state).reason).toBe('pool gpus cannot be reached: not found');
    expect(world.state.notified).toEqual(['paused:pool']);
    world.apply({ type: 'usageReported' });
    grant(world, { limit: 2, size: 8 });
    expect(kinds(world)).toEqual([]);
    expect(world.sends.flatMap(({ attempts }) => attempts)).toHaveLength(2);
  });

  it('pauses when the pool does not answer for 30 s', () => {
    const world = inPool();
    world.apply({ type: 'usageReported' });
    world.pass(POOL_GONE_MS);
    expect(progress(world.state)).toMatchObject({
      state: 'paused',
      reason: expect.stringContaining('does not answer'),
    });
  });

  it('pauses after 30 s although the clock was set back an hour before it joined again', () => {
    const world = new World({ pool: 'gpus', rows: 1, concurrency: 1 });
    grant(world, { limit: 1, size: 8 });
    world.settle();
    world.jump(-3_600_000);
    world.apply({ type: 'retry', commandId: 'c', pass: 2 });
    world.apply({ type: 'passLoaded', pass: 2, segments: [{ lane: 0, first: 1, count: 1 }] });
    expect(progress(world.state).granted).toBe(0);
    world.pass(POOL_GONE_MS - 1);
    expect(kinds(world)).toEqual([]);
    world.pass(1);
    expect(kinds(world)).toEqual(['pool']);
  });

  it('pauses immediately when the size of the pool is 0, and asks for slots meanwhile', () => {
    const world = inPool();
    grant(world, { size: 0 });
    expect(progress(world.state)).toMatchObject({
      state: 'paused',
      reason: 'pool gpus has no slots: its size is 0',
    });
    world.apply({ type: 'usageReported' });
    world.pass(60_000);
    expect(world.reports.at(-1)?.usage).toMatchObject({ number: 2, wanted: 6 });
    grant(world, { size: 8 });
    expect(progress(world.state)).toMatchObject({
      state: 'running',
      reason: 'pool gpus has no free slot for this batch',
    });
  });

  it('is not paused while others have the slots, while it still has some itself, or when nothing is left to send', () => {
    const crowded = inPool();
    crowded.apply({ type: 'usageReported' });
    grant(crowded, { size: 8 });
    crowded.pass(10 * POOL_GONE_MS);
    expect(kinds(crowded)).toEqual([]);
    const some = inPool();
    grant(some, { limit: 1, size: 8 });
    withoutPool(some, 10 * POOL_GONE_MS);
    expect(kinds(some)).toEqual([]);
    const over = inPool();
    grant(over, { size: 0 });
    over.apply({ type: 'cancel', running: false });
    expect(kinds(over)).toEqual([]);
  });

  it('may be paused for the service as well, and stays so between the probes', () => {
    const world = inPool();
    grant(world, { limit: 2, size: 8 });
    world.answer(0, ['blocked']);
    expect(kinds(world)).toEqual(['blocked']);
    grant(world, { epoch: 2, size: 0 });
    world.apply({ type: 'usageReported' });
    world.pass(60_000);
    expect(kinds(world)).toEqual(['blocked', 'pool']);
    expect(world.reports.at(-1)?.usage).toMatchObject({ number: 2, wanted: 0 });
    world.pass(30_000);
    expect(kinds(world)).toEqual(['blocked', 'pool']);
  });

  it('a resume does not hide that the pool is still without slots', () => {
    const world = inPool();
    grant(world, { size: 0 });
    world.apply({ type: 'resume', commandId: 'again' });
    expect(kinds(world)).toEqual(['pool']);
  });
});

describe('unconfirmed attempts of a batch in a pool', () => {
  it('pause the batch when they hold half of what the pool grants, however high its own concurrency is', () => {
    const world = inPool(200);
    grant(world, { limit: 4, size: 4 });
    world.answer(0, ['dropped']);
    expect(progress(world.state).reason).toBe(
      '4 attempts may have started runs (no answer); waiting for run lists that show them or rule them out',
    );
    world.passUnread(ASKED_MS);
    expect(kinds(world)).toContain('unconfirmed');
    expect(progress(world.state).pauses.at(-1)?.reason).toMatch(/^4 of 4 slots are held/);
    grant(world, { epoch: 2, limit: 100, size: 100 });
    expect(kinds(world)).not.toContain('unconfirmed');
  });

  it('pause the batch when the pool takes all slots back that they do not hold', () => {
    const world = inPool(200);
    grant(world, { limit: 2, size: 4 });
    world.answer(0, ['dropped']);
    grant(world, { epoch: 2, limit: 0, size: 4 });
    world.passUnread(ASKED_MS);
    expect(kinds(world)).toContain('unconfirmed');
  });
});

const ASK = { rule: 'ask', afterMs: 0 } as const;
const isPaused = (world: World): boolean => world.state.pauses.has('unconfirmed');

describe('pause for unconfirmed', () => {
  it('unconfirmed attempts pause the batch when they hold half of its slots for longer than any proof takes, and are named', () => {
    const world = new World({ rows: 60, concurrency: 30, unconfirmed: NEVER });
    world.answer(0, ['dropped', 'accepted']);
    world.passUnread(ASKED_MS - 1);
    expect(isPaused(world)).toBe(false);
    world.passUnread(10 * TIMING.listGapMs);
    expect(progress(world.state).reason).toMatch(/^15 of 30 slots .* no run list resolves them$/);
    expect(progress(world.state).pauses[0]?.places).toEqual([1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
  });

  it('unconfirmed attempts whose age was over while no worker ran pause nothing before the lists are read', () => {
    const world = new World({ rows: 60, concurrency: 30, unconfirmed: NEVER });
    world.answer(0, ['dropped']);
    world.pass(STUCK_MS + 10_000);
    expect(progress(world.state)).toMatchObject({
      state: 'running',
      reason: expect.stringContaining('waiting for run lists') as string,
    });
    // Requested before the outage, then after it.
    world.read('incomplete');
    world.pass(1);
    expect(isPaused(world)).toBe(false);
    world.passUnread(UNREADABLE_MS);
    expect(isPaused(world)).toBe(true);
  });

  it('unconfirmed attempts pause nothing while the lists cannot be read for a moment, again and again', () => {
    const world = new World({ rows: 60, concurrency: 30, unconfirmed: NEVER });
    world.answer(0, ['dropped', 'accepted']);
    world.passUnread(STUCK_MS);
    world.passUnread(UNREADABLE_MS - 1);
    expect(world.state).toMatchObject({ phases: { unconfirmed: 15 }, pauses: { size: 0 } });
    readUntilResolved(world);
    expect(world.state.ledger.absent).toBe(15);
  });

  it('unconfirmed attempts pause the batch at once where no run list exists', () => {
    const world = new World({ rows: 60, concurrency: 30, unconfirmed: NEVER, lists: false });
    world.answer(0, ['dropped']);
    world.passUnread(STUCK_MS);
    expect(isPaused(world)).toBe(true);
  });

  it('unconfirmed attempts that hold less than half of the slots pause nothing', () => {
    const world = new World({ rows: 60, concurrency: 31, unconfirmed: NEVER });
    world.answer(0, ['accepted', 'dropped']);
    expect(world.state.phases.unconfirmed).toBe(15);
    world.pass(2 * STUCK_MS);
    expect(isPaused(world)).toBe(false);
  });

  it.each([
    ['the limit of a GPU', { gpuConcurrency: { T4: 2 }, lanes: [{ gpu: 'T4', places: 60 }] }],
    ['a canary', { canary: { rows: 3, asks: false }, lanes: [{ places: 60, canary: 3 }] }],
    ['a new rung of a ladder', { ladder: ['T4', 'A10G'], lanes: [{ size: 1, places: 60 }] }],
  ])('unconfirmed attempts pause the batch if %s lets nothing else be sent', (_, params) => {
    const world = new World({ rows: 60, concurrency: 30, unconfirmed: NEVER, lists: false, ...params });
    world.answer(0, ['dropped']);
    world.passUnread(STUCK_MS);
    expect(isPaused(world)).toBe(true);
    const decided = new World({ rows: 60, concurrency: 30, unconfirmed: NEVER, lists: false, ...params });
    decided.answer(0, ['dropped', 'accepted']);
    decided.passUnread(STUCK_MS);
    expect(isPaused(decided)).toBe(false);
  });

  it('unconfirmed attempts end the pause when fewer of them are left', () => {
    const world = new World({ rows: 60, concurrency: 30, unconfirmed: NEVER });
    world.answer(0, ['dropped', 'accepted']);
    world.passUnread(ASKED_MS);
    world.apply({ type: 'runsSeen', runs: [{ place: 1, attempt: 1, runId: 'late' }] });
    expect(progress(world.state).state).toBe('running');
  });

  it('unconfirmed attempts pause the batch at the first one by the rule "ask", and the user decides about all of them', () => {
    for (const rule of ['unknown', 'fail', 'resubmit'] as const) {
      const world = new World({ rows: 10, concurrency: 5, lists: false, unconfirmed: ASK });
      world.answer(0, ['accepted', 'dropped', 'accepted', 'accepted', 'accepted']);
      world.passUnread(STUCK_MS);
      expect(progress(world.state).reason).toMatch(/^1 of 5 slots .* no run list resolves them$/);
      expect(progress(world.state).pauses).toMatchObject([{ kind: 'unconfirmed', places: [2] }]);
      expect(world.state.log).toContainEqual(expect.objectContaining({ event: 'paused', places: [2] }));
      world.apply({ type: 'resume', unconfirmed: rule });
      expect(progress(world.state)).toMatchObject({ state: 'running', unconfirmed: 0 });
      expect(
        world.state.ledger[({ unknown: 'unknown', fail: 'failed', resubmit: 'resubmitted' } as const)[rule]],
      ).toBe(1);
    }
  });

  it('unconfirmed attempts wait for the user by the rule "ask", however long', () => {
    const world = unconfirmed({ rows: 4, concurrency: 4, unconfirmed: ASK });
    for (const ms of [ASKED_MS, 30 * 86_400_000]) {
      world.passUnread(ms);
      expect(progress(world.state)).toMatchObject({ state: 'paused', unconfirmed: 4 });
    }
  });

  it('unconfirmed attempts pause the batch again immediately if the user resumes it and decides nothing', () => {
    const world = unconfirmed({ unconfirmed: ASK });
    world.passUnread(ASKED_MS);
    world.apply({ type: 'resume' });
    expect(isPaused(world)).toBe(true);
  });

  it('unconfirmed attempts pause no batch that is cancelled', () => {
    const world = unconfirmed({ rows: 4, concurrency: 4, unconfirmed: ASK });
    world.apply({ type: 'cancel', running: false });
    world.pass(2 * STUCK_MS);
    expect(progress(world.state).state).toBe('cancelling');
  });

  it('unconfirmed attempts are stuck from when no proof can be expected any more', () => {
    const world = unconfirmed();
    const [row] = unconfirmedRows(world.state);
    expect(row && stuckFrom(world.state, row) - world.state.now).toBe(STUCK_MS);
  });
});

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
    world.passUnread(ASKED_MS);
    expect(kinds(world)).toContain('unconfirmed');
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
