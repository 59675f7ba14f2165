import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { tallyOutcome, tallyUse } from '../../src/batch/accounting/tally.ts';
import { OUTCOMES } from '../../src/batch/outcome.ts';
import { pause } from '../../src/batch/pausing/pauses.ts';
import { progress } from '../../src/batch/shown/progress.ts';
import { figuresAtEnd, figuresOf, type KnownBatch, OPEN_PHASES } from '../../src/monitoring/batch-figures.ts';
import { createBatchGauges } from '../../src/monitoring/batch-gauges.ts';
import type { Summary } from '../../src/results/summary.ts';
import { running } from '../batch/scenes.ts';
import { byLabel, samplesIn, valueOf, type Sample } from './exposition.ts';
import { figures, MARK } from './figures.ts';

async function shown(...turns: readonly (readonly KnownBatch[])[]): Promise<readonly Sample[]> {
  const registry = new Registry();
  const show = createBatchGauges(registry);
  for (const batches of turns) show(batches);
  return samplesIn(await registry.metrics());
}

const knownBatch = (batch: string, own = figures(), mark = MARK): KnownBatch => ({
  batch,
  mark,
  figures: own,
});
const sum = (values: Readonly<Record<string, number>>): number =>
  Object.values(values).reduce((total, value) => total + value, 0);

describe('the gauges of a running batch', () => {
  it('account for every row, by outcome or by phase', async () => {
    const world = running({ rows: 40, concurrency: 6 });
    world.finish('run-0', 'succeeded');
    world.finish('run-1', 'failed');
    world.answer(0, ['dropped', 'not-sent']);
    world.pass(1_000);
    world.state.tally = tallyOutcome(world.state.tally, 'refused', 3);
    const samples = await shown([knownBatch('b', figuresOf(progress(world.state), false))]);
    const open = byLabel(samples, 'runsheet_batch_rows_open', 'phase');
    const ended = byLabel(samples, 'runsheet_batch_rows_ended', 'outcome');
    expect(Object.keys(open).toSorted()).toEqual(Object.keys(OPEN_PHASES).toSorted());
    expect(Object.keys(ended).toSorted()).toEqual(OUTCOMES.toSorted());
    expect(open).toMatchObject({ unconfirmed: 1 });
    expect(sum(open) + sum(ended)).toBe(43);
    expect(valueOf(samples, 'runsheet_batch_outstanding', { gpu: 'default' })).toBe(
      (open['sending'] ?? 0) + (open['running'] ?? 0) + (open['unconfirmed'] ?? 0),
    );
    expect(valueOf(samples, 'runsheet_batch_slots')).toBe(6);
  });

  it('name each pause, and only while it holds', async () => {
    const { state } = running({ rows: 40, concurrency: 6 });
    pause(state, 'store', 'ENOSPC');
    pause(state, 'blocked', '401');
    const paused = knownBatch('b', figuresOf(progress(state), false));
    const samples = await shown([paused]);
    expect(byLabel(samples, 'runsheet_batch_paused', 'reason')).toEqual({ store: 1, blocked: 1 });
    expect(byLabel(samples, 'runsheet_batch_state', 'state')).toEqual({
      running: 0,
      paused: 1,
      cancelling: 0,
      finished: 0,
      failed: 0,
    });
    const later = await shown([paused], [knownBatch('b')]);
    expect(byLabel(later, 'runsheet_batch_paused', 'reason')).toEqual({});
  });

  it('show what was used by GPU, the slots that it may use now, and the budget in dollars', async () => {
    const { state } = running({ rows: 40, concurrency: 6 });
    state.tally = tallyUse(state.tally, 'H100', { runs: 2, seconds: 30, costUsd: 1.5 });
    const budget = { spentNano: 2e9, reservedNano: 5e8 };
    const now = { ...progress(state), slots: 3, budget, maxCostNano: 4e9 };
    const samples = await shown([knownBatch('b', figuresOf(now, false))]);
    expect(valueOf(samples, 'runsheet_batch_slots')).toBe(3);
    expect(byLabel(samples, 'runsheet_batch_gpu_seconds', 'gpu')).toEqual({ H100: 30 });
    expect(byLabel(samples, 'runsheet_batch_gpu_runs', 'gpu')).toEqual({ H100: 2 });
    expect(byLabel(samples, 'runsheet_batch_gpu_cost_usd', 'gpu')).toEqual({ H100: 1.5 });
    expect(valueOf(samples, 'runsheet_batch_cost_usd')).toBe(1.5);
    expect(valueOf(samples, 'runsheet_batch_budget_usd')).toBe(4);
    expect(valueOf(samples, 'runsheet_batch_budget_spent_usd')).toBe(2);
    expect(valueOf(samples, 'runsheet_batch_budget_reserved_usd')).toBe(0.5);
  });

  it('have no cost on own GPUs, which have no price: what is not known is not 0', async () => {
    const { state } = running({ rows: 40, concurrency: 6 });
    state.tally = tallyUse(state.tally, 'RTX 4090', { runs: 2, seconds: 30, costUsd: 0 });
    const samples = await shown([knownBatch('b', figuresOf(progress(state), false))]);
    expect(byLabel(samples, 'runsheet_batch_gpu_runs', 'gpu')).toEqual({ 'RTX 4090': 2 });
    expect(byLabel(samples, 'runsheet_batch_gpu_cost_usd', 'gpu')).toEqual({});
    expect(valueOf(samples, 'runsheet_batch_cost_usd')).toBeUndefined();
  });

  it('say that the batch failed if its workflow ended without results', async () => {
    const { state } = running({ rows: 40, concurrency: 6 });
    pause(state, 'store', 'ENOSPC');
    const samples = await shown([knownBatch('b', figuresOf(progress(state), true))]);
    expect(valueOf(samples, 'runsheet_batch_state', { state: 'failed' })).toBe(1);
    expect(byLabel(samples, 'runsheet_batch_paused', 'reason')).toEqual({});
  });
});

