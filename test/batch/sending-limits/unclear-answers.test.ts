// A service that answers each POST in a way that does not say whether it has started a run, and rows that are sent in vain.

import { describe, expect, it } from 'vitest';
import type { PostResult } from '../../../src/batch/events.ts';
import type { BatchParams } from '../../../src/batch/params.ts';
import { PROBE_MS } from '../../../src/batch/pausing/pauses.ts';
import {
  MAX_ABSENCES,
  CIRCUIT_OPENS_AFTER,
  UNCLEAR_AFTER,
  UNCLEAR_AFTER_MS,
} from '../../../src/batch/sending-limits/circuit-breaker.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import { DEFAULT_TIMING } from '../../../src/batch/params.ts';
import { readUntilResolved } from '../scenes.ts';
import { World } from '../world.ts';

const PAGE = 'the run service answered 200 with a web page: "Sign in"';
const slow = { timing: DEFAULT_TIMING } satisfies Partial<BatchParams>;

/** Ends the oldest group: the service has answered each POST so. */
function answerAll(world: World, reason = PAGE, result: 'unconfirmed' | 'throttled' = 'unconfirmed'): void {
  const results = (world.sends[0]?.attempts ?? []).map(({ place, attempt }): PostResult => ({
    place,
    attempt,
    result,
    reason,
  }));
  world.end(results);
}

/** Ends the oldest group: its worker was lost. */
const loseWorker = (world: World): void =>
  void world.apply({
    type: 'groupEnded',
    group: world.sends.shift()?.group ?? 0,
    results: [],
    rest: 'unconfirmed',
    reason: 'the worker was lost',
  });

const paused = ({ state }: World): readonly string[] => [...state.pauses.keys()];
const resume = (world: World): void => void world.apply({ type: 'resume', commandId: `r${world.wallAt}` });

/** Sends one group after the other, until the batch is paused without a clear answer. */
function answerUntilPaused(world: World): void {
  while (world.state.pauses.size === 0) {
    if (world.sends.length > 0) answerAll(world);
    world.pass(500);
  }
}

/** The batch may start ten runs in a second, so some slots are free when it is paused. */
const paced = { rows: 200, concurrency: 100, startsPerMinute: 600, ...slow } satisfies Partial<BatchParams>;

describe('a service without a clear answer', () => {
  it('pauses the batch after three groups, with the last answer, before anything is sent again', () => {
    const world = new World({ rows: 200, concurrency: 100, ...slow });
    for (let group = 1; group < UNCLEAR_AFTER; group += 1) answerAll(world, '500');
    expect(paused(world)).toEqual([]);
    answerAll(world);
    expect(paused(world)).toEqual(['unclear']);
    expect(progress(world.state).reason).toBe(`requests get no clear answer: ${PAGE}`);
    expect(world.service.repeated).toEqual([]);
  });

  it('pauses a batch that has nothing else to send after a minute', () => {
    const world = new World({ rows: 6, concurrency: 6, ...slow });
    answerAll(world);
    expect(progress(world.state).reason).toContain(PAGE);
    world.pass(UNCLEAR_AFTER_MS - 1);
    expect(paused(world)).toEqual([]);
    world.pass(1);
    expect([paused(world), world.sends]).toEqual([['unclear'], []]);
  });

  it('pauses a batch that has had no run before its rows are sent again', () => {
    const world = new World({ rows: 60, concurrency: 20 });
    answerAll(world);
    readUntilResolved(world);
    expect([paused(world), world.sends]).toEqual([['unclear'], []]);
    world.pass(PROBE_MS);
    expect(world.sends.map(({ attempts }) => attempts.length)).toEqual([1]);
  });

  it('is tried with one attempt at a time, and never with a row that may have a run', () => {
    const world = new World(paced);
    answerUntilPaused(world);
    world.pass(PROBE_MS);
    expect(world.sends.map(({ attempts }) => attempts.length)).toEqual([1]);
    answerAll(world);
    world.pass(2 * PROBE_MS);
    expect(new Set(world.sends.flatMap(({ attempts }) => attempts).map(({ attempt }) => attempt))).toEqual(
      new Set([1]),
    );
    world.answer(0, ['accepted']);
    expect([paused(world), world.state.consecutiveFailures]).toEqual([[], 0]);
  });

  it('ends its pause also when a webhook shows a run of these requests, but not one of an earlier request', () => {
    const world = new World(paced);
    loseWorker(world);
    world.pass(1_000);
    answerUntilPaused(world);
    world.apply({ type: 'runsSeen', runs: [{ place: 1, attempt: 1, runId: 'early' }] });
    expect(paused(world)).toEqual(['unclear']);
    const late = world.state.unconfirmed.at(-1) ?? 0;
    world.continueAsNew();
    world.apply({ type: 'runsSeen', runs: [{ place: late, attempt: 1, runId: 'late' }] });
    expect(paused(world)).toEqual([]);
  });

  it('does not pause the batch again at once for the same requests after a resume', () => {
    const world = new World({ rows: 6, concurrency: 6, ...slow });
    answerAll(world);
    world.pass(UNCLEAR_AFTER_MS);
    resume(world);
    world.pass(UNCLEAR_AFTER_MS);
    expect([paused(world), progress(world.state).reason]).toEqual([
      [],
      '6 attempts may have started runs; waiting for run lists that show them or rule them out',
    ]);
  });

  it('does not pause a batch that has had runs, whose last request it was', () => {
    const world = new World({ rows: 2, concurrency: 1, ...slow });
    world.answer(0, ['accepted']);
    world.finish('run-0', 'succeeded');
    answerAll(world);
    world.pass(UNCLEAR_AFTER_MS);
    expect(paused(world)).toEqual([]);
  });

  it('counts together with requests that were turned away', () => {
    const world = new World({ rows: 200, concurrency: 100, ...slow });
    answerAll(world, '429', 'throttled');
    world.pass(1_000);
    answerAll(world, '429', 'throttled');
    world.pass(2_000);
    answerAll(world);
    expect([paused(world), progress(world.state).reason]).toEqual([
      ['unclear'],
      `requests get no clear answer: ${PAGE}`,
    ]);
  });

  it('says nothing if its worker was lost, or if a webhook came first', () => {
    const world = new World({ rows: 6, concurrency: 2, ...slow });
    loseWorker(world);
    world.pass(UNCLEAR_AFTER_MS);
    expect([paused(world), world.state.consecutiveFailures]).toEqual([[], 0]);
    const seen = new World({ rows: 1, concurrency: 1, ...slow });
    seen.post(0, ['lost']);
    seen.callBack(seen.service.runs[0] as (typeof seen.service.runs)[0]);
    answerAll(seen);
    expect(seen.state.consecutiveFailures).toBe(0);
  });

  it('ends its pause when every attempt is resolved and nothing is left to send', () => {
    const world = new World({
      rows: 1,
      concurrency: 1,
      ...slow,
      unconfirmed: { rule: 'unknown', afterMs: 1 },
    });
    answerAll(world);
    world.pass(UNCLEAR_AFTER_MS);
    expect(paused(world)).toEqual(['unclear']);
    world.read('none');
    world.pass(60_000);
    world.read('none');
    expect([paused(world), world.state.phases.unconfirmed]).toEqual([[], 0]);
  });
});

