import { describe, expect, it } from 'vitest';
import {
  ATTEMPT_BYTES,
  CAP_MAX,
  capMost,
  ENTRIES_MAX,
  GROUP_ATTEMPTS,
  GROUPS_IN_FLIGHT,
  HOLD_BASE_MS,
  STATE_BYTES_MAX,
} from '../../src/batch/limits.ts';
import type { Answer, Command } from '../../src/batch/messages.ts';
import { begin, isFull, put } from '../../src/batch/state.ts';
import { step } from '../../src/batch/step.ts';
import { view } from '../../src/batch/view.ts';
import { World, orderOf, underWay, inDoubt } from './world.ts';

const typesOf = (commands: readonly Command[]): readonly string[] => commands.map(({ type }) => type);

describe('sending', () => {
  it('fills all slots at once, in groups of at most 32', () => {
    const world = new World({ rows: 1_000, cap: 70 });
    expect(world.sends.map(({ attempts }) => attempts.length)).toEqual([GROUP_ATTEMPTS, GROUP_ATTEMPTS, 6]);
  });

  it('has at most 64 groups in flight, and no timer waits for what an answer will tell', () => {
    const world = new World({ rows: 5_000, cap: 4_000 });
    expect(world.sends.length).toBe(GROUPS_IN_FLIGHT);
    expect(world.workAt).toBe(Number.POSITIVE_INFINITY);
    world.answer(0, ['accepted']);
    expect(world.sends.length).toBe(GROUPS_IN_FLIGHT);
  });

  it('sends a row that is due again before the next row of the sheet', () => {
    const world = underWay({ rows: 10, cap: 2 });
    world.finish('run-0', 'failed');
    world.answer(0, ['accepted']);
    world.pass(5_000);
    world.finish('run-1', 'succeeded');
    expect(world.sends.at(-1)?.attempts).toEqual([{ row: 1, attempt: 2 }]);
  });

  it('holds the batch back for longer each time that nothing could be sent', () => {
    const world = new World({ rows: 2, cap: 2 });
    world.answer(0, ['not-sent']);
    expect(world.workAt - world.now).toBe(HOLD_BASE_MS);
    world.pass(HOLD_BASE_MS);
    world.answer(0, ['not-sent']);
    expect(world.workAt - world.now).toBe(2 * HOLD_BASE_MS);
    expect(view(world.state).reason).toBe('not-sent');
    world.pass(2 * HOLD_BASE_MS);
    world.answer(0, ['accepted']);
    expect(view(world.state).reason).toBeUndefined();
  });

  it('sends at once what was not sent because a worker stopped', () => {
    const world = new World({ rows: 1, cap: 1 });
    const [send] = world.sends.splice(0);
    const answer: Answer = { row: 1, attempt: 1, became: 'not-sent', retryAfterMs: 0 };
    world.tell({ type: 'groupAnswered', group: send?.group ?? 0, answers: [answer], rest: 'uncertain' });
    expect(world.sends).toHaveLength(1);
  });

  it('believes a Retry-After, clipped where it is absurd', () => {
    const world = new World({ rows: 1, cap: 1 });
    const [send] = world.sends.splice(0);
    const answer: Answer = { row: 1, attempt: 1, became: 'not-processed', retryAfterMs: 10 ** 12 };
    world.tell({ type: 'groupAnswered', group: send?.group ?? 0, answers: [answer], rest: 'uncertain' });
    expect(world.workAt - world.now).toBe(600_000);
  });

  it('holds nobody back for what bounced of a group that was taken: that waits by itself, as long as it was told to', () => {
    const world = new World({ rows: 10, cap: 3 });
    const [send] = world.sends.splice(0);
    const answers: readonly Answer[] = [
      { row: 1, attempt: 1, became: 'accepted', runId: 'run-a' },
      { row: 2, attempt: 1, became: 'not-processed', retryAfterMs: 5_000 },
      { row: 3, attempt: 1, became: 'not-sent', reason: 'ECONNREFUSED' },
    ];
    world.tell({ type: 'groupAnswered', group: send?.group ?? 0, answers, rest: 'uncertain' });
    expect(world.state.entries.get(2)).toMatchObject({
      phase: 'waiting',
      dueAt: world.now + 5_000,
      tries: 0,
    });
    expect(world.state.entries.get(3)).toMatchObject({ phase: 'waiting', dueAt: world.now + HOLD_BASE_MS });
    world.pass(HOLD_BASE_MS - 1);
    expect(world.sends.flatMap(({ attempts }) => attempts).map(({ row }) => row)).toEqual([4, 5]);
  });

  it('pauses on what concerns every row, keeps the row, and goes on when told', () => {
    const world = new World({ rows: 3, cap: 1 });
    const [send] = world.sends.splice(0);
    const answer: Answer = { row: 1, attempt: 1, became: 'pause', reason: '401: Revoked token' };
    world.tell({ type: 'groupAnswered', group: send?.group ?? 0, answers: [answer], rest: 'uncertain' });
    expect(world.sends).toHaveLength(0);
    expect(view(world.state)).toMatchObject({ state: 'paused', reason: '401: Revoked token', retrying: 1 });
    world.tell({ type: 'resume' });
    expect(world.sends.at(-1)?.attempts).toEqual([{ row: 1, attempt: 1 }]);
    expect(view(world.state).state).toBe('running');
  });

  it('stops for a history that must be left behind', () => {
    const world = underWay({ rows: 10, cap: 2 });
    world.tell({ type: 'drain' });
    world.finish('run-0', 'succeeded');
    expect(world.sends).toHaveLength(0);
    world.carry();
    expect(world.sends).toHaveLength(1);
  });

  it('takes rows in only as far as they and the attempts that they may still have can be carried', () => {
    const entriesWith = (retries: number): number => {
      const state = begin(orderOf({ rows: 50_000, cap: 20_000, retries }), 0);
      while (!isFull(state))
        put(state, {
          phase: 'waiting',
          row: state.entries.size + 1,
          attempt: 1,
          tries: 0,
          past: [],
          dueAt: 0,
        });
      return state.entries.size;
    };
    expect(entriesWith(0)).toBeGreaterThan(CAP_MAX);
    expect(entriesWith(2)).toBeGreaterThan(CAP_MAX);
    expect(entriesWith(20) * (160 + 20 * ATTEMPT_BYTES)).toBeLessThan(STATE_BYTES_MAX + 10_000);
    for (const retries of [0, 2, 10, 20])
      expect(entriesWith(retries)).toBeGreaterThanOrEqual(capMost(retries));
  });

  it('takes no further row in while the state is full, and fails the task beyond its bounds', () => {
    const state = begin(orderOf({ rows: 50_000, cap: 1, retries: 0 }), 0);
    for (let row = 1; row <= ENTRIES_MAX; row += 1)
      put(state, { phase: 'waiting', row, attempt: 2, tries: 1, past: [], dueAt: 10 ** 6 });
    state.cursor = ENTRIES_MAX + 1;
    expect(typesOf(step(state, [{ type: 'started' }], 1).commands)).toEqual(['tell', 'wake']);
    put(state, { phase: 'waiting', row: 49_999, attempt: 2, tries: 1, past: [], dueAt: 10 ** 6 });
    expect(() => step(state, [{ type: 'woke' }], 2)).toThrow('out of bounds');
  });
});

