import { describe, expect, it } from 'vitest';
import {
  BREAKER_AFTER,
  HOLD_MAX_MS,
  PROBE_MAX_MS,
  PROBE_MS,
  UNREACHABLE_AFTER,
} from '../../src/batch/limits.ts';
import type { Answer } from '../../src/batch/messages.ts';
import { stuckAt } from '../../src/batch/pausing.ts';
import { view } from '../../src/batch/view.ts';
import { inDoubt, TIMING, underWay, World } from './world.ts';

/** Answers the group that was asked for last: each of its attempts with this. */
function answerAll(
  world: World,
  became: 'pause' | 'not-sent' | 'refused' | 'not-processed',
  reason: string = became,
): void {
  const send = world.sends.shift();
  const answers = send?.attempts.map((name): Answer => ({ ...name, became, reason })) ?? [];
  world.tell({ type: 'groupAnswered', group: send?.group ?? 0, answers, rest: 'uncertain' });
}

describe('a batch that is paused for what concerns every row', () => {
  it('lets one attempt through now and then, less and less often, and goes on when one is taken', () => {
    const world = new World({ rows: 20, cap: 5 });
    answerAll(world, 'pause', '401: Revoked token');
    const gaps: number[] = [];
    for (let probe = 0; probe < 8; probe += 1) {
      gaps.push(world.workAt - world.now);
      world.pass(world.workAt - world.now - 1);
      expect(world.sends).toHaveLength(0);
      world.pass(1);
      expect(world.sends.map(({ attempts }) => attempts.length)).toEqual([1]);
      expect(view(world.state)).toMatchObject({ state: 'paused', reason: '401: Revoked token' });
      answerAll(world, 'pause', '401: Revoked token');
    }
    expect([gaps[0], gaps[1], gaps.at(-1)]).toEqual([PROBE_MS, 2 * PROBE_MS, PROBE_MAX_MS]);
    world.pass(world.workAt - world.now);
    world.answer(0, ['accepted']);
    expect(view(world.state).state).toBe('running');
    expect(world.sends.at(-1)?.attempts).toHaveLength(4);
    world.settle();
    expect(world.problems).toEqual([]);
    expect(view(world.state).tally.outcomes.succeeded).toBe(20);
  });

  it('goes on too when a row is refused for itself: the service answers again', () => {
    const world = new World({ rows: 3, cap: 1 });
    answerAll(world, 'pause');
    world.pass(PROBE_MS);
    answerAll(world, 'refused');
    expect(view(world.state)).toMatchObject({ state: 'running', sending: 1 });
  });

  it('does not take back what is under way, nor forgets why it is paused when something else goes wrong', () => {
    const world = new World({ rows: 70, cap: 64 });
    world.answer(0, ['accepted']);
    answerAll(world, 'pause', '403: no credits');
    expect(view(world.state)).toMatchObject({ state: 'paused', running: 32, retrying: 32 });
    world.finish('run-0', 'succeeded');
    world.pass(1_000);
    world.tell({ type: 'unwritten', part: world.collects[0]?.part ?? 0, reason: 'ENOSPC' });
    expect(view(world.state).reason).toBe('403: no credits');
    world.carry();
    expect(view(world.state)).toMatchObject({ state: 'paused', paused: { kind: 'refused' } });
    expect(world.sends).toHaveLength(0);
  });
});

describe('a pause with no trial left to make', () => {
  it.each([
    ['no row is left', 1],
    ['attempts in doubt hold every slot', 3],
  ])('ends by itself where %s: what became of the last trial is another matter', (_, rows) => {
    const world = new World({ rows, cap: 1, uncertain: { rule: 'ask', afterMs: 0 } });
    answerAll(world, 'pause');
    world.pass(PROBE_MS);
    world.answer(0, ['dropped']);
    expect(view(world.state)).toMatchObject({ state: 'running', uncertain: 1 });
    world.pass(20_000);
    expect(view(world.state)).toMatchObject({ state: 'paused', paused: { kind: 'doubt' } });
  });
});

