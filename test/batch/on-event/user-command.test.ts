import { describe, expect, it } from 'vitest';
import { MAX_ACKNOWLEDGED } from '../../../src/batch/on-event/user-command.ts';
import { PROBE_MS } from '../../../src/batch/pausing/pauses.ts';
import { maySnapshot } from '../../../src/batch/state/snapshot.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { STUCK_MS, running, unconfirmed } from '../scenes.ts';
import { World } from '../world.ts';

const ids = ({ state }: World): readonly string[] => state.acknowledgements.map(({ id }) => id);

describe('cancel', () => {
  it('cancelling ends the rows that wait, lets runs go on, and counts what was never sent', () => {
    const world = running({ rows: 10, concurrency: 2 });
    world.finish('run-0', 'failed');
    world.answer(0, ['accepted']);
    world.apply({ type: 'cancel', running: false });
    expect(progress(world.state)).toMatchObject({ state: 'cancelling', running: 2, retrying: 0 });
    world.settle();
    expect(world.problems).toEqual([]);
    expect(world.state.tally.outcomes).toMatchObject({ succeeded: 2, cancelled: 8 });
    expect(world.folder.rows.get(1)?.attempts.at(-1)?.reason).toBe('cancelled before it was sent again');
  });

  it('cancelling ends all rows that wait for another attempt', () => {
    const world = running({ rows: 4, concurrency: 4 });
    for (let run = 0; run < 4; run += 1) world.finish(`run-${run}`, 'failed');
    expect(progress(world.state).retrying).toBe(4);
    world.apply({ type: 'cancel', running: false });
    expect(progress(world.state)).toMatchObject({ retrying: 0, collecting: 4 });
  });

  it('cancelling writes again what the store would not take, without waiting for its probe', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.finish('run-0', 'succeeded');
    world.collect(0, 'fetched', 'full');
    world.apply({ type: 'cancel', running: false });
    expect(world.collects).toHaveLength(1);
  });

  it('cancelling asks for the end of no run that has one', () => {
    const world = running({ rows: 4, concurrency: 4 });
    world.finish('run-1', 'succeeded');
    world.finish('run-2', 'failed');
    world.apply({ type: 'cancel', running: true });
    expect(world.cancels.flatMap(({ runs }) => runs.map(({ runId }) => runId))).toEqual(['run-0', 'run-3']);
  });

  it('cancelling cannot be made milder', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.apply({ type: 'cancel', running: true });
    world.apply({ type: 'cancel', running: false });
    expect(world.state.cancelling).toBe('running');
  });

  it('cancelling ends every pause, so that the batch can end', () => {
    const world = new World({ rows: 2, concurrency: 1 });
    world.answer(0, ['blocked']);
    world.apply({ type: 'serviceRead', reason: '401' });
    world.apply({ type: 'cancel', running: false });
    expect(world.state.pauses.size).toBe(0);
    world.settle();
    expect(world.state.tally.outcomes.cancelled).toBe(2);
  });

  it('cancelling means nothing any more while the results are written', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.finish('run-0', 'succeeded');
    world.collect();
    world.apply({ type: 'cancel', running: true });
    expect(world.state.cancelling).toBeUndefined();
  });

  it('cancelling asks the service for nothing if nothing runs', () => {
    const world = unconfirmed();
    world.apply({ type: 'cancel', running: true });
    expect(world.cancels).toEqual([]);
  });
});

