// What a program asks for becomes the same request as the flags of a command, and what cannot be is refused before anything is sent.

import { describe, expect, it } from 'vitest';
import { limitsOf, requestOf } from '../../src/cli/flags/batch-options.ts';
import type { SheetFlags } from '../../src/cli/flags/flags.ts';
import { checkRequest } from '../../src/create-batch/check-request.ts';
import { loadConfigWith } from '../../src/host/config.ts';
import { requestFrom, type BatchOptions } from '../../src/library/start/batch-options.ts';
import { limitChangeOf, type Limits } from '../../src/library/start/given-limits.ts';
import { givenSheet } from '../../src/library/start/given-rows.ts';

const DEADLINE = new Date(Date.now() + 3_600_000);

describe('limits of a program', () => {
  it.each<[string, Limits, Parameters<typeof limitsOf>[0]]>([
    ['a pool', { pool: 'gpus', weight: 3, urgency: 9 }, { pool: 'gpus', weight: 3, urgency: 9 }],
    ['no pool', { pool: null }, { pool: 'none' }],
    ['targets', { notify: ['slack:', 'slack:', 'mailto:a@b.org'] }, { notify: ['slack:', 'mailto:a@b.org'] }],
    ['no targets', { notify: null }, { notify: ['none'] }],
    ['an empty list of targets', { notify: [] }, { notify: ['none'] }],
    ['many failed rows', { notifyFailed: '5%' }, { notifyFailed: { share: 0.05 } }],
    ['auto', { concurrency: 'auto' }, { concurrency: { auto: 256 } }],
    ['auto with a bound', { concurrency: 'auto:64' }, { concurrency: { auto: 64 } }],
    [
      'retries by kind',
      { retries: { default: 3, 'out-of-memory': 0 } },
      { retries: 3, retry: { 'out-of-memory': 0 } },
    ],
    ['a budget', { maxCostUsd: 7.5 }, { maxCost: 7_500_000_000 }],
    ['a deadline', { deadline: DEADLINE }, { deadline: DEADLINE.getTime() }],
    ['GPUs', { gpuConcurrency: { H100: 2 } }, { gpuConcurrency: { H100: 2 } }],
    ['a rate', { startsPerMinute: 600 }, { rate: 600 }],
  ])('mean what the flags mean: %s', (_, limits, flags) => {
    expect(limitChangeOf(limits)).toEqual(limitsOf(flags));
  });

  it.each<[Limits, RegExp]>([
    [{ concurrency: 0 }, /concurrency is 0/],
    [{ concurrency: 'auto:0' }, /concurrency is 0/],
    [{ concurrency: 'much' as 'auto' }, /concurrency is much/],
    [{ retries: 21 }, /retries is 21/],
    [{ retries: { broken: 1 } as never }, /a kind of retries is broken/],
    [{ startsPerMinute: 1e9 }, /startsPerMinute is/],
    [{ gpuConcurrency: { H10O: 1 } as never }, /a GPU of gpuConcurrency is H10O/],
    [{ pool: '../gpus' }, /pool is \.\.\/gpus/],
    [{ weight: 0 }, /weight is 0/],
    [{ urgency: 10 }, /urgency is 10/],
    [{ notify: ['https://hooks.slack.com/services/x'] }, /is a webhook of Slack/],
    [{ notify: Array.from({ length: 6 }, (_, at) => `slack:n${at}`) }, /6 targets are too many/],
    [{ notifyFailed: '0%' }, /notifyFailed is 0%/],
    [{ deadline: new Date(0) }, /deadline is/],
    [{ deadline: new Date(Number.NaN) }, /deadline is/],
  ])('are refused: %o', (limits, text) => {
    expect(() => limitChangeOf(limits)).toThrow(text);
  });
});

describe('a batch of a program', () => {
  const service = { base: 'https://example.org/api', api: 'v2' } as const;
  const config = loadConfigWith({ RUNSHEET_API_URL: service.base });
  const NO_FLAGS = {
    deployment: 'portraits',
    local: false,
    again: false,
    reuse: false,
    yes: false,
    shuffle: false,
    poll: false,
    acceptGpu: false,
    decimalComma: false,
    quiet: false,
    output: 'text',
  } satisfies SheetFlags;

  it.each<[string, Omit<BatchOptions, 'deployment'>, Partial<SheetFlags>]>([
    ['nothing else', {}, {}],
    ['a key', { key: 'sku' }, { key: 'sku' }],
    [
      'columns',
      { columns: { map: { a: 'b' }, set: { c: '1' }, drop: ['d'], types: { c: 'int' }, gpu: 'card' } },
      { map: ['a=b'], set: ['c=1'], drop: ['d'], type: ['c=int'], gpuColumn: 'card' },
    ],
    [
      'reading',
      { delimiter: ';', encoding: 'windows-1252', limit: 5 },
      { delimiter: ';', encoding: 'windows-1252', limit: 5 },
    ],
    ['an order', { order: { shuffle: true, priority: 'p' } }, { shuffle: true, priority: 'p' }],
    ['a canary', { canary: 5, reserve: 'p99', maxCostUsd: 1 }, { canary: 5, reserve: 'p99', maxCost: 1e9 }],
    [
      'unconfirmed attempts',
      { unconfirmed: { resubmitAfterMs: 7_200_000 } },
      { unconfirmed: { rule: 'resubmit', afterMs: 7_200_000 } },
    ],
    ['timeouts', { queueTimeoutMs: 5_000, runTimeoutMs: 6_000 }, { queueTimeout: 5_000, runTimeout: 6_000 }],
    ['a ladder', { ladder: ['T4', 'H100'] }, { ladder: 'T4,H100' }],
    ['a name', { batchId: 'one', reuse: 'again', poll: true }, { name: 'one', again: true, poll: true }],
  ])('is asked for as by a command: %s', (_, options, flags) => {
    expect(requestFrom({ deployment: 'portraits', ...options }, service)).toEqual(
      requestOf(config, { ...NO_FLAGS, ...flags }),
    );
  });

  it.each<[Partial<BatchOptions>, RegExp]>([
    [{ deployment: '' }, /no deployment/],
    [{ batchId: '../one' }, /batchId is/],
    [{ limit: 0 }, /limit is 0/],
    [{ canary: 101 }, /canary is 101/],
    [{ runTimeoutMs: 10 }, /runTimeoutMs is 10/],
    [{ unconfirmed: { resubmitAfterMs: 0 } }, /resubmitAfterMs is 0/],
    [{ concurrency: 'auto', ladder: ['T4', 'H100'] }, /exclude each other/],
  ])('is refused: %o', (options, text) => {
    expect(() => checkRequest(requestFrom({ deployment: 'portraits', ...options }, service))).toThrow(text);
  });

  it('has no format if its rows are given', () => {
    const refused = () => givenSheet([{ prompt: 'a' }], 'csv');
    expect(refused).toThrow(expect.objectContaining({ code: 'E602' }));
    expect(refused).toThrow(/format is for a sheet that is a file/);
    expect(givenSheet('rows.txt', 'csv').copy.format).toBe('csv');
  });
});
