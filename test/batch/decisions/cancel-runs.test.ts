import { describe, expect, it } from 'vitest';
import { restore, snapshot } from '../../../src/batch/state/snapshot.ts';
import { CANCELS_IN_FLIGHT } from '../../../src/batch/bounds.ts';
import { reconcile } from '../../../src/batch/decisions/reconcile.ts';
import { CANCEL_RUNS } from '../../../src/batch/decisions/cancel.ts';
import { CANCEL_PATIENCE_MS } from '../../../src/batch/decisions/abandon-runs.ts';
import { provesFrom, MAX_RECONCILE_MS } from '../../../src/batch/on-event/list-read.ts';
import { unconfirmedRows } from '../../../src/batch/state/state.ts';
import { TIMING } from '../params.ts';
import { PROOF_MS, running, runOfFirst, unconfirmed } from '../scenes.ts';
import { World } from '../world.ts';

const cancelled = ({ cancels }: World): readonly string[] =>
  cancels.flatMap(({ runs }) => runs.map(({ runId }) => runId));

describe('cancel runs', () => {
  it('cancels are merged: a hundred runs a command, four commands in flight', () => {
    const world = running({ rows: 1_000, concurrency: 950 });
    world.apply({ type: 'cancel', running: true });
    expect(world.cancels.map(({ runs }) => runs.length)).toEqual(
      Array.from({ length: CANCELS_IN_FLIGHT }, () => CANCEL_RUNS),
    );
    const cancelledRuns = new Set<string>();
    while (world.cancels.length > 0) {
      for (const { runId } of world.cancels[0]?.runs ?? []) cancelledRuns.add(runId);
      world.cancel();
      expect(world.cancels.length).toBeLessThanOrEqual(CANCELS_IN_FLIGHT);
    }
    expect(cancelledRuns.size).toBe(950);
    expect(world.state.cancels.size).toBe(0);
  });

  it('cancels name no run that is named by another command in flight', () => {
    const world = running({ rows: 10, concurrency: 5 });
    world.apply({ type: 'runsSeen', runs: [runOfFirst('other')] });
    world.apply({ type: 'cancel', running: true });
    expect(cancelled(world).toSorted()).toEqual(['other', 'run-0', 'run-1', 'run-2', 'run-3', 'run-4']);
    expect(world.cancels).toHaveLength(2);
  });

  it('cancels ask also for the runs that are accepted, or turn up, after the user cancelled', () => {
    const world = new World({ rows: 2, concurrency: 2 });
    world.apply({ type: 'cancel', running: true });
    world.answer(0, ['accepted', 'lost']);
    expect(cancelled(world)).toEqual(['run-0']);
    world.read();
    expect(cancelled(world)).toEqual(['run-0', 'run-1']);
  });

  it('cancels are asked for again after a continue-as-new, by the rows that run and for duplicates', () => {
    const world = running({ rows: 4, concurrency: 4 });
    world.apply({ type: 'cancel', running: true });
    world.apply({ type: 'runsSeen', runs: [runOfFirst('other')] });
    const before = cancelled(world).toSorted();
    world.continueAsNew();
    expect(cancelled(world).toSorted()).toEqual(before);
    world.cancel();
    world.finish('run-0', 'cancelled');
    world.settle();
    expect(world.problems).toEqual([]);
    expect(world.state.tally.outcomes.cancelled).toBe(4);
  });

  it('cancels are answered once: an answer that is not awaited changes nothing', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.apply({ type: 'runsCancelled', id: 99 });
    expect(world.runOf(1)).toBe('run-0');
  });
});

const overdue = (world: World, rows: number): void => {
  const runs = Array.from({ length: rows }, (_, at) => ({
    place: at + 1,
    attempt: 1,
    runId: `run-${at}`,
    reason: 'it hangs',
  }));
  world.apply({ type: 'runsOverdue', runs });
};

