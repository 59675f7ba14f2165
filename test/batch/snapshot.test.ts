import { describe, expect, it } from 'vitest';
import { collect } from '../../src/batch/decisions/collect.ts';
import { maySnapshot, restore, snapshot, type Snapshot } from '../../src/batch/state/snapshot.ts';
import { progress } from '../../src/batch/shown/progress.ts';
import type { PastAttempt } from '../../src/batch/outcome.ts';
import type { RowState } from '../../src/batch/state/row-state.ts';
import { put } from '../../src/batch/state/put-row.ts';
import { addRunCost, NO_RUN_COSTS } from '../../src/batch/accounting/cost-histogram.ts';
import { newClimbingLane, newLane } from '../../src/batch/state/lanes.ts';
import { begin, unconfirmedRows, type State } from '../../src/batch/state/state.ts';
import { lostOnTheWay, problemsOf } from './invariants.ts';
import { paramsOf } from './params.ts';
import { WRITES } from '../../src/batch/behaviour-version.ts';
import { running, runOfFirst } from './scenes.ts';
import { World } from './world.ts';

const travelled = (state: State): State => restore(JSON.parse(JSON.stringify(snapshot(state))) as Snapshot);

/** Several rows in each phase that a snapshot may contain, with all optional fields. */
function busy(): World {
  const world = new World({
    rows: 60,
    concurrency: 12,
    retries: 3,
    unconfirmed: { rule: 'unknown', afterMs: 10 ** 9 },
  });
  world.answer(0, ['accepted', 'accepted', 'accepted', 'dropped']);
  // The first of the two lists that prove absence.
  while (unconfirmedRows(world.state).every(({ missedAt }) => missedAt === undefined)) {
    world.read();
    world.pass(100);
  }
  for (const run of [0, 1, 2]) world.finish(`run-${run}`, 'succeeded');
  world.pass(world.waitFor(collect));
  world.collect(0, 'file');
  while (world.sends.length > 0) world.answer(0, ['dropped', 'throttled', 'rejected', 'accepted']);
  for (const run of [4, 3]) world.finish(`run-${run}`, 'failed');
  const late = world.service.runs.find(({ status }) => status === 'open');
  if (late) world.apply({ type: 'runsOverdue', runs: [{ ...late, reason: 'it hangs' }] });
  world.apply({ type: 'runsSeen', runs: [runOfFirst('extra')] });
  world.apply({ type: 'serviceRead', reason: '401' });
  while (world.sends.length > 0) world.answer(0, ['accepted']);
  return world;
}

const base = { attempt: 4, tries: 1 };
const PAST: readonly PastAttempt[] = [
  { attempt: 1, outcome: 'failed', runId: 'r', reason: 'it failed' },
  { attempt: 2, outcome: 'absent', reason: 'no answer' },
  { attempt: 3, outcome: 'timed-out', runId: 's' },
];
const doubtful = {
  phase: 'unconfirmed',
  askedAt: 1,
  askedWallAt: 2,
  sentBy: 3,
  reason: 'no answer',
} as const;
const ROWS: readonly RowState[] = [
  { ...base, place: 1, past: PAST, phase: 'waiting', dueAt: 5 },
  { ...base, place: 2, past: [], phase: 'waiting', dueAt: 6, turnedAway: 'throttled' },
  { ...base, place: 3, past: PAST, phase: 'running', runId: 'r', since: 7 },
  {
    ...base,
    place: 4,
    past: [],
    phase: 'running',
    runId: 'r',
    since: 7,
    overdue: { at: 8, reason: 'it hangs' },
  },
  { ...base, place: 5, past: PAST, ...doubtful },
  { ...base, place: 6, past: [], ...doubtful, missedAt: 9, serviceAt: 10 },
  {
    ...base,
    place: 7,
    past: PAST,
    phase: 'ended',
    at: 10,
    outcome: 'failed',
    runId: 'r',
    reason: 'it failed',
  },
  { ...base, place: 8, past: [], phase: 'ended', at: 11, outcome: 'cancelled' },
  {
    ...base,
    place: 9,
    past: [],
    phase: 'ended',
    at: 12,
    outcome: 'succeeded',
    runId: 'r',
    deferral: { tries: 2, notBefore: 13 },
  },
];