describe('attempts that were proved absent', () => {
  it('count as a group that was not sent, so that one attempt at a time tries whether the service works', () => {
    const world = new World({ rows: 200, concurrency: 100 });
    for (let group = 0; group < CIRCUIT_OPENS_AFTER; group += 1) {
      loseWorker(world);
      world.pass(1);
    }
    world.passUnread(10_000);
    expect(world.state.phases.unconfirmed).toBeGreaterThan(0);
    const before = world.sends.length;
    readUntilResolved(world);
    expect(world.state.consecutiveFailures).toBeGreaterThan(0);
    expect(world.state.trouble).toBe('the worker was lost');
    expect(world.sends.length).toBeGreaterThanOrEqual(before);
    world.answer(0, ['accepted']);
    expect(world.state.consecutiveFailures).toBe(0);
  });

  it('count for nothing if the service has accepted a later run', () => {
    const world = new World({ rows: 3, concurrency: 2 });
    world.answer(0, ['dropped', 'accepted']);
    world.pass(1);
    world.finish('run-0', 'succeeded');
    world.answer(0, ['accepted']);
    readUntilResolved(world);
    expect(world.state.consecutiveFailures).toBe(0);
  });

  /** A world whose first row was proved absent so often; the other rows are accepted. */
  function absent(times: number, params: Partial<BatchParams> = {}): World {
    const world = new World({ rows: 1, concurrency: 1, ...params });
    for (let time = 0; time < times; time += 1) {
      while (world.sends.length === 0) world.pass(1_000);
      loseWorker(world);
      readUntilResolved(world);
    }
    return world;
  }

  it('pause the batch when a row was sent three times in vain, until the user resumes it', () => {
    const world = absent(MAX_ABSENCES - 1);
    expect(paused(world)).toEqual([]);
    while (world.sends.length === 0) world.pass(1_000);
    loseWorker(world);
    world.continueAsNew();
    readUntilResolved(world);
    expect(paused(world)).toEqual(['absent']);
    expect(progress(world.state).pauses[0]).toMatchObject({
      reason: '1 row sent 3 times without starting a run: the worker was lost',
      places: [1],
    });
    world.pass(24 * 3_600_000);
    expect([world.sends, world.state.ledger.absent]).toEqual([[], MAX_ABSENCES]);
    world.continueAsNew();
    resume(world);
    expect([paused(world), world.sends.length]).toEqual([[], 1]);
  });

  it('let the row be sent as often again after a resume, and pause the batch then', () => {
    const world = absent(MAX_ABSENCES);
    resume(world);
    for (let time = 1; time < MAX_ABSENCES; time += 1) {
      expect(paused(world)).toEqual([]);
      while (world.sends.length === 0) world.pass(1_000);
      loseWorker(world);
      readUntilResolved(world);
    }
    while (world.sends.length === 0) world.pass(1_000);
    loseWorker(world);
    readUntilResolved(world);
    expect(paused(world)).toEqual(['absent']);
  });

  it('are forgotten once the row has had a run', () => {
    const world = absent(MAX_ABSENCES - 1, { retries: 5 });
    while (world.sends.length === 0) world.pass(1_000);
    world.answer(0, ['accepted']);
    world.finish('run-0', 'failed');
    while (world.sends.length === 0) world.pass(1_000);
    loseWorker(world);
    readUntilResolved(world);
    expect([paused(world), world.state.rows.get(1)?.absences]).toEqual([[], 1]);
  });

  it('keep no cancelled batch', () => {
    const world = absent(MAX_ABSENCES);
    world.apply({ type: 'cancel', running: false });
    world.settle();
    expect([world.state.finished, world.state.tally.outcomes.cancelled]).toEqual([true, 1]);
  });
});