describe('a service that takes nothing', () => {
  it('is tried one attempt at a time, then the batch is paused, and it goes on by itself', () => {
    const world = new World({ rows: 100, cap: 50 });
    let groups = 0;
    const alone: number[] = [];
    for (; view(world.state).state === 'running'; groups += 1) {
      answerAll(world, 'not-sent', 'connect ECONNREFUSED');
      if (world.sends.length > 0) continue;
      world.pass(Math.min(HOLD_MAX_MS, world.workAt - world.now));
      if (world.state.bounces >= BREAKER_AFTER)
        alone.push(world.sends.flatMap(({ attempts }) => attempts).length);
    }
    expect(new Set(alone.slice(0, -1))).toEqual(new Set([1]));
    expect(Math.abs(groups - UNREACHABLE_AFTER)).toBeLessThanOrEqual(1);
    expect(view(world.state)).toMatchObject({
      state: 'paused',
      reason: 'nothing can be sent: connect ECONNREFUSED',
      ledger: { sent: 0 },
    });
    world.settle();
    expect(view(world.state).tally.outcomes.succeeded).toBe(100);
    expect(world.problems).toEqual([]);
  });

  it('is not asked twice at once, once it has taken nothing a few times', () => {
    const world = new World({ rows: 200, cap: 128 });
    for (let time = 0; time < BREAKER_AFTER; time += 1) answerAll(world, 'not-sent');
    world.pass(HOLD_MAX_MS);
    expect(world.sends).toHaveLength(1);
    answerAll(world, 'not-sent');
    world.pass(HOLD_MAX_MS);
    expect(world.sends.map(({ attempts }) => attempts.length)).toEqual([1]);
  });

  it('says so also where it gave no reason', () => {
    const world = new World({ rows: 2, cap: 1 });
    for (let time = 0; time < 2 * UNREACHABLE_AFTER && world.state.paused === undefined; time += 1) {
      answerAll(world, 'not-sent', '');
      world.pass(HOLD_MAX_MS);
    }
    expect(view(world.state).reason).toBe('nothing can be sent: no reason was given');
  });
});

describe('a service whose runs cannot be read', () => {
  it('pauses the batch until a look succeeds', () => {
    const world = underWay({ rows: 9, cap: 2 });
    world.tell({ type: 'read', reason: '401: Revoked token' });
    world.finish('run-0', 'succeeded');
    expect(view(world.state)).toMatchObject({
      state: 'paused',
      reason: 'runs cannot be read: 401: Revoked token',
      paused: { kind: 'unread' },
    });
    expect(world.sends).toHaveLength(0);
    world.tell({ type: 'read' });
    expect(view(world.state)).toMatchObject({ state: 'running', sending: 1 });
  });
});

describe('a folder that cannot be written', () => {
  const full = (world: World): void => {
    const [collect] = world.collects.splice(0, 1);
    world.tell({ type: 'unwritten', part: collect?.part ?? 0, reason: 'ENOSPC: no space left on device' });
  };

  it('stops sending, is tried with one part at a time, and loses nothing', () => {
    const world = underWay({ rows: 300, cap: 250 });
    for (let run = 0; run < 210; run += 1) world.finish(`run-${run}`, 'succeeded');
    while (world.sends.length > 0) world.answer(0, ['accepted']);
    expect(world.collects).toHaveLength(2);
    full(world);
    full(world);
    world.finish('run-215', 'succeeded');
    expect(view(world.state)).toMatchObject({
      state: 'paused',
      reason: 'the batch folder cannot be written: ENOSPC: no space left on device',
    });
    expect(world.sends).toHaveLength(0);
    world.pass(PROBE_MS);
    expect(world.collects.map(({ part }) => part)).toContain(1);
    full(world);
    world.pass(4 * PROBE_MS);
    while (world.collects.length > 0) world.collect();
    expect(view(world.state).state).toBe('running');
    world.settle();
    expect(world.problems).toEqual([]);
    expect(world.collected.size).toBe(300);
  });

  it('is not asked for more while the trial is under way', () => {
    const world = underWay({ rows: 300, cap: 250 });
    for (let run = 0; run < 210; run += 1) world.finish(`run-${run}`, 'succeeded');
    full(world);
    full(world);
    world.pass(PROBE_MS);
    expect(world.collects).toHaveLength(1);
    world.pass(1);
    expect(world.collects).toHaveLength(1);
    expect(world.workAt - world.now).toBeGreaterThan(PROBE_MS);
  });

  it('is asked for the results again, where they are what it would not take', () => {
    const world = underWay({ rows: 1, cap: 1 });
    world.finish('run-0', 'succeeded');
    world.collect();
    expect(world.closes).toBe(1);
    world.tell({ type: 'unwritten', part: 0, reason: 'ENOSPC' });
    expect([view(world.state).state, world.closes]).toEqual(['paused', 1]);
    world.tell({ type: 'resume' });
    expect([view(world.state).state, world.closes]).toEqual(['running', 2]);
    world.tell({ type: 'unwritten', part: 99, reason: 'a part that is long there' });
    expect(view(world.state).state).toBe('running');
  });
});

