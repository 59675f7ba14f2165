import { describe, expect, it } from 'vitest';
import { LOG_MAX, mostConcurrency } from '../../../src/batch/bounds.ts';
import { LOG } from '../../../src/batch/events.ts';
import { changeLimits } from '../../../src/batch/on-event/change-limits.ts';
import { progress } from '../../../src/batch/progress.ts';
import { Crowd } from '../crowd.ts';
import { running } from '../scenes.ts';
import { World } from '../world.ts';

const answers = ({ state }: World): readonly unknown[] => state.acknowledgements;
const DONE = { ok: true };
const kindsOf = ({ state }: World): readonly string[] => [...state.pauses.keys()];

describe('a pause by a user', () => {
  it('is acknowledged when the groups in flight have answered, which are asked to start no further POST', () => {
    const world = new World({ rows: 10, concurrency: 4 });
    world.apply({ type: 'pause', commandId: 'c' });
    expect([world.stopped, answers(world)]).toEqual([[1], []]);
    world.answer(0, ['accepted']);
    expect(answers(world)).toEqual([{ id: 'c', ...DONE }]);
    expect(progress(world.state)).toMatchObject({ state: 'paused', reason: 'paused by a user', running: 4 });
  });

  it('sends nothing until the user resumes the batch, while runs end and are collected', () => {
    const world = running({ rows: 10, concurrency: 4 });
    world.apply({ type: 'pause', commandId: 'c', by: 'ann@desk', reason: 'lunch' });
    world.apply({ type: 'pause', commandId: 'd' });
    expect(answers(world)).toEqual([
      { id: 'c', ...DONE },
      { id: 'd', ...DONE, note: 'already paused' },
    ]);
    for (let run = 0; run < 4; run += 1) world.finish(`run-${run}`, 'succeeded');
    world.pass(3_600_000);
    while (world.collects.length > 0) world.collect();
    expect([world.sends, world.state.tally.outcomes.succeeded]).toEqual([[], 4]);
    expect(progress(world.state).reason).toBe('paused by ann@desk: lunch');
    world.apply({ type: 'resume', commandId: 'r' });
    expect(world.sends).toHaveLength(1);
  });

  it('stays when the probe of another pause succeeds', () => {
    const world = new World({ rows: 4, concurrency: 1 });
    world.answer(0, ['blocked']);
    world.pass(60_000);
    expect(world.sends).toHaveLength(1);
    world.apply({ type: 'pause', commandId: 'c' });
    world.answer(0, ['accepted']);
    world.finish('run-0', 'succeeded');
    world.pass(600_000);
    expect([[...world.state.pauses.keys()], world.sends]).toEqual([['user'], []]);
  });

  it('stays over a continue-as-new', () => {
    const world = running({ rows: 4, concurrency: 1 });
    world.apply({ type: 'pause', commandId: 'c' });
    world.continueAsNew();
    world.finish('run-0', 'succeeded');
    expect([world.state.pauses.has('user'), world.sends]).toEqual([true, []]);
  });

  it('ends with the last row: a batch that is closing is not paused', () => {
    const world = running({ rows: 2, concurrency: 2 });
    world.apply({ type: 'pause', commandId: 'c' });
    for (const run of ['run-0', 'run-1']) world.finish(run, 'succeeded');
    expect(kindsOf(world)).toEqual([]);
    world.settle();
    expect(world.state.finished).toBe(true);
  });

  it('does not come back when its signal arrives again after the user has resumed', () => {
    const world = running({ rows: 4, concurrency: 1 });
    world.apply({ type: 'pause', commandId: 'c' }, { type: 'pause', commandId: 'c' });
    world.apply({ type: 'resume', commandId: 'r' });
    world.apply({ type: 'pause', commandId: 'c' });
    expect(world.state.pauses.size).toBe(0);
    expect(answers(world)).toHaveLength(2);
  });

  it('is refused with its reason where nothing is sent any more', () => {
    const cancelled = running({ rows: 4, concurrency: 1 });
    cancelled.apply({ type: 'cancel', running: false }, { type: 'pause', commandId: 'c' });
    expect(answers(cancelled)).toEqual([
      { id: 'c', ok: false, note: 'the batch is cancelled: it sends nothing more' },
    ]);
    const closing = running({ rows: 1, concurrency: 1 });
    closing.finish('run-0', 'succeeded');
    closing.collect();
    closing.apply({ type: 'scale', commandId: 's', limits: { concurrency: 2 } });
    expect(answers(closing)).toEqual([{ id: 's', ok: false, note: 'every row has its outcome already' }]);
  });

  it('without an id stops the groups, and needs no acknowledgement', () => {
    const world = new World({ rows: 10, concurrency: 4 });
    world.apply({ type: 'pause' });
    world.answer(0, ['accepted']);
    expect([world.stopped, answers(world), world.state.pendingCommands]).toEqual([[1], [], []]);
  });
});

