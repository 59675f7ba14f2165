import { describe, expect, it } from 'vitest';
import { mayCarry, pack, unpack, type Carried } from '../../src/batch/carry.ts';
import {
  COLLECT_AFTER_MS,
  ENTRIES_MAX,
  GROUP_ATTEMPTS,
  GROUPS_IN_FLIGHT,
  HOLD_BASE_MS,
  LEASE_MS,
} from '../../src/batch/limits.ts';
import type { Answer, Command } from '../../src/batch/messages.ts';
import { begin, put } from '../../src/batch/state.ts';
import { step } from '../../src/batch/step.ts';
import { view } from '../../src/batch/view.ts';
import { firstLookMs, lookAgainMs, watch } from '../../src/batch/watching.ts';
import { TIMING, World, orderOf } from './world.ts';

const typesOf = (commands: readonly Command[]): readonly string[] => commands.map(({ type }) => type);

/** A world with the first group's rows all accepted. */
function running(order: Parameters<typeof orderOf>[0] = {}): World {
  const world = new World(order);
  while (world.sends.length > 0) world.answer(0, ['accepted']);
  return world;
}

/** A world in which row 1 is uncertain and nothing else was sent. */
function uncertain(order: Parameters<typeof orderOf>[0] = {}): World {
  const world = new World({ rows: 1, cap: 1, ...order });
  world.answer(0, ['dropped']);
  return world;
}

