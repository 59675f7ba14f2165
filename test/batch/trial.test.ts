// A batch in which no row has succeeded yet buys no row twice, and pauses when its attempts end alike.

import { describe, expect, it } from 'vitest';
import { MAX_VERDICT_MS } from '../../src/batch/decisions/judge-trial.ts';
import type { RunCompletion } from '../../src/batch/events.ts';
import { READS } from '../../src/batch/behaviour-version.ts';
import type { BatchParams } from '../../src/batch/params.ts';
import { progress } from '../../src/batch/shown/progress.ts';
import { UNTIL_VERDICT } from '../../src/batch/state/row-state.ts';
import { waitingRows } from '../../src/batch/state/state.ts';
import { MAX_ALIKE, endTrial, startTrial } from '../../src/batch/trial.ts';
import { World } from './world.ts';

const REASON = "Value not in list: ckpt_name: 'flux.safetensors'";

/** A world whose failed runs have these reasons, by their number. */
function worldOf(params: Partial<BatchParams>, reasonOf: (run: number) => string = () => REASON): World {
  const world = new World(params);
  const withReason = (end: RunCompletion): RunCompletion =>
    end.outcome === 'failed' ? { ...end, reason: reasonOf(Number(end.runId.slice(4))) } : end;
  world.edit = (event) =>
    event.type === 'runsCompleted' ? { ...event, completions: event.completions.map(withReason) } : event;
  return world;
}

const isOpen = ({ status }: { readonly status: string }): boolean => status === 'open';
const paused = ({ state }: World): readonly string[] => [...state.pauses.keys()];
const attempts = ({ service: { runs } }: World): number => Math.max(0, ...runs.map(({ attempt }) => attempt));

/** Accepts and ends everything until nothing more happens; `endOf` says how the run of a place ends. */
function play(world: World, endOf: (place: number) => 'failed' | 'succeeded' = () => 'failed'): void {
  for (let turn = 0; turn < 500; turn += 1) {
    while (world.sends.length > 0) world.answer(0, ['accepted']);
    for (const run of world.service.runs.filter(isOpen)) world.finish(run.runId, endOf(run.place));
    while (world.collects.length > 0) world.collect();
    while (world.closes.length > 0) world.close();
    if (world.state.finished || world.state.pauses.size > 0) return;
    world.pass(2_000);
  }
}

let commands = 0;
const resume = (world: World): void => void world.apply({ type: 'resume', commandId: `r${(commands += 1)}` });

