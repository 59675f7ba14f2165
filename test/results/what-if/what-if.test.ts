// Replays of batches whose other course can be computed by hand.

import { describe, expect, it } from 'vitest';
import type { Sample } from '../../../src/results/forecast/sample.ts';
import { UnknownGpu, whatIf, type Change, type WhatIf } from '../../../src/results/what-if/what-if.ts';
import { scheduled, type Scheduled } from './scheduled.ts';

const replayed = (batch: Scheduled, change: Change, samples: readonly Sample[] = []): WhatIf =>
  whatIf(scheduled(batch), change, samples);

/** The figures that a batch really has. */
const really = (batch: Scheduled): { seconds: number; cost_usd: number } => scheduled(batch).summary;

const varied = (row: number): number => 1_000 + ((row * 7_919) % 3_000);

/** Differs by less than this share. */
const near = (a: number | undefined, b: number, share: number): void =>
  expect(Math.abs((a ?? Number.NaN) / b - 1), `${a} instead of ${b}`).toBeLessThan(share);

const samplesOf = (gpu: string, batch: string, seconds: readonly number[]): readonly Sample[] =>
  seconds.map((run) => ({ gpu, batch, isOpening: false, runs: [{ coldStart: 0, run }] }));

describe('the replay of a batch', () => {
  const BASE = { rows: 200, machines: 8, concurrency: 12, runMs: varied, coldMs: 3_000 } as const;

  it('takes and costs what the batch did, if nothing is changed', () => {
    const { was, replayed: again, expected } = replayed(BASE, {});
    near(again.seconds, was.seconds, 0.01);
    near(again.cost_usd, was.cost_usd, 0.001);
    expect(expected).toEqual(again);
    expect(again.busy).toBeCloseTo(was.busy, 1);
    expect(again.queue_seconds).toBeCloseTo(was.queue_seconds, 0);
  });

  it.each([1, 2, 4, 8, 10, 24, 64])('at -c %i takes and costs what the batch then does', (concurrency) => {
    const { expected, fast, slow, machines } = replayed(BASE, { concurrency });
    const did = really({ ...BASE, concurrency });
    expect(machines).toEqual({ fast: 8, slow: 8, source: 'queued' });
    expect([fast, slow]).toEqual([expected, expected]);
    near(expected?.seconds, did.seconds, 0.03);
    near(expected?.cost_usd, did.cost_usd, 0.01);
  });

  it('is right for runs of an hour, during which the batch receives nothing', () => {
    const long = { ...BASE, rows: 40, runMs: (row: number) => 1_000 * varied(row) };
    const { expected } = replayed(long, { concurrency: 5 });
    expect(expected?.runs).toBe(40);
    near(expected?.seconds, really({ ...long, concurrency: 5 }).seconds, 0.01);
  });

  it('says from how many slots on more of them only queue', () => {
    const { enough } = replayed(BASE, { concurrency: 64 });
    expect(enough?.slots).toBeGreaterThanOrEqual(8);
    expect(enough?.slots).toBeLessThanOrEqual(10);
    const own = enough?.curve.find(({ concurrency }) => concurrency === enough.slots);
    const twice = enough?.curve.find(({ concurrency }) => concurrency === 2 * enough.slots);
    near(twice?.seconds, own?.seconds ?? 0, 0.02);
    expect(twice?.queue_seconds).toBeGreaterThan(1);
    expect(enough?.curve.map(({ concurrency }) => concurrency)).toContain(64);
  });

  it('starts no more runs in a minute than --rate', () => {
    const { expected } = replayed(BASE, { startsPerMinute: 60 });
    expect(expected?.seconds).toBeGreaterThan(198);
    expect(expected?.seconds).toBeLessThan(206);
  });

  it('pays one cold start for each machine that it needs', () => {
    const usd = (concurrency: number): number => replayed(BASE, { concurrency }).expected?.cost_usd ?? 0;
    expect(usd(8) - usd(2)).toBeCloseTo(6 * 3 * 0.001, 6);
  });

  it('of a huge batch is extrapolated from some of its rows', () => {
    const huge = { ...BASE, rows: 20_000, machines: 32, concurrency: 64 };
    const { expected, replayedRows } = replayed(huge, { concurrency: 16 });
    const did = really({ ...huge, concurrency: 16 });
    expect(replayedRows).toBe(4_000);
    near(expected?.seconds, did.seconds, 0.01);
    near(expected?.cost_usd, did.cost_usd, 0.01);
    expect(expected?.runs).toBe(20_000);
  });
});

