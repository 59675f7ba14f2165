import { describe, expect, it } from 'vitest';
import { CLOCK_SLACK_MS, LEASE_MS } from '../../../src/batch/bounds.ts';
import { MAX_ACKNOWLEDGED } from '../../../src/batch/on-event/user-command.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { running } from '../scenes.ts';
import { World } from '../world.ts';

const answers = ({ state }: World): readonly unknown[] => state.acknowledgements;
const DONE = { ok: true };
const kindsOf = ({ state }: World): readonly string[] => [...state.pauses.keys()];

describe('a pause by a user', () => {
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

  it('ends with the last row: a batch that is closing is not paused', () => {
    const world = running({ rows: 2, concurrency: 2 });
    world.apply({ type: 'pause', commandId: 'c' });
    for (const run of ['run-0', 'run-1']) world.finish(run, 'succeeded');
    expect(kindsOf(world)).toEqual([]);
    world.settle();
    expect(world.state.finished).toBe(true);
  });

  it('is in force only when the lease of a group that Temporal gave up has ended: its worker may be alive', () => {
    const world = new World({ rows: 4, concurrency: 2 });
    world.answer(0, ['accepted'], true);
    world.apply({ type: 'pause', commandId: 'c' });
    expect(answers(world)).toEqual([]);
    world.continueAsNew();
    world.pass(LEASE_MS);
    expect(answers(world)).toEqual([]);
    world.pass(CLOCK_SLACK_MS);
    expect(answers(world)).toHaveLength(1);
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

  it('is refused while the results are written also for the limits of a resume, and after that for each resume', () => {
    const note = 'every row has its outcome already';
    const world = running({ rows: 1, concurrency: 1 });
    world.finish('run-0', 'succeeded');
    world.collect();
    world.apply({ type: 'resume', commandId: 'limits', limits: { concurrency: 2 } });
    world.apply({ type: 'resume', commandId: 'disk' });
    world.close();
    world.state.finished = true;
    world.apply({ type: 'resume', commandId: 'late' });
    expect(answers(world)).toEqual([
      { id: 'limits', ok: false, note },
      { id: 'disk', ok: true },
      { id: 'late', ok: false, note },
    ]);
  });

  it('without an id stops the groups, and needs no acknowledgement', () => {
    const world = new World({ rows: 10, concurrency: 4 });
    world.apply({ type: 'pause' });
    world.answer(0, ['accepted']);
    expect([world.stopped, answers(world), world.state.pendingCommands]).toEqual([[1], [], []]);
    expect(progress(world.state)).toMatchObject({ state: 'paused', reason: 'paused by a user' });
  });
});

it.each([{ type: 'pause' }, { type: 'cancel', running: false }] as const)(
  'a command is acknowledged when the groups in flight have answered, which are asked to start no further POST: %j',
  (command) => {
    const world = new World({ rows: 10, concurrency: 4 });
    world.apply({ ...command, commandId: 'c' });
    expect([world.stopped, answers(world)]).toEqual([[1], []]);
    world.answer(0, ['accepted']);
    expect(answers(world)).toEqual([{ id: 'c', ...DONE }]);
    expect(progress(world.state).running).toBe(4);
  },
);

describe('a command that another one overtakes before it is in force', () => {
  const overtaken = (by: string) => ({ ok: false, note: `overtaken by a later ${by}` });

  it('is answered with that: a pause by a resume, after which rows are sent', () => {
    const world = new World({ rows: 10, concurrency: 4 });
    world.apply({ type: 'pause', commandId: 'p' });
    world.apply({ type: 'resume', commandId: 'r' });
    world.answer(0, ['accepted', 'accepted', 'rejected', 'rejected']);
    expect(answers(world)).toEqual([
      { id: 'p', ...overtaken('resume') },
      { id: 'r', ...DONE },
    ]);
    expect(world.sends).toHaveLength(1);
  });

  it('is answered with that: a lower limit by a higher one, and everything by cancel', () => {
    const world = new World({ rows: 99, concurrency: 64 });
    world.apply({ type: 'scale', commandId: 'down', limits: { concurrency: 5 } });
    world.apply({ type: 'scale', commandId: 'up', limits: { concurrency: 70 } });
    world.apply(
      { type: 'pause', commandId: 'p' },
      { type: 'scale', commandId: 's', limits: { concurrency: 3 } },
    );
    world.apply({ type: 'resume', commandId: 'r' });
    world.apply({ type: 'cancel', commandId: 'c', running: false });
    expect(answers(world)).toMatchObject([
      { id: 'down', ...overtaken('scale') },
      { id: 'up', ok: true },
      { id: 'p', ...overtaken('resume') },
      { id: 'r', ...DONE },
      { id: 's', ...overtaken('cancel') },
    ]);
  });

  it('gets an answer also if too many commands wait', () => {
    const world = new World({ rows: 10, concurrency: 4 });
    for (let at = 0; at <= MAX_ACKNOWLEDGED; at += 1) world.apply({ type: 'pause', commandId: `p${at}` });
    expect(answers(world)).toEqual([{ id: 'p0', ...overtaken('pause') }]);
    world.answer(0, ['accepted']);
    expect(answers(world)).toHaveLength(MAX_ACKNOWLEDGED);
  });

  it('is recognised when its signal arrives again after many others', () => {
    const world = running({ rows: 9, concurrency: 2 });
    world.apply({ type: 'pause', commandId: 'p' });
    for (let at = 0; at < 2 * MAX_ACKNOWLEDGED; at += 1) world.apply({ type: 'resume', commandId: `r${at}` });
    world.continueAsNew();
    world.apply({ type: 'pause', commandId: 'p' });
    expect(kindsOf(world)).toEqual([]);
  });
});

describe('groups that a command stops', () => {
  it('are no failure of the service, however many', () => {
    const world = new World({ rows: 900, concurrency: 640 });
    const groups = world.sends.map(({ group }) => group);
    expect(groups.length).toBeGreaterThan(7);
    world.apply({ type: 'scale', commandId: 's', limits: { concurrency: 10 } });
    for (const group of groups) world.apply({ type: 'groupEnded', group, results: [], rest: 'not-sent' });
    expect([world.state.consecutiveFailures, world.state.trouble, kindsOf(world)]).toEqual([
      0,
      undefined,
      [],
    ]);
    expect(answers(world)).toMatchObject([{ id: 's', ok: true }]);
  });
});