describe('attempts that nobody knows of', () => {
  const NONE = { answer: 'none', found: [], control: false } as const;
  const later = 20_000;

  it('pause the batch when they hold half of its slots for longer than any proof takes, by name', () => {
    const world = new World({ rows: 60, cap: 30, uncertain: { rule: 'unknown', afterMs: 10 ** 9 } });
    world.answer(0, ['dropped', 'accepted']);
    expect(stuckAt(world.state)).toBeGreaterThan(world.now);
    expect(view(world.state).state).toBe('running');
    world.pass(later);
    expect(view(world.state)).toMatchObject({ state: 'paused', paused: { kind: 'doubt' } });
    expect(view(world.state).reason).toMatch(/^15 of 30 slots .*: rows 1, 3, 5, .*19 and 5 more$/);
    expect(stuckAt(world.state)).toBe(Number.POSITIVE_INFINITY);
    // One is known, and less than half are left.
    world.tell({ type: 'runsSeen', seen: [{ row: 1, attempt: 1, runId: 'late' }] });
    expect(view(world.state).state).toBe('running');
  });

  it('are asked about at once by the rule "ask", and the user decides', () => {
    for (const uncertain of ['unknown', 'fail', 'resubmit'] as const) {
      const world = inDoubt({ rows: 10, cap: 5, uncertain: { rule: 'ask', afterMs: 0 } });
      while (world.sends.length > 0) world.answer(0, ['accepted']);
      world.lists.splice(0);
      world.tell({ type: 'listed', look: { ...NONE, askedAt: world.now } });
      world.pass(later);
      expect(view(world.state)).toMatchObject({ state: 'paused', paused: { kind: 'doubt' } });
      world.tell({ type: 'resume', uncertain });
      expect(view(world.state)).toMatchObject({ state: 'running', uncertain: 0 });
      const column = { unknown: 'unknown', fail: 'failed', resubmit: 'resubmitted' } as const;
      expect(world.state.ledger[column[uncertain]]).toBe(5);
    }
  });

  it('wait for the user by the rule "ask", however long', () => {
    const world = inDoubt({ rows: 4, cap: 4, uncertain: { rule: 'ask', afterMs: 0 } });
    for (const ms of [later, 30 * 86_400_000]) {
      world.pass(ms);
      world.tell({ type: 'listed', look: { ...NONE, askedAt: world.now } });
      expect(view(world.state)).toMatchObject({ state: 'paused', uncertain: 4 });
    }
  });

  it("are left alone by the user's word while proof may still come", () => {
    const world = inDoubt({ rows: 4, cap: 4, uncertain: { rule: 'ask', afterMs: 0 } });
    world.tell({ type: 'resume', uncertain: 'fail' });
    expect(view(world.state).uncertain).toBe(4);
  });

  it("fail or go again by the user's rule, and count as money at risk", () => {
    for (const [rule, column] of [
      ['fail', 'failed'],
      ['resubmit', 'resubmitted'],
    ] as const) {
      const world = inDoubt({ uncertain: { rule, afterMs: 5_000 } });
      world.tell({ type: 'listed', look: { ...NONE, askedAt: world.now } });
      expect(view(world.state).uncertain).toBe(1);
      world.pass(later);
      world.tell({ type: 'listed', look: { ...NONE, askedAt: world.now } });
      expect(world.state.ledger[column]).toBe(1);
      expect(view(world.state).uncertain).toBe(0);
    }
  });

  it('wait a day where lists only fail now, but not longer than a cancelled batch', () => {
    const look = { answer: 'incomplete', found: [], control: false } as const;
    const world = inDoubt({ rows: 4, cap: 4 });
    world.pass(later);
    world.tell({ type: 'listed', look: { ...look, askedAt: world.now } });
    expect(view(world.state).uncertain).toBe(4);
    world.tell({ type: 'cancel', running: false });
    expect(view(world.state).state).toBe('cancelling');
    world.tell({ type: 'listed', look: { ...look, askedAt: world.now } });
    expect(world.state.ledger.unknown).toBe(4);
    const cancelledLater = inDoubt({ uncertain: { rule: 'resubmit', afterMs: TIMING.listGapMs } });
    cancelledLater.tell({ type: 'cancel', running: false });
    cancelledLater.tell({ type: 'listed', look: { ...NONE, askedAt: cancelledLater.now + 10_000 } });
    expect(cancelledLater.state.ledger.unknown).toBe(1);
  });
});

describe('runs that cannot be read', () => {
  it('are no reason to wait once webhooks have told all of their ends: no look would ever say that reading works', () => {
    const world = underWay({ rows: 5, cap: 2 });
    world.tell({ type: 'read', reason: 'connect ECONNREFUSED' });
    world.finish('run-0', 'succeeded');
    expect(view(world.state)).toMatchObject({ state: 'paused', running: 1 });
    world.finish('run-1', 'succeeded');
    expect(view(world.state).state).toBe('running');
    expect(world.sends).toHaveLength(1);
    world.settle();
    expect(view(world.state).tally.outcomes.succeeded).toBe(5);
  });
});
