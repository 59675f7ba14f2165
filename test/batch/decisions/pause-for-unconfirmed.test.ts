import { describe, expect, it } from 'vitest';
import { stuckFrom } from '../../../src/batch/on-event/list-read.ts';
import { unconfirmedRows } from '../../../src/batch/state/state.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { STUCK_MS, unconfirmed } from '../scenes.ts';
import { World } from '../world.ts';

const NONE = { answer: 'none', found: [], hasControl: false } as const;
const NEVER = { rule: 'unknown', afterMs: 10 ** 9 } as const;
const ASK = { rule: 'ask', afterMs: 0 } as const;
const isPaused = (world: World): boolean => world.state.pauses.has('unconfirmed');

describe('pause for unconfirmed', () => {
  it('unconfirmed attempts pause the batch when they hold half of its slots for longer than any proof takes, and are named', () => {
    const world = new World({ rows: 60, concurrency: 30, unconfirmed: NEVER });
    world.answer(0, ['dropped', 'accepted']);
    world.pass(STUCK_MS - 1);
    expect(isPaused(world)).toBe(false);
    world.pass(1);
    expect(progress(world.state).reason).toMatch(/^15 of 30 slots .* no run list resolves them$/);
    expect(progress(world.state).pauses[0]?.places).toEqual([1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
    const older = new World({ rows: 60, concurrency: 30, unconfirmed: NEVER });
    Object.assign(older.state, { version: 3 });
    older.answer(0, ['dropped', 'accepted']);
    older.pass(STUCK_MS);
    expect(progress(older.state).reason).toMatch(/^15 of 30 slots .*: rows 1, 3, 5, .*19 and 5 more$/);
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
    world.pass(STUCK_MS);
    expect(isPaused(world)).toBe(true);
    const decided = new World({ rows: 60, concurrency: 30, unconfirmed: NEVER, lists: false, ...params });
    decided.answer(0, ['dropped', 'accepted']);
    decided.pass(STUCK_MS);
    expect(isPaused(decided)).toBe(false);
  });

  it('unconfirmed attempts end the pause when fewer of them are left', () => {
    const world = new World({ rows: 60, concurrency: 30, unconfirmed: NEVER });
    world.answer(0, ['dropped', 'accepted']);
    world.pass(STUCK_MS);
    world.apply({ type: 'runsSeen', runs: [{ place: 1, attempt: 1, runId: 'late' }] });
    expect(progress(world.state).state).toBe('running');
  });

  it('unconfirmed attempts pause the batch at the first one by the rule "ask", and the user decides about all of them', () => {
    for (const rule of ['unknown', 'fail', 'resubmit'] as const) {
      const world = new World({ rows: 10, concurrency: 5, lists: false, unconfirmed: ASK });
      world.answer(0, ['accepted', 'dropped', 'accepted', 'accepted', 'accepted']);
      world.pass(STUCK_MS);
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
    for (const ms of [STUCK_MS, 30 * 86_400_000]) {
      world.pass(ms);
      world.apply({ type: 'listRead', reading: NONE });
      expect(progress(world.state)).toMatchObject({ state: 'paused', unconfirmed: 4 });
    }
  });

  it('unconfirmed attempts pause the batch again immediately if the user resumes it and decides nothing', () => {
    const world = unconfirmed({ unconfirmed: ASK });
    world.pass(STUCK_MS);
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