describe('a batch in which every run fails for the same reason', () => {
  it('is paused after ten runs and those in flight with them, and buys no row twice', () => {
    const world = worldOf({ rows: 60, concurrency: 4 });
    play(world);
    expect(paused(world)).toEqual(['alike']);
    expect(world.service.runs.length).toBeLessThan(MAX_ALIKE + 4);
    expect(attempts(world)).toBe(1);
    expect(progress(world.state).reason).toBe(
      `${world.service.runs.length} attempts ended alike, and no row has succeeded: ${REASON}`,
    );
    world.pass(24 * 3_600_000);
    expect([paused(world), attempts(world), world.sends]).toEqual([['alike'], 1, []]);
  });

  it('is paused when all of its few rows have ended so', () => {
    const world = worldOf({ rows: 6, concurrency: 2 });
    play(world);
    expect([paused(world), world.service.runs.length]).toEqual([['alike'], 6]);
  });

  it('is paused again after a resume that has corrected nothing, each time after twice as many runs', () => {
    const world = worldOf({ rows: 300, concurrency: 4 });
    const bought = (): number => {
      const before = world.service.runs.length;
      play(world);
      expect(paused(world)).toEqual(['alike']);
      return world.service.runs.length - before;
    };
    expect(bought()).toBeLessThan(MAX_ALIKE + 4);
    for (const most of [2 * MAX_ALIKE, 4 * MAX_ALIKE, 8 * MAX_ALIKE]) {
      world.continueAsNew();
      resume(world);
      const runs = bought();
      expect(runs).toBeGreaterThanOrEqual(most);
      expect(runs).toBeLessThan(most + 4);
      expect(progress(world.state).reason).toContain(`${runs} attempts ended alike`);
    }
  });

  it('ends once its user has resumed it until each row has had all of its attempts', () => {
    const world = worldOf({ rows: 6, concurrency: 4 });
    for (let resumes = 0; !world.state.finished; resumes += 1) {
      expect(resumes).toBeLessThan(4);
      if (resumes > 0) resume(world);
      play(world);
    }
    expect([attempts(world), world.service.runs.length]).toEqual([3, 18]);
    expect([...world.folder.outcomes.values()]).toEqual(Array.from({ length: 6 }, () => 'failed'));
  });

  it('follows the policy for retries from the first success after a resume on', () => {
    const world = worldOf({ rows: 60, concurrency: 4 });
    play(world);
    resume(world);
    play(world, (place) => (place % 2 === 0 ? 'succeeded' : 'failed'));
    expect([world.state.finished, paused(world), attempts(world)]).toEqual([true, [], 3]);
  });

  it('names the other reason for which it is paused after a resume', () => {
    let isCorrected = false;
    const world = worldOf({ rows: 60, concurrency: 4 }, () => (isCorrected ? 'out of disk' : REASON));
    play(world);
    isCorrected = true;
    resume(world);
    play(world);
    expect([paused(world), attempts(world)]).toEqual([['alike'], 2]);
    expect(progress(world.state).reason).toContain('out of disk');
  });

  it('continues without the user when one of the runs in flight succeeds after all', () => {
    const world = worldOf({ rows: 60, concurrency: 3 });
    while (world.state.trial?.heldAt === undefined) {
      while (world.sends.length > 0) world.answer(0, ['accepted']);
      const [, next] = world.service.runs.filter(isOpen);
      if (next !== undefined) world.finish(next.runId, 'failed');
    }
    expect([paused(world), world.sends]).toEqual([[], []]);
    expect(progress(world.state).reason).toMatch(
      /no row has succeeded: .*; nothing is sent until 2 runs in flight/,
    );
    world.pass(MAX_VERDICT_MS);
    expect(paused(world)).toEqual(['alike']);
    world.continueAsNew();
    play(world, () => 'succeeded');
    world.pass(2_000);
    while (world.collects.length > 0) world.collect();
    expect([paused(world), world.state.trial]).toEqual([[], undefined]);
    play(world, () => 'succeeded');
    expect([world.state.finished, world.state.tally.outcomes.succeeded]).toEqual([true, 60]);
  });

  it('ends without a pause if nothing is left that could be bought', () => {
    const world = worldOf({ rows: 6, concurrency: 2, retries: 0 });
    play(world);
    expect([world.state.finished, world.state.tally.outcomes.failed]).toEqual([true, 6]);
  });

  it('tries fewer than three rows again, which say nothing', () => {
    const world = worldOf({ rows: 2, concurrency: 2 });
    play(world);
    expect([world.state.finished, attempts(world)]).toEqual([true, 3]);
  });

  it('can be cancelled, and then buys nothing more', () => {
    const world = worldOf({ rows: 30, concurrency: 4 });
    play(world);
    const bought = world.service.runs.length;
    world.apply({ type: 'cancel', running: false });
    play(world);
    expect([world.state.finished, world.service.runs.length]).toEqual([true, bought]);
    expect(world.state.tally.outcomes.cancelled).toBe(30);
  });

  it('is paused again when its user sends rows again after its end', () => {
    const world = worldOf({ rows: 40, concurrency: 4, retries: 0 });
    play(world);
    while (!world.state.finished) {
      resume(world);
      play(world);
    }
    expect(world.state.tally.outcomes.failed).toBe(40);
    const before = world.service.runs.length;
    world.apply({ type: 'retry', commandId: 'again', pass: 2 });
    world.loads.shift();
    world.apply({ type: 'passLoaded', pass: 2, segments: [{ lane: 0, first: 41, count: 40 }] });
    play(world);
    expect([paused(world), world.service.runs.length - before < MAX_ALIKE + 4]).toEqual([['alike'], true]);
  });

  it('tries no row again that waits for another attempt when rows are appended, before one of these has succeeded', () => {
    const world = worldOf({ rows: 2, concurrency: 4 });
    world.answer(0, ['accepted', 'accepted']);
    for (const { runId } of world.service.runs) world.finish(runId, 'failed');
    expect(world.state.trial).toBeUndefined();
    world.apply({ type: 'retry', commandId: 'more', pass: 2 });
    world.loads.shift();
    world.apply({
      type: 'passLoaded',
      pass: 2,
      segments: [{ lane: 0, first: 101, count: 40, isNew: true }],
      appended: 40,
    });
    play(world);
    expect([paused(world), attempts(world)]).toEqual([['alike'], 1]);
    resume(world);
    play(world, () => 'succeeded');
    expect([world.state.finished, world.state.tally.outcomes.succeeded]).toEqual([true, 42]);
  });

  it('lets rows that no run was queued for wait as before when another trial starts', () => {
    const world = worldOf({ rows: 40, concurrency: 4 });
    world.answer(0, ['throttled', 'throttled', 'accepted', 'accepted']);
    for (const { runId } of world.service.runs) world.finish(runId, 'failed');
    const waiting = (isTried: boolean) =>
      waitingRows(world.state).filter(({ tries }) => tries > 0 === isTried);
    const untried = waiting(false);
    expect(untried.length).toBeGreaterThan(0);
    endTrial(world.state);
    startTrial(world.state);
    expect(waiting(false)).toEqual(untried);
    expect(waiting(true).map(({ dueAt }) => dueAt)).toEqual([UNTIL_VERDICT, UNTIL_VERDICT]);
  });

  it('is paused before its canary is judged, and the canary is tried again after a resume', () => {
    const canary = { rows: 4, asks: false } as const;
    const world = worldOf({ rows: 30, concurrency: 4, canary, lanes: [{ places: 30, canary: 4 }] });
    play(world);
    expect([paused(world), world.service.runs.length]).toEqual([['alike'], 4]);
    resume(world);
    play(world, () => 'succeeded');
    expect([world.state.finished, world.state.tally.outcomes.succeeded]).toEqual([true, 30]);
  });

  it('waits for no money that only its rows could spend', () => {
    const world = worldOf({
      rows: 30,
      concurrency: 2,
      maxCostNano: 5e9,
      attemptCostNano: { T4: 1e9, H100: 9e9 },
      lanes: [
        { gpu: 'T4', places: 3 },
        { gpu: 'H100', places: 27 },
      ],
    });
    play(world);
    expect([paused(world), world.service.runs.length]).toEqual([['alike'], 3]);
  });

  it.each([
    [READS, [{ attempt: 2, gpu: 'T4' }]],
    [7, []],
  ])(
    'waits for no row whose larger GPU the budget does not allow from version 8 on (%i)',
    (version, sent) => {
      const world = new World({
        rows: 3,
        concurrency: 3,
        ladder: ['T4', 'A10G'],
        maxCostNano: 4.9e9,
        attemptCostNano: { T4: 1e9, A10G: 2e9 },
        lanes: [
          { size: 0, places: 2 },
          { size: 1, places: 1 },
        ],
      });
      Object.assign(world.state, { version });
      const climbs = (end: RunCompletion): RunCompletion =>
        end.place === 1 || end.place === 2 ? { ...end, failure: 'out-of-memory' } : end;
      world.edit = (event) =>
        event.type === 'runsCompleted' ? { ...event, completions: event.completions.map(climbs) } : event;
      while (world.sends.length > 0) world.answer(0, ['accepted']);
      for (const run of world.service.runs) world.finish(run.runId, 'failed');
      expect(waitingRows(world.state).map(({ rung }) => rung)).toEqual([1, 1, 0]);
      world.pass(60_000);
      expect([...world.state.groups.values()].flatMap((group) => group.attempts)).toMatchObject(sent);
    },
  );
});

