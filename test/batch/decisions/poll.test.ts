import { describe, expect, it } from 'vitest';
import { POLLS_IN_FLIGHT, POLL_RUNS } from '../../../src/batch/bounds.ts';
import { pollAfterMs, pollIntervalMs } from '../../../src/batch/decisions/poll.ts';
import { begin, type State } from '../../../src/batch/state/state.ts';
import type { BatchParams } from '../../../src/batch/params.ts';
import { paramsOf, TIMING } from '../params.ts';
import { running } from '../scenes.ts';

const stateWith = (params: Partial<BatchParams>, facts: Partial<State>): State => ({
  ...begin(paramsOf(params), 1, 0),
  ...facts,
});
const runningRows = (count: number): Partial<State> => ({
  phases: { waiting: 0, sending: 0, running: count, unconfirmed: 0, ended: 0 },
});

describe('age', () => {
  it('a run is polled after the interval of the service as long as webhooks have not reported the latest end', () => {
    expect(pollAfterMs(stateWith({}, {}))).toBe(TIMING.pollIntervalMs);
    expect(pollAfterMs(stateWith({}, { completedBy: 'poll' }))).toBe(TIMING.pollIntervalMs);
    expect(pollAfterMs(stateWith({ webhooks: false }, { completedBy: 'webhook' }))).toBe(
      TIMING.pollIntervalMs,
    );
  });

  it('a run is polled after twice the usual time of a run while webhooks arrive, within 4 seconds and 2 minutes', () => {
    const at = (usualRunMs: number) => pollAfterMs(stateWith({}, { completedBy: 'webhook', usualRunMs }));
    expect([at(0), at(500), at(3_000), at(50_000), at(600_000)]).toEqual([
      4_000, 4_000, 6_000, 100_000, 120_000,
    ]);
  });

  it('the usual time of a run follows the time from acceptance to end, slowly', () => {
    const world = running({ rows: 3, concurrency: 3 });
    world.pass(3_000);
    world.finish('run-0', 'succeeded');
    expect(world.state.usualRunMs).toBe(3_000);
    world.pass(10_000);
    world.finish('run-1', 'succeeded');
    expect(world.state.usualRunMs).toBeCloseTo(0.9 * 3_000 + 0.1 * 13_000);
  });
});

describe('interval', () => {
  it('a poll looks at the interval of the service, and rarely while webhooks arrive', () => {
    expect(pollIntervalMs(stateWith({}, {}))).toBe(TIMING.pollIntervalMs);
    expect(pollIntervalMs(stateWith({}, { completedBy: 'webhook' }))).toBe(4_000);
  });

  it('beside webhooks, a poll looks four times during a usual run', () => {
    const at = (usualRunMs: number) => pollIntervalMs(stateWith({}, { completedBy: 'webhook', usualRunMs }));
    expect([at(5_000), at(40_000), at(600_000)]).toEqual([4_000, 10_000, 15_000]);
  });

  it('the interval of a poll grows with the runs: fast without lists, slowly with them, up to 15 seconds', () => {
    const at = (count: number, lists: boolean) => pollIntervalMs(stateWith({ lists }, runningRows(count)));
    expect([at(50, false), at(5_000, false)]).toEqual([1_000, 15_000]);
    expect([at(50, true), at(2_000, true), at(5_000, true)]).toEqual([200, 8_000, 15_000]);
  });
});

/** The completion of the run with this number, if each row has one run. */
const completion = (run: number) =>
  ({ place: run + 1, attempt: 1, runId: `run-${run}`, outcome: 'succeeded' }) as const;