describe('snapshot', () => {
  it('a batch that continues as new has the same state, with its queues in order', () => {
    const { state } = busy();
    const again = travelled(state);
    for (const phase of ['waiting', 'running', 'unconfirmed', 'ended'] as const)
      expect(state.phases[phase], phase).toBeGreaterThan(0);
    expect(state.deferred.length).toBeGreaterThan(0);
    expect(lostOnTheWay(state, again)).toEqual([]);
    expect(progress(again)).toEqual(progress(state));
    expect(problemsOf(again)).toEqual([]);
  });

  it('a restored state has every row, number, reason and decision of the one that travelled, whatever it has and has not', () => {
    const state = begin(paramsOf(), WRITES, 0);
    for (const row of ROWS) put(state, row);
    Object.assign(state, {
      now: 10,
      startedWallAt: 11,
      serviceOffset: { min: -12, max: 13 },
      evidenceFiles: 14,
      isEvidenceLost: true,
      nextGroup: 15,
      nextPart: 16,
      nextPoll: 17,
      nextCancel: 18,
      holdUntil: 19,
      consecutiveFailures: 2,
      trouble: 'nothing can be sent',
      rateLimit: { gapMs: 40, nextAt: 20 },
      filesFailSince: 21,
      filesFineAt: 20,
      cancelling: 'unsent',
      control: { runId: 'control', at: 22 },
      usualRunMs: 23,
      completedBy: 'poll',
      acknowledgements: [{ id: 'a', ok: true }],
      lastFailure: { place: 1, outcome: 'failed' },
      abandoned: new Set(['7/1']),
      gate: 'open',
      pass: 2,
      wantedPass: 3,
      cancelledPass: 1,
      triedPass: 1,
      passCommands: [{ id: 'p', pass: 3 }],
      again: 4,
      log: [{ at: 5, event: 'resumed' }],
      logDueAt: 7,
      logFiles: 8,
      membership: { life: 1, joinedAt: 2, number: 3, epoch: 4, limit: 5, size: 6 },
      nextStartAt: 24,
      peakConcurrency: 25,
      filesFault: 'the host is away',
      refreshIds: ['r'],
      pendingCommands: [{ id: 'c', ok: true, kind: 'pause', upTo: 2 }],
      leasedUntil: 26,
      knownCommands: ['k'],
      failures: { 'out-of-memory': 1 },
      endings: { all: 3, bad: 2 },
      resumedAt: { all: 2, bad: 1 },
      notified: ['paused:user'],
      notices: [{ number: 1, news: 'done', to: 'slack:a', at: 27, pass: 2 }],
      nextNotice: 2,
    } satisfies Partial<State>);
    const again = travelled(state);
    expect(lostOnTheWay(state, again)).toEqual([]);
    expect(again.wakeAt).toBe(state.now);
    for (const row of ROWS) expect(again.rows.get(row.place)).toStrictEqual(row);
  });

  it('a lane travels with its places, its rung, its costs and the concurrency that it has found', () => {
    const costs = addRunCost(NO_RUN_COSTS, 5e8);
    const segments = [false, true].flatMap((isAgain) =>
      [false, true].map((isCanary) => ({
        first: 1,
        count: 2,
        ...(isAgain && { isAgain }),
        ...(isCanary && { isCanary }),
      })),
    );
    const state = begin(paramsOf({ rows: 9, ladder: ['T4', 'A10G'], lanes: [{ places: 9 }] }), WRITES, 0);
    const climbing = newClimbingLane(3, ['T4', 'A10G'], segments);
    Object.assign(climbing.climb, { rung: 1, isProven: true });
    Object.assign(climbing.climb.rungs[1] ?? {}, { unpriced: 2, costs });
    const adaptive = {
      cap: 4,
      knee: 3,
      quiet: 1,
      since: 2,
      ends: 5,
      peak: 6,
      samples: [],
      cold: 0,
      isHalved: true as const,
    };
    const flat = { ...newLane('T4', segments), unpriced: 1, costs };
    state.lanes.splice(0, 1, climbing, newClimbingLane(0, ['T4', 'A10G'], []), flat, {
      ...newLane(undefined, segments),
      adaptive,
    });
    expect(lostOnTheWay(state, travelled(state))).toEqual([]);
  });

  it('of the runs that wait to be cancelled only duplicates travel: those of rows are cancelled because of their rows', () => {
    const { state } = busy();
    expect(state.cancels.size).toBe(2);
    expect(snapshot(state).cancels).toEqual([[1, 1, 'extra']]);
  });

  it('a restored state polls every run again, and repeats cancels that were in flight', () => {
    const { state } = busy();
    const again = travelled(state);
    expect(again.unpolled.size).toBe(state.phases.running);
    expect(again.polls.size).toBe(0);
    expect([...again.cancels.keys()].toSorted()).toEqual([...state.cancels.keys()].toSorted());
  });

  it('a state does not travel while a group is in flight, nor while the batch closes', () => {
    const sending = new World({ rows: 1, concurrency: 1 });
    expect(maySnapshot(sending.state)).toBe(false);
    expect(() => snapshot(sending.state)).toThrow('1 groups are in flight');
    const closing = running({ rows: 1, concurrency: 1 });
    closing.finish('run-0', 'succeeded');
    closing.collect();
    expect(closing.closes).toHaveLength(1);
    expect(() => snapshot(closing.state)).toThrow('cannot travel');
  });

  it('a row keeps the tries of its files over a continue-as-new', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.finish('run-0', 'succeeded');
    world.collect(0, 'file');
    world.pass(world.waitMs);
    world.continueAsNew();
    expect(world.collects[0]?.rows).toMatchObject([{ place: 1, deferral: { tries: 1 } }]);
    for (let time = 0; time < 6; time += 1) {
      world.collect(0, 'file');
      world.pass(world.waitMs);
    }
    world.continueAsNew();
    expect(world.collects[0]?.rows).toMatchObject([{ place: 1, deferral: { tries: 7 }, isLastTry: true }]);
  });
});

it.each(['endings', 'resumedAt', 'log', 'nextStartAt', 'peakConcurrency'] as const)(
  'a snapshot of a release that did not know %s is continued',
  (field) => {
    const { [field]: _, ...older } = snapshot(running({ rows: 4, concurrency: 2 }).state);
    const state = restore(JSON.parse(JSON.stringify(older)) as Snapshot);
    expect(state[field]).toBeDefined();
    expect(problemsOf(state)).toEqual([]);
  },
);