describe('a batch in which some rows succeed', () => {
  it('tries each failed row as often as before, also if failures end sooner', () => {
    const world = worldOf({ rows: 60, concurrency: 60 });
    while (world.sends.length > 0) world.answer(0, ['accepted']);
    const fails = ({ place }: { readonly place: number }): boolean => place % 3 === 0;
    for (const run of world.service.runs.filter(fails)) world.finish(run.runId, 'failed');
    world.pass(2_000);
    expect(attempts(world)).toBe(1);
    play(world, (place) => (place % 3 === 0 ? 'failed' : 'succeeded'));
    expect([world.state.finished, paused(world)]).toEqual([true, []]);
    const runsOf = (place: number) => world.service.runs.filter((run) => run.place === place).length;
    expect([runsOf(3), runsOf(60), runsOf(1), world.service.runs.length]).toEqual([3, 3, 1, 100]);
  });

  it('is not paused by failures after a success, however many they are', () => {
    const world = worldOf({ rows: 60, concurrency: 2 });
    play(world, (place) => (place === 1 ? 'succeeded' : 'failed'));
    expect([world.state.finished, attempts(world)]).toEqual([true, 3]);
  });

  it('does not count rows that earlier batches bought as successes', () => {
    const world = worldOf({ rows: 40, concurrency: 4, reused: 10, lanes: [{ places: 30 }] });
    play(world);
    expect(paused(world)).toEqual(['alike']);
  });
});

