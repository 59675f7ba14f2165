import { describe, expect, it } from 'vitest';
import { POOL_AGAIN_MS } from '../../../src/batch/on-event/apply.ts';
import { POOL_GONE_MS } from '../../../src/batch/decisions/pause.ts';
import { newMembership, type Grant } from '../../../src/batch/pool/messages.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { STUCK_MS } from '../scenes.ts';
import { World } from '../world.ts';

const NEVER = { rule: 'unknown', afterMs: 10 ** 9 } as const;
const inPool = (concurrency = 6): World =>
  new World({ pool: 'gpus', rows: 20, concurrency, lists: false, unconfirmed: NEVER, notify: ['slack:a'] });
const grant = (world: World, given: Partial<Grant>): void =>
  void world.apply({ type: 'grant', life: world.state.membership?.life ?? 0, epoch: 1, limit: 0, ...given });
const kinds = (world: World): readonly string[] => progress(world.state).pauses.map(({ kind }) => kind);

/** Its reports find no pool, for this long. */
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

  it('counts the time by its own clock also when it continues as new', () => {
    const world = inPool();
    world.apply({ type: 'usageReported' });
    world.pass(POOL_GONE_MS - 1_000);
    world.continueAsNew();
    world.pass(1_000);
    expect(kinds(world)).toEqual(['pool']);
  });

  it('pauses after 30 s by the clock of Temporal if an older version has joined', () => {
    const world = inPool();
    world.apply({ type: 'usageReported' });
    const { joinedAt: _, ...older } = world.state.membership ?? newMembership(0, world.state);
    Object.assign(world.state, { membership: older });
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
    const others = inPool();
    others.apply({ type: 'usageReported' });
    grant(others, { size: 8 });
    others.pass(10 * POOL_GONE_MS);
    expect(kinds(others)).toEqual([]);
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
      '4 attempts may have started runs; waiting for run lists that show them or rule them out',
    );
    world.pass(STUCK_MS);
    expect(kinds(world)).toEqual(['unconfirmed']);
    expect(progress(world.state).reason).toMatch(/^4 of 4 slots are held/);
    grant(world, { epoch: 2, limit: 100, size: 100 });
    expect(kinds(world)).toEqual([]);
  });

  it('pause the batch when the pool takes all slots back that they do not hold', () => {
    const world = inPool(200);
    grant(world, { limit: 2, size: 4 });
    world.answer(0, ['dropped']);
    grant(world, { epoch: 2, limit: 0, size: 4 });
    world.pass(STUCK_MS);
    expect(kinds(world)).toEqual(['unconfirmed']);
  });
});
