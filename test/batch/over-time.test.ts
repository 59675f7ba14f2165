import { describe, expect, it } from 'vitest';
import { mayCarry, pack, unpack, type Carried } from '../../src/batch/carry.ts';
import { step } from '../../src/batch/step.ts';
import { view } from '../../src/batch/view.ts';
import { TELL_MS } from '../../src/batch/limits.ts';
import { lookAgainMs } from '../../src/batch/watching.ts';
import { TIMING, World, orderOf, underWay } from './world.ts';

describe('the carried state', () => {
  it('is the same state, with its queues in order', () => {
    const world = underWay({ rows: 30, cap: 6, retries: 3 });
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
    const carried = { ...pack(underWay({ rows: 1, cap: 1 }).state), format: 2 } as unknown as Carried;
    expect(() => unpack(carried)).toThrow('state format 2');
  });
});

describe('time', () => {
  it('never runs backwards', () => {
    const world = underWay({ rows: 1, cap: 1 });
    const { now } = world.state;
    step(world.state, [{ type: 'woke' }], now - 60_000);
    expect(world.state.now).toBe(now);
  });
});

const NO_PHASES = { waiting: 0, sending: 0, running: 0, uncertain: 0, ended: 0 };

describe('watching', () => {
  it('looks often while no webhook brings ends, and now and then when they do', () => {
    const often = { order: orderOf(), endsBy: undefined, phases: { ...NO_PHASES, running: 10 } };
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
        phases: { ...NO_PHASES, running },
      });
    expect(at(50)).toBe(1_000);
    expect(at(5_000)).toBe(15_000);
  });

  it('grows rarer with the runs, because every look is written into the history with them', () => {
    const at = (running: number) =>
      lookAgainMs({ order: orderOf(), endsBy: 'webhook', phases: { ...NO_PHASES, running } });
    expect([at(100), at(2_000), at(3_000)]).toEqual([4_000, 8_000, 12_000]);
  });

  it('looks at what runs, one look at a time, each as far from the one before', () => {
    const world = underWay({ rows: 2, cap: 2 });
    expect(world.workAt).toBe(world.now + TIMING.pollIntervalMs);
    world.pass(TIMING.pollIntervalMs);
    expect(world.looks).toEqual([
      {
        type: 'look',
        isUnread: false,
        runs: [
          { row: 1, attempt: 1, runId: 'run-0' },
          { row: 2, attempt: 1, runId: 'run-1' },
        ],
      },
    ]);
    world.pass(60_000);
    expect(world.looks).toHaveLength(1);
    const late = { row: 1, attempt: 1, runId: 'run-0', reason: 'it showed nothing new for 2 h' };
    const lateAt = world.now;
    world.tell({ type: 'overdue', runs: [late] });
    world.tell({ type: 'read', reason: '401: Revoked token' });
    world.tell({ type: 'looked' });
    expect(world.looks).toHaveLength(1);
    world.pass(TIMING.pollIntervalMs);
    expect(world.looks[1]).toMatchObject({ isUnread: true, runs: [{ row: 2 }, { overdueAt: lateAt }] });
  });

  it('keeps its beat over a continue-as-new, and looks again where one was under way', () => {
    const world = underWay({ rows: 1, cap: 1 });
    const { lookAt } = world.state;
    world.carry();
    expect(world.state.lookAt).toBe(lookAt);
    world.pass(TIMING.pollIntervalMs);
    world.carry();
    expect(world.looks).toHaveLength(1);
  });

  it('asks for no look where nothing runs', () => {
    const world = underWay({ rows: 1, cap: 1 });
    world.finish('run-0', 'succeeded');
    world.pass(60_000);
    expect(world.looks).toEqual([]);
  });
});

describe('what a batch says of itself', () => {
  it('is said at the first change, then at most twice a second, and never left unsaid', () => {
    const world = underWay({ rows: 40, cap: 40 });
    const before = world.told.length;
    world.pass(TELL_MS);
    for (const at of [0, 1, 2, 3]) world.finish(`run-${at}`, 'succeeded');
    expect(world.told.length - before).toBeLessThan(3);
    expect(world.wakeAt).toBeLessThanOrEqual(world.now + TELL_MS);
    world.pass(TELL_MS);
    expect(world.told.at(-1)).toMatchObject({ collecting: 4, running: 36 });
    const { length } = world.told;
    world.pass(TELL_MS - 1);
    expect(world.told).toHaveLength(length);
  });

  it('is said at once where the batch pauses, has heard an order, or has ended', () => {
    const world = underWay({ rows: 2, cap: 2, uncertain: { rule: 'ask', afterMs: 0 } });
    world.tell({ type: 'read', reason: '401: Revoked token' });
    expect(world.told.at(-1)).toMatchObject({ state: 'paused', heard: [] });
    world.tell({ type: 'resume', order: 'a' });
    expect(world.told.at(-1)).toMatchObject({ state: 'running', heard: ['a'] });
    world.tell({ type: 'resume', order: 'b' });
    expect(world.told.at(-1)).toMatchObject({ state: 'running', heard: ['a', 'b'] });
    world.tell({ type: 'cancel', running: false, order: 'c' });
    expect(world.told.at(-1)).toMatchObject({ state: 'cancelling', heard: ['a', 'b', 'c'] });
    world.settle();
    expect(world.told.at(-1)).toMatchObject({ state: 'finished', done: 2 });
  });

  it('is said anew by the next workflow run', () => {
    const world = underWay({ rows: 1, cap: 1 });
    world.tell({ type: 'cancel', running: false, order: 'a' });
    const { length } = world.told;
    world.carry();
    expect(world.told).toHaveLength(length + 1);
    expect(world.told.at(-1)).toMatchObject({ heard: ['a'] });
  });
});

describe('the view', () => {
  it('accounts for every row at any moment', () => {
    const world = underWay({ rows: 40, cap: 6 });
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