describe('abandoned runs', () => {
  it('an overdue run is abandoned a minute after the service was asked to cancel it: its row ends as unknown and its slot is free', () => {
    const world = running({ rows: 2, concurrency: 1 });
    overdue(world, 1);
    world.pass(10_000);
    world.cancel(false);
    world.pass(CANCEL_PATIENCE_MS - 1);
    expect(world.runOf(1)).toBe('run-0');
    world.pass(1);
    expect(world.sends.at(-1)?.attempts).toEqual([{ place: 2, attempt: 1 }]);
    world.pass(1_000);
    expect(world.collects[0]?.rows[0]?.attempts).toEqual([
      {
        attempt: 1,
        outcome: 'unknown',
        runId: 'run-0',
        reason: 'it hangs, and could not be cancelled: it may still run',
      },
    ]);
  });

  it('an overdue run is not abandoned before the service was asked to cancel it', () => {
    const world = running({ rows: 1, concurrency: 1 });
    overdue(world, 1);
    world.pass(10 * CANCEL_PATIENCE_MS);
    expect(world.runOf(1)).toBe('run-0');
  });

  it('an overdue run is not abandoned while runs cannot be read: its end may be there to see', () => {
    const world = running({ rows: 1, concurrency: 1 });
    overdue(world, 1);
    world.cancel(false);
    world.apply({ type: 'serviceRead', reason: '401' });
    world.pass(2 * CANCEL_PATIENCE_MS);
    expect(world.runOf(1)).toBe('run-0');
    world.apply({ type: 'serviceRead' });
    expect(world.runOf(1)).toBeUndefined();
  });

  it('an overdue run has its time again after a continue-as-new, as it is cancelled again', () => {
    const world = running({ rows: 1, concurrency: 1 });
    overdue(world, 1);
    world.cancel(false);
    world.pass(CANCEL_PATIENCE_MS - 1);
    world.continueAsNew();
    expect(world.cancels.map(({ runs }) => runs)).toEqual([[runOfFirst('run-0')]]);
    world.cancel(false);
    world.pass(CANCEL_PATIENCE_MS - 1);
    expect(world.runOf(1)).toBe('run-0');
    world.pass(1);
    expect(world.runOf(1)).toBeUndefined();
  });

  it('overdue runs stay in their order after a continue-as-new: the one that waits for longest is the first', () => {
    const world = running({ rows: 2, concurrency: 2 });
    const late = (at: number): void => {
      const run = { place: at + 1, attempt: 1, runId: `run-${at}`, reason: 'it hangs' };
      world.apply({ type: 'runsOverdue', runs: [run] });
    };
    late(1);
    world.pass(1_000);
    late(0);
    world.continueAsNew();
    expect([...world.state.overdue]).toEqual([2, 1]);
    // Batches of earlier versions go on in the order in which their rows were sent.
    expect([...restore({ ...snapshot(world.state), version: 5 }).overdue]).toEqual([1, 2]);
  });

  it('thousands of overdue runs are abandoned in one step when runs can be read again', () => {
    const world = running({ rows: 1_500, concurrency: 1_500 });
    overdue(world, 1_500);
    while (world.cancels.length > 0) world.cancel(false);
    world.apply({ type: 'serviceRead', reason: '401' });
    world.pass(2 * CANCEL_PATIENCE_MS);
    world.apply({ type: 'serviceRead' });
    expect(world.state.phases.running).toBe(0);
    expect(world.problems).toEqual([]);
  });
});