describe('machines that were not measured', () => {
  const CALM = { rows: 100, machines: 32, concurrency: 4, runMs: varied } as const;

  it('do not matter at caps below those that were', () => {
    const { expected, fast, slow, machines } = replayed(CALM, { concurrency: 2 });
    expect(machines).toEqual({ fast: undefined, slow: 4, source: 'unknown' });
    expect([fast, slow]).toEqual([expected, expected]);
    near(expected?.seconds, really({ ...CALM, concurrency: 2 }).seconds, 0.02);
  });

  it('make an interval without an expected value, from as many as were seen to as many as asked for', () => {
    const { expected, fast, slow, enough } = replayed(CALM, { concurrency: 16 });
    expect([expected, enough]).toEqual([undefined, undefined]);
    near(fast.seconds, really({ ...CALM, concurrency: 16 }).seconds, 0.05);
    near(slow.seconds, really({ ...CALM, machines: 4, concurrency: 16 }).seconds, 0.03);
  });

  it('are expected to be as many as the service names', () => {
    const named = replayed({ ...CALM, named: 8 }, { concurrency: 16 });
    expect(named.machines).toEqual({ fast: 8, slow: 4, source: 'named' });
    near(named.expected?.seconds, really({ ...CALM, machines: 8, concurrency: 16 }).seconds, 0.04);
    expect(named.slow.seconds).toBeGreaterThan(1.7 * named.fast.seconds);
  });
});

describe('retries', () => {
  const FAILING = {
    rows: 100,
    machines: 4,
    concurrency: 8,
    outcomes: (row: number) =>
      row % 10 === 0
        ? (['failed', 'failed', 'failed'] as const)
        : row % 10 === 5
          ? (['failed', 'succeeded'] as const)
          : (['succeeded'] as const),
  };

  it('are repeated as they were', () => {
    const { was, replayed: again } = replayed(FAILING, {});
    expect([again.runs, again.failed_rows]).toEqual([130, 10]);
    expect([was.runs, was.failed_rows]).toEqual([130, 10]);
    near(again.cost_usd, was.cost_usd, 0.001);
  });

  it('that are fewer leave more rows failed, and cost less', () => {
    const { expected, isRetryGuessed } = replayed(FAILING, { retries: 0 });
    expect([expected?.runs, expected?.failed_rows, isRetryGuessed]).toEqual([100, 20, false]);
    near(expected?.cost_usd, 100 * 2 * 0.001, 0.001);
  });

  it('that were never made succeed at best, and fail again at worst', () => {
    const { fast, slow, expected, isRetryGuessed } = replayed(FAILING, { retries: 4 });
    expect(isRetryGuessed).toBe(true);
    expect([fast.failed_rows, fast.runs]).toEqual([0, 140]);
    expect([slow.failed_rows, slow.runs]).toEqual([10, 150]);
    expect(expected?.failed_rows).toBeLessThanOrEqual(10);
  });
});

describe('another GPU', () => {
  const ONE = { rows: 100, machines: 4, concurrency: 8, runMs: varied } as const;

  it('takes the time that a few rows of another batch took there', () => {
    const mean = 2.5;
    const canary = samplesOf(
      'H100',
      'canary',
      [1, 1.1, 0.9, 1, 1, 1.05, 0.95].map((times) => times * mean * 0.4),
    );
    const { expected, fast, slow, ratios } = replayed(ONE, { gpu: 'H100' }, canary);
    expect(ratios).toMatchObject([{ from: 'A10G', to: 'H100', runs: 7 }]);
    const did = really({ ...ONE, runMs: (row) => varied(row) * 0.4 });
    near(expected?.seconds, did.seconds, 0.06);
    near(expected?.cost_usd, did.cost_usd * 4, 0.06);
    expect(fast.seconds).toBeLessThan(did.seconds);
    expect(slow.seconds).toBeGreaterThan(did.seconds);
  });

  it('that was never measured has wide bounds from the prices, and nothing is expected', () => {
    const { expected, fast, slow, ratios, enough } = replayed(ONE, { gpu: 'H100' });
    expect(ratios).toMatchObject([{ low: 1 / 8, expected: undefined, high: 2, runs: 0 }]);
    expect([expected, enough]).toEqual([undefined, undefined]);
    near(slow.cost_usd / fast.cost_usd, 16, 0.05);
  });

  it('that has neither runs nor a price is refused', () => {
    expect(() => replayed(ONE, { gpu: 'Z9' })).toThrow(UnknownGpu);
  });

  it('is compared within a batch that used both, and then limited on its own', () => {
    const gpu = (row: number): string => (row % 2 === 0 ? 'H100' : 'A10G');
    const both = { ...ONE, gpu, runMs: (row: number) => (row % 2 === 0 ? 1_000 : 3_000) };
    const { expected, ratios } = replayed(both, { gpu: 'H100', gpuConcurrency: { H100: 2 } });
    expect(ratios.find(({ from }) => from === 'A10G')?.expected).toBeCloseTo(1 / 3, 6);
    // Two at the same time, each for a second and the time between two runs.
    near(expected?.seconds, (100 / 2) * 1.1, 0.03);
  });
});