describe('sending', () => {
  it('fills all slots at once, in groups of at most 32', () => {
    const world = new World({ rows: 1_000, cap: 70 });
    expect(world.sends.map(({ attempts }) => attempts.length)).toEqual([GROUP_ATTEMPTS, GROUP_ATTEMPTS, 6]);
  });

  it('has at most 64 groups in flight, and no timer waits for what an answer will tell', () => {
    const world = new World({ rows: 5_000, cap: 4_000 });
    expect(world.sends.length).toBe(GROUPS_IN_FLIGHT);
    expect(world.wakeAt).toBe(Number.POSITIVE_INFINITY);
    world.answer(0, ['accepted']);
    expect(world.sends.length).toBe(GROUPS_IN_FLIGHT);
  });

  it('sends a row that is due again before the next row of the sheet', () => {
    const world = running({ rows: 10, cap: 2 });
    world.finish('run-0', 'failed');
    world.answer(0, ['accepted']);
    world.pass(5_000);
    world.finish('run-1', 'succeeded');
    expect(world.sends.at(-1)?.attempts).toEqual([{ row: 1, attempt: 2 }]);
  });

  it('holds the batch back for longer each time that nothing could be sent', () => {
    const world = new World({ rows: 2, cap: 2 });
    world.answer(0, ['not-sent']);
    expect(world.wakeAt - world.now).toBe(HOLD_BASE_MS);
    world.pass(HOLD_BASE_MS);
    world.answer(0, ['not-sent']);
    expect(world.wakeAt - world.now).toBe(2 * HOLD_BASE_MS);
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
    expect(world.wakeAt - world.now).toBe(600_000);
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
    const world = running({ rows: 10, cap: 2 });
    world.tell({ type: 'drain' });
    world.finish('run-0', 'succeeded');
    expect(world.sends).toHaveLength(0);
    world.carry();
    expect(world.sends).toHaveLength(1);
  });

  it('takes no further row in while the state is full, and fails the task beyond its bounds', () => {
    const state = begin(orderOf({ rows: 50_000, cap: 1 }), 0);
    for (let row = 1; row <= ENTRIES_MAX; row += 1)
      put(state, { phase: 'waiting', row, attempt: 2, tries: 1, past: [], dueAt: 10 ** 6 });
    state.cursor = ENTRIES_MAX + 1;
    expect(typesOf(step(state, [{ type: 'started' }], 1).commands)).toEqual(['wake']);
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

  it('an end of another attempt changes nothing', () => {
    const world = running({ rows: 1, cap: 1 });
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
    const world = running({ rows: 1, cap: 1 });
    const before = JSON.stringify(view(world.state));
    world.tell({ type: 'groupAnswered', group: 99, answers: [], rest: 'uncertain' });
    expect(JSON.stringify(view(world.state))).toBe(before);
  });

  it('an end adopts an uncertain attempt', () => {
    const world = uncertain();
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
    const world = running({ rows: 1, cap: 1, retries: 1 });
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
    const world = running({ rows: 1, cap: 1, retries: 0 });
    world.tell({
      type: 'runsEnded',
      by: 'look',
      ends: [{ row: 1, attempt: 1, runId: 'r', outcome: 'failed', reason: 'x'.repeat(5_000) }],
    });
    expect(world.state.lastFailure?.reason).toHaveLength(300);
  });
});

describe('doubt', () => {
  it('asks the lists at once, and adopts at once what they show', () => {
    const world = new World({ rows: 1, cap: 1 });
    world.answer(0, ['lost']);
    expect(world.lists).toHaveLength(1);
    world.list();
    expect(view(world.state)).toMatchObject({ running: 1, uncertain: 0 });
    expect(world.state.ledger.adopted.list).toBe(1);
  });

  it('believes in absence only after two complete lists that are late enough and a gap apart', () => {
    const world = uncertain();
    const late = LEASE_MS + TIMING.postDeadlineMs + TIMING.settleWithoutControlMs;
    world.list();
    expect(view(world.state).uncertain).toBe(1);
    world.pass(late);
    world.list('incomplete');
    world.pass(TIMING.listGapMs);
    world.list();
    expect(view(world.state).uncertain).toBe(1);
    expect(world.sends).toHaveLength(0);
    world.pass(TIMING.listGapMs);
    world.list();
    expect(world.state.ledger.absent).toBe(1);
    expect(world.sends.at(-1)?.attempts).toEqual([{ row: 1, attempt: 2 }]);
  });

  it('needs less time where the list shows a run that was accepted later', () => {
    const sooner = LEASE_MS + TIMING.postDeadlineMs;
    const world = new World({ rows: 5, cap: 2, retries: 0 });
    world.answer(0, ['dropped', 'accepted']);
    world.list();
    world.pass(sooner + 1);
    // run-0 was accepted before the doubt began: a list that shows it proves nothing yet.
    expect(world.lists[0]?.control).toBe('run-0');
    world.list();
    world.finish('run-0', 'succeeded');
    world.answer(0, ['accepted']);
    world.pass(TIMING.listGapMs);
    expect(world.lists[0]?.control).toBe('run-1');
    world.list();
    world.pass(TIMING.listGapMs);
    world.list();
    expect(world.state.ledger.absent).toBe(1);
  });

  it('two lists that follow each other too closely count as one', () => {
    const world = uncertain();
    world.pass(LEASE_MS + TIMING.postDeadlineMs + TIMING.settleWithoutControlMs);
    world.list();
    world.pass(TIMING.listGapMs - 1);
    const look = { answer: 'complete', found: [], control: false } as const;
    world.tell({ type: 'listed', look: { ...look, askedAt: world.now } });
    expect(view(world.state).uncertain).toBe(1);
    world.tell({ type: 'listed', look: { ...look, askedAt: world.now + 1 } });
    expect(world.state.ledger.absent).toBe(1);
  });

  it('without any list ends as unknown, reported and never sent again', () => {
    const world = uncertain();
    const none = { answer: 'none', found: [], control: false } as const;
    world.tell({ type: 'listed', look: { ...none, askedAt: world.now } });
    expect(view(world.state).uncertain).toBe(1);
    world.pass(60_000);
    world.tell({ type: 'listed', look: { ...none, askedAt: world.now } });
    expect(world.state.ledger.unknown).toBe(1);
    expect(world.collects[0]?.rows[0]?.attempts[0]).toMatchObject({ outcome: 'unknown' });
    expect(world.sends).toHaveLength(0);
  });

  it('a cancelled batch does not send again what proves absent', () => {
    const world = uncertain();
    world.tell({ type: 'cancel', running: false });
    world.settle();
    expect(world.problems).toEqual([]);
    expect(world.posted.size).toBe(1);
    expect(view(world.state).tally.outcomes.cancelled).toBe(1);
  });

  it('looks less and less often', () => {
    const world = uncertain();
    const gaps: number[] = [];
    for (let look = 0; look < 16; look += 1) {
      world.list('incomplete');
      gaps.push(world.wakeAt - world.now);
      world.pass(world.wakeAt - world.now);
    }
    expect(gaps[0]).toBe(TIMING.listGapMs);
    expect(gaps.at(-1)).toBe(60_000);
  });
});

describe('collecting', () => {
  it('waits two seconds for company, and not at all for what is last', () => {
    const world = running({ rows: 3, cap: 2 });
    world.finish('run-0', 'succeeded');
    world.answer(0, ['accepted']);
    expect(world.collects).toHaveLength(0);
    expect(world.wakeAt - world.now).toBe(COLLECT_AFTER_MS);
    world.pass(COLLECT_AFTER_MS);
    expect(world.collects[0]?.rows).toHaveLength(1);
    world.finish('run-1', 'succeeded');
    world.finish('run-2', 'succeeded');
    expect(world.collects[1]?.rows).toHaveLength(2);
  });

  it('has at most eight parts under way', () => {
    const world = running({ rows: 2_000, cap: 1_200 });
    for (const { runId } of [...world.runs]) world.finish(runId, 'succeeded');
    expect(world.collects).toHaveLength(8);
    world.collect();
    expect(world.collects).toHaveLength(8);
  });

  it('asks again for parts that the workflow run before this one had asked for', () => {
    const world = running({ rows: 1, cap: 1 });
    world.finish('run-0', 'succeeded');
    const before = world.collects[0];
    world.carry();
    expect(world.collects).toEqual([before]);
  });

  it('a part that nobody waits for is not counted', () => {
    const world = running({ rows: 2, cap: 1 });
    world.tell({
      type: 'collected',
      part: 77,
      tally: { ...world.state.tally, outcomes: { ...world.state.tally.outcomes, succeeded: 5 } },
    });
    expect(view(world.state).done).toBe(0);
  });
});

describe('cancelling', () => {
  it('ends rows that wait, keeps runs going, and counts what was never sent', () => {
    const world = running({ rows: 10, cap: 2 });
    world.finish('run-0', 'failed');
    world.answer(0, ['accepted']);
    world.tell({ type: 'cancel', running: false });
    expect(view(world.state)).toMatchObject({ state: 'cancelling', running: 2, retrying: 0 });
    world.settle();
    expect(world.problems).toEqual([]);
    expect(view(world.state).tally.outcomes).toMatchObject({ succeeded: 2, cancelled: 8 });
  });

  it('cancels the runs too, those that are accepted later as well, and again after a continue-as-new', () => {
    const world = running({ rows: 4, cap: 4 });
    const fresh = new World({ rows: 1, cap: 1 });
    fresh.tell({ type: 'cancel', running: true });
    fresh.answer(0, ['accepted']);
    expect(fresh.runs[0]?.status).toBe('cancelled');
    world.tell({ type: 'cancel', running: true });
    expect(world.runs.every(({ status }) => status === 'cancelled')).toBe(true);
    world.runs.forEach((run) => (run.status = 'open'));
    world.carry();
    expect(world.runs.every(({ status }) => status === 'cancelled')).toBe(true);
  });

  it('once for all cannot be made milder, and means nothing when all is written', () => {
    const world = running({ rows: 1, cap: 1 });
    world.tell({ type: 'cancel', running: true });
    world.tell({ type: 'cancel', running: false });
    expect(world.state.cancelling).toBe('running');
    const done = running({ rows: 1, cap: 1 });
    done.settle();
    done.tell({ type: 'cancel', running: true });
    expect(done.state.cancelling).toBeUndefined();
  });

  it('is an answer to a pause, and a row that could not be sent stays unsent', () => {
    const world = new World({ rows: 2, cap: 2 });
    world.tell({ type: 'cancel', running: false });
    world.answer(0, ['not-sent', 'not-processed']);
    world.settle();
    expect(world.problems).toEqual([]);
    expect(view(world.state).tally.outcomes.cancelled).toBe(2);
  });
});

describe('the carried state', () => {
  it('is the same state, with its queues in order', () => {
    const world = running({ rows: 30, cap: 6, retries: 3 });
    world.finish('run-1', 'failed');
    world.finish('run-0', 'failed');
    world.finish('run-2', 'succeeded');
    while (world.sends.length > 0) world.answer(0, ['dropped']);
    const { state } = world;
    const again = unpack(JSON.parse(JSON.stringify(pack(state))) as Carried);
    expect(again.waiting).toEqual(state.waiting);
    expect(again.ended).toEqual(state.ended);
    expect(again.phases).toEqual(state.phases);
    expect(again.bytes).toBe(state.bytes);
    expect(view(again)).toEqual(view(state));
  });

  it('does not travel while a group is in flight, nor while the batch closes', () => {
    const world = new World({ rows: 1, cap: 1 });
    expect(mayCarry(world.state)).toBe(false);
    expect(() => pack(world.state)).toThrow('cannot be carried');
  });

  it('of a newer worker is refused', () => {
    const carried = { ...pack(running({ rows: 1, cap: 1 }).state), format: 2 } as unknown as Carried;
    expect(() => unpack(carried)).toThrow('state format 2');
  });
});

describe('time', () => {
  it('never runs backwards', () => {
    const world = running({ rows: 1, cap: 1 });
    const { now } = world.state;
    step(world.state, [{ type: 'woke' }], now - 60_000);
    expect(world.state.now).toBe(now);
  });
});

describe('watching', () => {
  it('looks often while no webhook brings ends, and now and then when they do', () => {
    const phases = { waiting: 0, sending: 0, running: 100, uncertain: 0, ended: 0 };
    const often = { order: orderOf(), endsBy: undefined, phases };
    expect(lookAgainMs(often)).toBe(TIMING.pollIntervalMs);
    expect(lookAgainMs({ ...often, endsBy: 'look' })).toBe(TIMING.pollIntervalMs);
    expect(lookAgainMs({ ...often, endsBy: 'webhook' })).toBe(4_000);
    expect(lookAgainMs({ ...often, order: orderOf({ webhooks: false }), endsBy: 'webhook' })).toBe(
      TIMING.pollIntervalMs,
    );
  });

  it('spreads its Get Runs where there is no list, and never waits longer than 15 s', () => {
    const at = (running: number) =>
      lookAgainMs({
        order: orderOf({ lists: false }),
        endsBy: undefined,
        phases: { waiting: 0, sending: 0, running, uncertain: 0, ended: 0 },
      });
    expect(at(50)).toBe(1_000);
    expect(at(5_000)).toBe(15_000);
  });

  it('tells which runs to look at, and since when', () => {
    const world = running({ rows: 2, cap: 2 });
    expect(watch(world.state)).toEqual({
      runs: [
        { row: 1, attempt: 1, runId: 'run-0', since: world.now },
        { row: 2, attempt: 1, runId: 'run-1', since: world.now },
      ],
      lookAgainMs: TIMING.pollIntervalMs,
    });
  });

  it('keeps its beat over a continue-as-new', () => {
    expect(firstLookMs(1_000, 1_000, 500)).toBe(500);
    expect(firstLookMs(1_000, 1_700, 500)).toBe(300);
    expect(firstLookMs(1_000, 900, 500)).toBe(500);
  });
});

describe('the view', () => {
  it('accounts for every row at any moment', () => {
    const world = running({ rows: 40, cap: 6 });
    world.finish('run-0', 'succeeded');
    world.finish('run-1', 'failed');
    world.answer(0, ['dropped', 'not-sent']);
    const {
      done,
      collecting,
      sending,
      running: on,
      uncertain: in2,
      retrying,
      unsent,
      rows,
    } = view(world.state);
    expect(done + collecting + sending + on + in2 + retrying + unsent).toBe(rows);
    world.settle();
    expect(view(world.state)).toMatchObject({ state: 'finished', done: 40, unsent: 0 });
  });
});