describe('the gauges of an ended batch', () => {
  const { state } = running({ rows: 40, concurrency: 6 });
  const { ledger } = progress(state);
  const summary = {
    rows: 40,
    outcomes: { ...progress(state).tally.outcomes, succeeded: 38, failed: 2 },
    requests: ledger,
    bought_twice: 3,
    cost_usd: 4.12,
    gpus: { H100: { runs: 41, seconds: 900.5, cost_usd: 4.12 } },
  } as unknown as Summary;

  it('are the figures of its summary, with nothing open', async () => {
    const samples = await shown([knownBatch('b', figuresAtEnd(summary))]);
    expect(byLabel(samples, 'runsheet_batch_rows_ended', 'outcome')).toEqual(summary.outcomes);
    expect(valueOf(samples, 'runsheet_batch_rows_done')).toBe(40);
    expect(sum(byLabel(samples, 'runsheet_batch_rows_open', 'phase'))).toBe(0);
    expect(valueOf(samples, 'runsheet_batch_duplicate_runs')).toBe(3);
    expect(valueOf(samples, 'runsheet_batch_cost_usd')).toBe(4.12);
    expect(byLabel(samples, 'runsheet_batch_gpu_seconds', 'gpu')).toEqual({ H100: 900.5 });
    expect(byLabel(samples, 'runsheet_batch_requests', 'result')).toMatchObject({
      accepted: ledger.accepted,
      unconfirmed: ledger.unconfirmed,
    });
  });
});

it('of an ended batch on own GPUs have no cost', async () => {
  const { tally, ledger } = progress(running({ rows: 40, concurrency: 6 }).state);
  const gpus = { 'RTX 4090': { runs: 41, seconds: 900.5 } };
  const summary = { rows: 40, ...tally, requests: ledger, bought_twice: 0, gpus } as unknown as Summary;
  const samples = await shown([knownBatch('b', figuresAtEnd(summary))]);
  expect(byLabel(samples, 'runsheet_batch_gpu_runs', 'gpu')).toEqual({ 'RTX 4090': 41 });
  expect(byLabel(samples, 'runsheet_batch_gpu_cost_usd', 'gpu')).toEqual({});
  expect(valueOf(samples, 'runsheet_batch_cost_usd')).toBeUndefined();
});

describe('the labels', () => {
  it('tell batches of the same name apart by their marks, and need no mark otherwise', async () => {
    const otherMark = 'fedcba9876543210';
    const samples = await shown([knownBatch('b'), knownBatch('b', figures(), otherMark), knownBatch('c')]);
    expect(Object.keys(byLabel(samples, 'runsheet_batch_rows', 'batch'))).toEqual([
      `b~${MARK}`,
      `b~${otherMark}`,
      'c',
    ]);
  });

  it('forget a batch that is no longer read', async () => {
    const samples = await shown([knownBatch('b'), knownBatch('c')], [knownBatch('c')]);
    expect(new Set(samples.map(({ labels }) => labels['batch']))).toEqual(new Set(['c']));
  });

  it('of a batch make at most 110 series, however many GPUs it uses', async () => {
    const gpus = Object.fromEntries(
      Array.from({ length: 13 }, (_, at) => [`gpu-${at}`, { runs: 1, seconds: 1, costUsd: 1 }]),
    );
    const byGpu = Object.keys(gpus).map((gpu) => ({ gpu, outstanding: 1, waiting: 1, unsent: 1 }));
    const samples = await shown([knownBatch('b', figures({ gpus, byGpu }))]);
    expect(samples.length).toBeGreaterThan(70);
    expect(samples.length).toBeLessThanOrEqual(110);
  });
});