describe('poll', () => {
  it('a poll takes the runs that are old enough, with their ages', () => {
    const world = running({ rows: 2, concurrency: 2 });
    world.pass(TIMING.pollIntervalMs - 1);
    expect(world.polls).toEqual([]);
    world.pass(1);
    expect(world.polls).toEqual([
      {
        type: 'poll',
        poll: 1,
        intervalMs: TIMING.pollIntervalMs,
        isUnreadable: false,
        runs: [
          { place: 1, attempt: 1, runId: 'run-0', ageMs: TIMING.pollIntervalMs },
          { place: 2, attempt: 1, runId: 'run-1', ageMs: TIMING.pollIntervalMs },
        ],
      },
    ]);
  });

  it('a poll waits until runs are older than they usually become, while webhooks arrive', () => {
    const world = running({ rows: 4, concurrency: 2 });
    world.pass(60);
    world.finish('run-0', 'succeeded');
    world.answer(0, ['accepted']);
    world.pass(3_939);
    expect(world.polls).toEqual([]);
    world.pass(1);
    expect(world.polls.map(({ runs }) => runs.map(({ ageMs }) => ageMs))).toEqual([[4_000, 3_940]]);
  });

  it('a poll leaves out the youngest runs, which may end before it looks', () => {
    const world = running({ rows: 3, concurrency: 2 });
    world.pass(60);
    world.apply({ type: 'runsCompleted', by: 'poll', completions: [completion(0)] });
    world.answer(0, ['accepted']);
    world.pass(40);
    expect(world.polls.map(({ runs }) => runs.map(({ runId }) => runId))).toEqual([['run-1']]);
    world.pass(60);
    expect(world.polls.map(({ runs }) => runs.map(({ runId }) => runId))).toEqual([['run-1'], ['run-2']]);
  });

  it('a poll owns at most five hundred runs', () => {
    const world = running({ rows: 520, concurrency: 520 });
    world.pass(TIMING.pollIntervalMs);
    expect(world.polls.map(({ runs }) => runs.length)).toEqual([POLL_RUNS, 20]);
  });

  it('a poll is one of at most twelve, and what they do not look at is for the next one', () => {
    const world = running({ rows: 40, concurrency: 1, webhooks: false });
    for (let run = 0; run < POLLS_IN_FLIGHT + 3; run += 1) {
      world.pass(TIMING.pollIntervalMs);
      world.apply({ type: 'runsCompleted', by: 'poll', completions: [completion(run)] });
      world.answer(0, ['accepted']);
    }
    expect(world.polls).toHaveLength(POLLS_IN_FLIGHT);
    world.pass(TIMING.pollIntervalMs);
    const [first] = world.polls.splice(0, 1);
    world.apply({ type: 'pollEnded', poll: first?.poll ?? 0 });
    expect(world.polls.at(-1)?.runs.map(({ runId }) => runId)).toEqual([`run-${POLLS_IN_FLIGHT + 3}`]);
  });

  it('a poll leaves its remaining runs to the next poll, except runs that have ended or have another poll', () => {
    const world = running({ rows: 3, concurrency: 3, webhooks: false, retries: 3 });
    world.pass(100);
    expect(world.polls.map(({ runs }) => runs.length)).toEqual([3]);
    world.finish('run-0', 'failed');
    world.finish('run-1', 'succeeded');
    world.pass(5_000);
    world.answer(0, ['accepted']);
    world.pass(200);
    expect(world.polls.map(({ runs }) => runs.map(({ runId }) => runId))).toEqual([
      ['run-0', 'run-1', 'run-2'],
      ['run-3'],
    ]);
    const [first] = world.polls.splice(0, 1);
    world.apply({ type: 'pollEnded', poll: first?.poll ?? 0 });
    expect(world.polls.map(({ runs }) => runs.map(({ runId }) => runId))).toEqual([['run-3'], ['run-2']]);
    expect(world.problems).toEqual([]);
  });

  it('a poll knows which runs are being cancelled, and whether the batch waits for runs to be readable', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.apply({
      type: 'runsOverdue',
      runs: [{ place: 1, attempt: 1, runId: 'run-0', reason: 'it hangs' }],
    });
    world.apply({ type: 'serviceRead', reason: '401' });
    world.pass(100);
    expect(world.polls).toMatchObject([{ isUnreadable: true, runs: [{ runId: 'run-0', isOverdue: true }] }]);
  });

  it('a poll is asked for again after a continue-as-new, as it may have found nothing yet', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.pass(100);
    expect(world.polls).toMatchObject([{ poll: 1, isUnreadable: false }]);
    world.continueAsNew();
    expect(world.polls).toMatchObject([{ poll: 2, runs: [{ runId: 'run-0', ageMs: 100 }] }]);
  });

  it('a poll is asked for by nothing where nothing runs', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.finish('run-0', 'succeeded');
    world.pass(60_000);
    expect(world.polls).toEqual([]);
    world.apply({ type: 'pollEnded', poll: 77 });
    expect(world.polls).toEqual([]);
  });
});

describe('polls of runs that nothing happens to', () => {
  it('cost less than 1 MB of history an hour, with 3,000 runs', () => {
    const world = running({ rows: 3_000, concurrency: 3_000, retries: 0 });
    world.pass(600_000);
    const before = world.historyBytes;
    world.pass(3_600_000);
    expect(world.state.phases.running).toBe(3_000);
    expect(world.polls.flatMap(({ runs }) => runs).length).toBe(3_000);
    expect(world.historyBytes - before).toBeLessThan(1_000_000);
  });
});