describe('answers and ends', () => {
  it('an end that beats the answer of its group counts, and the answer then changes nothing', () => {
    const world = new World({ rows: 1, cap: 1 });
    world.tell({
      type: 'runsEnded',
      by: 'webhook',
      ends: [{ row: 1, attempt: 1, runId: 'early', outcome: 'succeeded' }],
    });
    expect(world.state.ledger).toMatchObject({ sent: 1, accepted: 1 });
    world.answer(0, ['accepted']);
    expect(world.state.ledger).toMatchObject({ sent: 1, accepted: 1 });
    expect(world.collects[0]?.rows[0]?.attempts[0]?.runId).toBe('early');
  });

  it('an end that beats the answer of its group is counted once, also while its row waits to be collected', () => {
    const world = new World({ rows: 2, cap: 2 });
    world.begin(0, ['accepted']);
    world.finish('run-0', 'succeeded');
    expect(view(world.state)).toMatchObject({ collecting: 1, sending: 1 });
    world.answer(0, []);
    expect(world.state.ledger).toMatchObject({ sent: 2, accepted: 2 });
  });

  it('an answer that comes after its run has failed leaves the next attempt of the row alone', () => {
    const world = new World({ rows: 2, cap: 2 });
    world.begin(0, ['accepted']);
    world.finish('run-0', 'failed');
    world.pass(10_000);
    expect(world.sends.map(({ attempts }) => attempts)).toEqual([
      [
        { row: 1, attempt: 1 },
        { row: 2, attempt: 1 },
      ],
      [{ row: 1, attempt: 2 }],
    ]);
    world.answer(0, []);
    expect(world.state.entries.get(1)).toMatchObject({ phase: 'sending', attempt: 2 });
    world.answer(0, ['accepted']);
    expect(world.state.entries.get(1)).toMatchObject({ phase: 'running', attempt: 2, runId: 'run-2' });
  });

  it('an end of another attempt changes nothing', () => {
    const world = underWay({ rows: 1, cap: 1 });
    world.tell({
      type: 'runsEnded',
      by: 'look',
      ends: [{ row: 1, attempt: 2, runId: 'x', outcome: 'succeeded' }],
    });
    world.tell({
      type: 'runsEnded',
      by: 'look',
      ends: [{ row: 9, attempt: 1, runId: 'x', outcome: 'succeeded' }],
    });
    expect(view(world.state).running).toBe(1);
  });

  it('an answer of a group that nobody waits for changes nothing', () => {
    const world = underWay({ rows: 1, cap: 1 });
    const before = JSON.stringify(view(world.state));
    world.tell({ type: 'groupAnswered', group: 99, answers: [], rest: 'uncertain' });
    expect(JSON.stringify(view(world.state))).toBe(before);
  });

  it('an end adopts an uncertain attempt', () => {
    const world = inDoubt();
    world.tell({
      type: 'runsEnded',
      by: 'webhook',
      ends: [{ row: 1, attempt: 1, runId: 'r', outcome: 'succeeded' }],
    });
    expect(world.state.ledger).toMatchObject({ uncertain: 1, adopted: { webhook: 1, list: 0 } });
  });

  it('a run that a webhook named while its group was under way is adopted when the worker dies', () => {
    const world = new World({ rows: 2, cap: 2 });
    world.tell({ type: 'runsSeen', seen: [{ row: 2, attempt: 1, runId: 'seen' }] });
    world.answer(0, ['accepted', 'lost'], true);
    expect(view(world.state)).toMatchObject({ running: 2, uncertain: 0 });
    expect(world.state.ledger.adopted.webhook).toBe(1);
  });

  it('an attempt that its group does not speak of is as uncertain as the group', () => {
    const world = new World({ rows: 1, cap: 1 });
    const [send] = world.sends.splice(0);
    world.tell({ type: 'groupAnswered', group: send?.group ?? 0, answers: [], rest: 'uncertain' });
    expect(view(world.state).uncertain).toBe(1);
  });

  it('a refused row has its outcome and the words of the service', () => {
    const world = new World({ rows: 1, cap: 1 });
    world.answer(0, ['refused']);
    expect(world.collects[0]?.rows).toEqual([
      { row: 1, attempts: [{ attempt: 1, outcome: 'refused', reason: 'refused' }] },
    ]);
    expect(view(world.state).lastFailure).toEqual({ row: 1, outcome: 'refused', reason: 'refused' });
  });

  it('a row that failed too often keeps all of its attempts', () => {
    const world = underWay({ rows: 1, cap: 1, retries: 1 });
    world.finish('run-0', 'failed');
    world.pass(60_000);
    world.answer(0, ['accepted']);
    world.finish('run-1', 'failed');
    expect(world.collects[0]?.rows[0]?.attempts).toEqual([
      { attempt: 1, outcome: 'failed', runId: 'run-0' },
      { attempt: 2, outcome: 'failed', runId: 'run-1' },
    ]);
  });

  it('long reasons are cut before they are carried', () => {
    const world = underWay({ rows: 1, cap: 1, retries: 0 });
    world.tell({
      type: 'runsEnded',
      by: 'look',
      ends: [{ row: 1, attempt: 1, runId: 'run-0', outcome: 'failed', reason: 'x'.repeat(5_000) }],
    });
    expect(world.state.lastFailure?.reason).toHaveLength(300);
  });
});