describe('a batch whose runs fail for different reasons', () => {
  const WORDS = [
    'red',
    'green',
    'blue',
    'black',
    'white',
    'pink',
    'grey',
    'cyan',
    'gold',
    'lime',
    'teal',
    'navy',
  ];

  it('tries them again once all rows have ended', () => {
    const world = worldOf({ rows: 12, concurrency: 4 }, (run) => `a ${WORDS[run % 12]} failure`);
    play(world);
    expect([world.state.finished, attempts(world)]).toEqual([true, 3]);
    const first = world.service.runs.slice(0, 12).map(({ attempt }) => attempt);
    expect(new Set(first)).toEqual(new Set([1]));
  });

  it('is paused when one of them has ended ten attempts', () => {
    const world = worldOf({ rows: 60, concurrency: 2 }, (run) =>
      run % 2 === 0 ? REASON : `a ${WORDS[run % 12]} one`,
    );
    play(world);
    expect([paused(world), attempts(world)]).toEqual([['alike'], 1]);
    expect(progress(world.state).reason).toContain('10 attempts ended alike');
  });
});

describe('a batch all of whose rows are refused', () => {
  const refuse = (world: World): void => {
    for (let turn = 0; turn < 60 && world.sends.length > 0; turn += 1) world.answer(0, ['rejected']);
  };

  it('is paused, and no row fails', () => {
    const world = worldOf({ rows: 60, concurrency: 4 });
    refuse(world);
    expect([paused(world), world.state.endings.all]).toEqual([['alike'], 0]);
    expect(world.service.posted.size).toBeLessThan(MAX_ALIKE + 4);
  });

  it('sends the same rows again when the user resumes it, and refuses them for good then', () => {
    const world = worldOf({ rows: 60, concurrency: 4 });
    refuse(world);
    for (const most of [2 * MAX_ALIKE, 4 * MAX_ALIKE]) {
      expect(world.state.tally.outcomes.refused).toBeLessThan(most);
      resume(world);
      refuse(world);
      play(world);
    }
    expect([world.state.finished, world.state.tally.outcomes.refused]).toEqual([true, 60]);
    const mended = worldOf({ rows: 60, concurrency: 4 });
    refuse(mended);
    mended.continueAsNew();
    resume(mended);
    play(mended, () => 'succeeded');
    expect(mended.state.tally.outcomes.succeeded).toBe(60);
  });

  it('ends refused rows as refused once another row has succeeded, and when it is cancelled', () => {
    const world = worldOf({ rows: 6, concurrency: 3 });
    world.answer(0, ['rejected', 'accepted']);
    play(world, () => 'succeeded');
    expect([world.state.finished, world.state.tally.outcomes.refused]).toEqual([true, 2]);
    const cancelled = worldOf({ rows: 60, concurrency: 4 });
    refuse(cancelled);
    cancelled.apply({ type: 'cancel', running: false });
    play(cancelled);
    expect(cancelled.state.tally.outcomes).toMatchObject({ refused: 12, cancelled: 48 });
  });

  it('takes a run that appears although its row was refused', () => {
    const world = worldOf({ rows: 60, concurrency: 4 });
    refuse(world);
    const run = world.service.duplicate({ place: 1, attempt: 1 });
    world.callBack(run);
    world.finish(run.runId, 'succeeded');
    world.pass(2_000);
    world.collect();
    expect([paused(world), world.state.tally.outcomes.succeeded]).toEqual([[], 1]);
  });
});

describe('a batch of an earlier version', () => {
  it('is not paused for a reason again in spite of which its user has resumed it', () => {
    const world = worldOf({ rows: 30, concurrency: 4 });
    world.state = { ...world.state, version: 6 };
    play(world);
    resume(world);
    play(world);
    expect([world.state.finished, paused(world), attempts(world)]).toEqual([true, [], 3]);
  });

  it('tries each row again at once, and has no trial after it is continued', () => {
    const world = worldOf({ rows: 30, concurrency: 4 });
    world.state = { ...world.state, version: 5, trial: undefined };
    while (world.sends.length > 0) world.answer(0, ['accepted']);
    for (const { runId } of world.service.runs) world.finish(runId, 'failed');
    while (world.sends.length > 0) world.answer(0, ['accepted']);
    world.continueAsNew();
    expect(world.state.trial).toBeUndefined();
    play(world);
    expect([world.state.finished, attempts(world), world.state.version]).toEqual([true, 3, READS]);
  });
});