describe('cancel', () => {
  it('is acknowledged when the groups in flight have answered, which are asked to start no further POST', () => {
    const world = new World({ rows: 10, concurrency: 4 });
    world.apply({ type: 'cancel', running: false, commandId: 'c' });
    expect([world.stopped, answers(world)]).toEqual([[1], []]);
    world.answer(0, ['accepted']);
    expect(answers(world)).toEqual([{ id: 'c', ...DONE }]);
  });
});

describe('a change of limits', () => {
  it('ends the pause of the limit that it replaces', () => {
    const world = running({ rows: 9, concurrency: 1, retries: 0, failAfter: { rows: 1 } });
    world.finish('run-0', 'failed');
    world.apply({ type: 'scale', limits: { deadlineAt: world.wallAt } });
    expect(kindsOf(world)).toEqual(['failures', 'deadline']);
    world.apply({ type: 'scale', limits: { failAfter: 'none' } });
    expect(kindsOf(world)).toEqual(['deadline']);
    world.apply({ type: 'scale', limits: { deadlineAt: world.wallAt + 1_000 } });
    expect(kindsOf(world)).toEqual([]);
  });

  it('to a deadline that no clock can show is refused', () => {
    const { state } = running({ rows: 2, concurrency: 1 });
    expect(changeLimits(state, { deadlineAt: 8.64e16 })).toEqual({
      ok: false,
      note: 'the deadline is not a time',
    });
  });

  it('to a lower concurrency is acknowledged when no group can start a run beyond it', () => {
    const world = running({ rows: 300, concurrency: 100 });
    for (let run = 0; run < 10; run += 1) world.finish(`run-${run}`, 'succeeded');
    expect(world.sends.length).toBeGreaterThan(0);
    world.apply({ type: 'scale', commandId: 's', limits: { concurrency: 20 } });
    expect([answers(world), world.stopped.length]).toEqual([[], world.sends.length]);
    while (world.sends.length > 0) world.answer(0, ['accepted']);
    expect(answers(world)).toEqual([
      {
        id: 's',
        ok: true,
        note: 'concurrency 100 → 20; 100 runs are outstanding, and none starts before that is below 20',
      },
    ]);
    expect(progress(world.state).concurrency).toBe(20);
  });

  it('to a lower concurrency starts a run only when fewer are outstanding, also after a continue-as-new', () => {
    const world = running({ rows: 20, concurrency: 10 });
    world.apply({ type: 'scale', commandId: 's', limits: { concurrency: 3 } });
    world.continueAsNew();
    for (let run = 0; run < 7; run += 1) world.finish(`run-${run}`, 'succeeded');
    expect(world.sends).toEqual([]);
    world.finish('run-7', 'succeeded');
    expect(world.sends.map(({ attempts }) => attempts.length)).toEqual([1]);
  });

  it('to a higher concurrency is in force immediately', () => {
    const world = running({ rows: 20, concurrency: 2 });
    world.apply({ type: 'scale', commandId: 's', limits: { concurrency: 5 } });
    expect(answers(world)).toEqual([{ id: 's', ok: true, note: 'concurrency 2 → 5' }]);
    expect(world.sends.map(({ attempts }) => attempts.length)).toEqual([3]);
    expect(world.state.peakConcurrency).toBe(5);
  });

  it('that changes nothing says so', () => {
    const world = running({ rows: 20, concurrency: 2, retries: 2 });
    world.apply({
      type: 'scale',
      commandId: 's',
      limits: { concurrency: 2, retries: 2, startsPerMinute: 'none' },
    });
    expect(answers(world)).toEqual([
      { id: 's', ok: true, note: 'nothing changed: the limits are already so' },
    ]);
  });

  it('names the rate before and after, and removes it', () => {
    const { state } = running({ rows: 20, concurrency: 2 });
    expect(changeLimits(state, { startsPerMinute: 600 }).note).toBe('rate none → 600/min');
    expect(changeLimits(state, { startsPerMinute: 'none' }).note).toBe('rate 600/min → none');
    expect(state.params).not.toHaveProperty('startsPerMinute');
  });

  it('to a rate is acknowledged when the groups in flight have answered', () => {
    const world = new World({ rows: 20, concurrency: 2 });
    world.apply({ type: 'scale', commandId: 's', limits: { startsPerMinute: 60 } });
    expect(answers(world)).toEqual([]);
    world.answer(0, ['accepted']);
    expect(answers(world)).toHaveLength(1);
  });

  it('beyond the room of the state is refused, and changes nothing', () => {
    const world = running({ rows: 20, concurrency: 2, retries: 2 });
    const most = mostConcurrency(20);
    world.apply({ type: 'scale', commandId: 's', limits: { concurrency: most + 1, retries: 20 } });
    expect(answers(world)).toEqual([
      { id: 's', ok: false, note: `with 20 retries the concurrency can be at most ${most}` },
    ]);
    expect(world.state.params).toMatchObject({ concurrency: 2, retries: 2 });
  });

  it('to more retries is refused while the rows in the state leave no room for them', () => {
    const crowd = new Crowd(0, 10_000);
    crowd.answerAll('accepted');
    expect(changeLimits(crowd.state, { retries: 20, concurrency: 1 })).toEqual({
      ok: false,
      note: 'the rows in the batch leave no room for 20 retries each',
    });
    expect(changeLimits(crowd.state, { retries: 1, concurrency: 1 }).ok).toBe(true);
  });

  it('comes with a resume, or keeps the pause if it is refused', () => {
    const world = running({ rows: 20, concurrency: 2 });
    world.apply({ type: 'pause', commandId: 'p' });
    world.apply({ type: 'resume', commandId: 'r', limits: { concurrency: 1_000_000 } });
    expect([world.state.pauses.has('user'), world.state.acknowledgements.at(-1)?.ok]).toEqual([true, false]);
    world.apply({ type: 'resume', commandId: 'again', limits: { concurrency: 4 } });
    expect(world.state.acknowledgements.at(-1)).toEqual({ id: 'again', ok: true, note: 'concurrency 2 → 4' });
    expect([world.state.pauses.size, world.sends.length]).toEqual([0, 1]);
  });
});