describe('reconcile', () => {
  it('reading the run lists begins as soon as an attempt is unconfirmed, one reading at a time for all of them', () => {
    const world = new World({ rows: 10, concurrency: 40 });
    expect(world.readings).toEqual([]);
    world.answer(0, ['dropped', 'accepted']);
    expect(world.readings.map(({ attempts }) => attempts.length)).toEqual([5]);
    world.pass(1_000_000);
    expect(world.readings).toHaveLength(1);
  });

  it('reading the run lists goes back to when the group was asked for, however late it was abandoned', () => {
    const world = new World({ rows: 1, concurrency: 1 });
    world.pass(12 * 3_600_000);
    world.answer(0, ['lost']);
    expect(world.readings.map(({ back }) => back)).toEqual([{ agoMs: 12 * 3_600_000, wallAt: world.wallAt }]);
  });

  it("reading the run lists goes as far back if Temporal's clock was set back meanwhile", () => {
    const world = new World({ rows: 1, concurrency: 1 });
    world.pass(5_000);
    world.jump(-3_600_000);
    world.answer(0, ['lost']);
    expect(world.readings[0]?.back.agoMs).toBe(5_000);
  });

  it('reading the run lists goes back to the oldest attempt, and names the newest run that was accepted as control', () => {
    const world = new World({ rows: 70, concurrency: 64 });
    world.answer(0, ['accepted']);
    world.pass(1_000);
    world.answer(0, ['dropped']);
    world.read('incomplete');
    world.finish('run-0', 'succeeded');
    world.pass(1_000);
    world.answer(0, ['accepted']);
    expect(world.readings[0]).toMatchObject({ back: { agoMs: 1_000 + TIMING.listGapMs }, control: 'run-31' });
    world.read('incomplete');
    world.pass(1_000);
    expect(world.readings[0]).toMatchObject({ control: 'run-32' });
  });

  it("a reading that may prove absence goes an hour further back: the service's clock may have been back meanwhile", () => {
    const world = new World({ rows: 1, concurrency: 1 });
    const readAfter = (ms: number) => {
      world.pass(ms);
      const agoMs = world.readings[0]?.back.agoMs;
      world.read('incomplete');
      return agoMs;
    };
    world.answer(0, ['lost']);
    expect([readAfter(0), readAfter(TIMING.listGapMs)]).toEqual([0, TIMING.listGapMs]);
    readAfter(PROOF_MS);
    expect(readAfter(TIMING.listGapMs)).toBeGreaterThan(3_600_000);
  });

  it('a reading that may prove the absence of one of several attempts, if it shows a control, goes an hour further back', () => {
    const world = new World({ rows: 33, concurrency: 33 });
    world.answer(0, ['dropped']);
    const { state } = world;
    const [oldest] = unconfirmedRows(state);
    if (oldest !== undefined) world.pass(provesFrom(state, oldest, true) - state.now - 1);
    world.answer(0, ['dropped']);
    const readings = [0, 1].map((ms) => {
      world.pass(ms);
      return reconcile.act(state)?.[0];
    });
    expect(readings).toMatchObject([{ attempts: { length: 33 } }, { back: { agoMs: 3_600_000 + 6_000 } }]);
  });

  it('reading the run lists goes back to the oldest of several unconfirmed attempts', () => {
    const world = new World({ rows: 34, concurrency: 33 });
    world.answer(0, ['dropped']);
    world.answer(0, ['accepted']);
    world.pass(3_000);
    world.finish('run-0', 'succeeded');
    world.read('incomplete');
    world.pass(1_000);
    world.answer(0, ['dropped']);
    world.read('incomplete');
    world.pass(1_000);
    expect(world.readings[0]).toMatchObject({
      attempts: { length: 33 },
      back: { agoMs: expect.any(Number) },
    });
    expect(world.readings[0]?.back.agoMs).toBeGreaterThan(4_000);
  });

  it('reading the run lists expects as many runs as are known, but for the latest ones, and never fewer than none', () => {
    const world = new World({ rows: 33, concurrency: 1 });
    for (let row = 0; row < 32; row += 1) {
      world.answer(0, ['accepted']);
      world.finish(`run-${row}`, 'succeeded');
    }
    world.answer(0, ['dropped']);
    expect(world.readings[0]?.least).toBe(31);
    const small = new World({ rows: 64, concurrency: 64 });
    small.answer(0, ['dropped']);
    expect(small.readings[0]?.least).toBe(0);
  });

  it.each([
    ['after ten gaps of the service at most', TIMING.listGapMs, 10 * TIMING.listGapMs],
    ['at least once a minute', 7_000, MAX_RECONCILE_MS],
  ])('reading the run lists comes less and less often, %s', (_, listGapMs, most) => {
    const world = unconfirmed({ timing: { ...TIMING, listGapMs } });
    const gaps: number[] = [];
    for (let reading = 0; reading < 16; reading += 1) {
      world.read('incomplete');
      gaps.push(world.waitMs);
      world.pass(world.waitMs);
    }
    expect(gaps.slice(0, 5)).toEqual([1, 1, 1, 1, 2].map((times) => times * listGapMs));
    expect(gaps.at(-1)).toBe(most);
  });

  it('reading the run lists comes no more often than the service wants', () => {
    const world = unconfirmed({ timing: { ...TIMING, listGapMs: 600_000 } });
    for (let reading = 0; reading < 8; reading += 1) {
      world.read('incomplete');
      expect(world.waitFor(reconcile)).toBe(600_000);
      world.pass(600_000);
    }
  });

  it('reading the run lists comes often again when another attempt is unconfirmed', () => {
    const world = new World({ rows: 2, concurrency: 2 });
    world.end([
      { place: 1, attempt: 1, result: 'unconfirmed' },
      { place: 2, attempt: 1, result: 'not-sent' },
    ]);
    for (let reading = 0; reading < 8; reading += 1) {
      world.read('incomplete');
      world.pass(world.waitMs);
      while (world.sends.length > 1) world.sends.shift();
    }
    world.read('incomplete');
    expect(world.waitMs).toBe(10 * TIMING.listGapMs);
    world.answer(0, ['dropped']);
    expect(world.readings.map(({ attempts }) => attempts.length)).toEqual([2]);
    world.read('incomplete');
    expect(world.waitFor(reconcile)).toBe(TIMING.listGapMs);
  });

  it('reading the run lists is begun again after a continue-as-new, not before its time', () => {
    const world = unconfirmed();
    world.continueAsNew();
    expect(world.readings).toHaveLength(1);
    world.read('incomplete');
    const { waitMs } = world;
    world.continueAsNew();
    expect(world.readings).toEqual([]);
    expect(world.waitMs).toBe(waitMs);
  });
});
