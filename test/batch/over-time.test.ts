import { describe, expect, it } from 'vitest';
import { mayCarry, pack, unpack, type Carried } from '../../src/batch/carry.ts';
import { step } from '../../src/batch/step.ts';
import { view } from '../../src/batch/view.ts';
import { firstLookMs, lookAgainMs, watch } from '../../src/batch/watching.ts';
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
    const world = underWay({ rows: 2, cap: 2 });
    expect(watch(world.state)).toEqual({
      runs: [
        { row: 1, attempt: 1, runId: 'run-0', since: world.now },
        { row: 2, attempt: 1, runId: 'run-1', since: world.now },
      ],
      isUnread: false,
      lookAgainMs: TIMING.pollIntervalMs,
    });
    const late = { row: 1, attempt: 1, runId: 'run-0', reason: 'it showed nothing new for 2 h' };
    world.tell({ type: 'overdue', runs: [late] });
    world.tell({ type: 'read', reason: '401: Revoked token' });
    expect(watch(world.state)).toMatchObject({
      isUnread: true,
      runs: [{ row: 2 }, { overdueAt: world.now }],
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