describe('the log of a batch', () => {
  it('names each pause and command, who gave it, and what changed', () => {
    const world = running({ rows: 20, concurrency: 2 });
    const at = world.wallAt;
    world.apply({ type: 'pause', commandId: 'p', by: 'ann@desk', reason: 'lunch' });
    world.apply({ type: 'scale', commandId: 's', by: 'bob@desk', limits: { concurrency: 1 } });
    world.apply({ type: 'resume', commandId: 'r', by: 'ann@desk' });
    world.apply({ type: 'cancel', running: true, by: 'ann@desk', reason: 'wrong sheet' });
    world.pass(2_000);
    expect(world.logged).toEqual([
      { at, event: 'paused', kind: 'user', reason: 'paused by ann@desk: lunch' },
      {
        at,
        event: 'scaled',
        by: 'bob@desk',
        note: 'concurrency 2 → 1; 2 runs are outstanding, and none starts before that is below 1',
        limits: { concurrency: 1 },
      },
      { at, event: 'resumed', by: 'ann@desk' },
      { at, event: 'cancelled', by: 'ann@desk', reason: 'wrong sheet' },
    ]);
  });

  it('is written by the close, if it did not wait long enough before', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.apply({ type: 'scale', limits: { concurrency: 3 } });
    world.finish('run-0', 'succeeded');
    world.collect();
    expect(world.closes[0]).toMatchObject({ log: [{ event: 'scaled' }], logNumber: 1 });
  });

  it('keeps its newest entries when the store takes none, and writes them when it does', () => {
    const world = running({ rows: 3, concurrency: 1 });
    world.edit = (event) =>
      event.type === 'logKept' ? { type: 'storeFailed', item: LOG, reason: 'ENOSPC' } : event;
    for (let at = 0; at < LOG_MAX + 20; at += 1)
      world.apply({ type: 'scale', limits: { concurrency: 1 + (at % 2) } });
    world.pass(5_000);
    expect([world.state.log.length, [...world.state.pauses.keys()]]).toEqual([LOG_MAX, ['store']]);
    world.edit = (event) => event;
    for (let turn = 0; turn < 5; turn += 1) world.pass(60_000);
    expect([world.state.log.length, world.state.pauses.size]).toEqual([0, 0]);
  });
});