describe('resume', () => {
  it('resuming ends every pause and every wait, and sends immediately', () => {
    const world = new World({ rows: 3, concurrency: 1 });
    world.answer(0, ['blocked']);
    world.apply({ type: 'resume' });
    expect(world.sends.at(-1)?.attempts).toEqual([{ place: 1, attempt: 1 }]);
    for (let time = 0; time < 3; time += 1) {
      world.answer(0, ['not-sent']);
      world.apply({ type: 'resume' });
      expect(world.sends).toHaveLength(1);
    }
    expect(progress(world.state)).toMatchObject({ state: 'running' });
    expect(progress(world.state).reason).toBeUndefined();
  });

  it('resuming fetches what waits for its files immediately', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.finish('run-0', 'succeeded');
    world.collect(0, 'file');
    expect(world.collects).toEqual([]);
    world.apply({ type: 'resume' });
    expect(world.collects).toHaveLength(1);
    expect(world.state.filesFailSince).toBeUndefined();
  });

  it('resuming writes again what the store would not take', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.finish('run-0', 'succeeded');
    world.collect(0, 'fetched', 'full');
    world.apply({ type: 'resume' });
    expect(world.collects).toHaveLength(1);
    world.collect(0, 'fetched', 'full');
    expect(world.waitMs).toBe(PROBE_MS);
  });

  it('resuming decides about unconfirmed attempts only when no proof can be expected any more', () => {
    const world = unconfirmed({ rows: 4, concurrency: 4, unconfirmed: { rule: 'ask', afterMs: 0 } });
    world.apply({ type: 'resume', unconfirmed: 'fail' });
    expect(progress(world.state).unconfirmed).toBe(4);
    world.pass(STUCK_MS);
    world.apply({ type: 'resume', unconfirmed: 'fail' });
    expect(progress(world.state).unconfirmed).toBe(0);
    expect(world.state.ledger.failed).toBe(4);
  });
});

describe('resume of a cancelled batch', () => {
  it('does not send unconfirmed attempts again, also if the user decides to resubmit them', () => {
    const world = unconfirmed({ rows: 4, concurrency: 4 });
    world.apply({ type: 'cancel', running: false });
    world.pass(STUCK_MS);
    world.apply({ type: 'resume', unconfirmed: 'resubmit' });
    expect(world.sends).toEqual([]);
    expect(world.state.ledger).toMatchObject({ unknown: 4, resubmitted: 0 });
  });
});

describe('acknowledgements', () => {
  it('an acknowledgement names each command once it is in force, the latest twenty', () => {
    const world = running({ rows: 1, concurrency: 1 });
    for (let at = 0; at < MAX_ACKNOWLEDGED + 5; at += 1) world.apply({ type: 'resume', commandId: `c${at}` });
    expect(world.state.acknowledgements).toHaveLength(MAX_ACKNOWLEDGED);
    expect(world.state.acknowledgements.at(-1)).toEqual({ id: `c${MAX_ACKNOWLEDGED + 4}`, ok: true });
  });
});

describe('refresh', () => {
  it('refreshing continues as new as soon as no group is in flight, and is acknowledged by the next workflow run', () => {
    const world = new World({ rows: 3, concurrency: 1 });
    world.apply({ type: 'refresh', commandId: 'r' });
    expect([world.state.isStopping, maySnapshot(world.state), ids(world)]).toEqual([true, false, []]);
    world.answer(0, ['rejected']);
    expect(world.sends).toEqual([]);
    world.continueAsNew();
    expect([world.state.isStopping, ids(world)]).toEqual([false, ['r']]);
    expect(world.sends).toHaveLength(1);
    world.answer(0, ['accepted']);
    world.continueAsNew();
    expect(ids(world)).toEqual(['r']);
  });

  it('refreshing is remembered for the latest twenty commands', () => {
    const world = new World({ rows: 1, concurrency: 1 });
    for (let at = 0; at < MAX_ACKNOWLEDGED + 5; at += 1)
      world.apply({ type: 'refresh', commandId: `c${at}` });
    expect(world.state.refreshIds).toHaveLength(MAX_ACKNOWLEDGED);
    expect(world.state.refreshIds.at(-1)).toBe(`c${MAX_ACKNOWLEDGED + 4}`);
  });

  it('refreshing is acknowledged to each user who asked for it', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.apply(
      { type: 'refresh', commandId: 'a' },
      { type: 'refresh' },
      { type: 'refresh', commandId: 'b' },
    );
    world.continueAsNew();
    expect(ids(world)).toEqual(['a', 'b']);
  });
});
