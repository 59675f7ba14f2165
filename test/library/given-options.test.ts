// A program's options become the same request as the flags of a command; impossible ones are refused before anything is sent.

import { describe, expect, it } from 'vitest';
import { requestOf } from '../../src/cli/flags/batch-options.ts';
import { sheetFlags, type SheetFlags } from '../../src/cli/flags/flags.ts';
import { checkRequest } from '../../src/batches/batch-spec.ts';
import { loadConfigWith } from '../../src/host/settings/config.ts';
import {
  givenSheet,
  limitsFrom,
  requestFrom,
  type BatchOptions,
  type Limits,
} from '../../src/library/start/program-rows.ts';

describe('limits of a program', () => {
  it('are removed by null, and by an empty list of targets', () => {
    expect(limitsFrom({ pool: null, maxCost: null, notify: [] })).toEqual({
      pool: 'none',
      maxCostNano: 'none',
      notify: 'none',
    });
  });

  it.each<[Limits, RegExp]>([
    [{ concurrency: 'auto:0' }, /^concurrency "auto:0" is not a whole number from 1 to 3,000, auto/],
    [{ retries: 21 }, /^retries 21 is not a whole number from 0 to 20$/],
    [{ retry: { broken: 1 } as never }, /^retry {"broken":1} names no kind of failure with broken/],
    [{ gpuConcurrency: { H10O: 1 } as never }, /names no GPU with H10O/],
    [{ notify: ['https://hooks.slack.com/services/x'] }, /^notify is a webhook of Slack/],
    [{ deadline: new Date(0) }, /^deadline .* has passed/],
    [{ deadline: new Date(Number.NaN) }, /^deadline Invalid Date is not a time/],
    [{ maxCots: 5 } as never, /^there is no option maxCots$/],
  ])('are refused: %o', (limits, text) => {
    expect(() => limitsFrom(limits)).toThrow(text);
  });
});

describe('a batch of a program', () => {
  const service = { base: 'https://example.org/api', api: 'v2' } as const;
  const config = loadConfigWith({ RUNSHEET_API_URL: service.base });

  /** The flags as the parser reads them. */
  function flagsFrom(words: Readonly<Record<string, string | readonly string[] | true>>): SheetFlags {
    const flags = Object.entries(sheetFlags).flatMap(([name, flag]) => {
      const word = words[name];
      if (word === undefined) return flag.kind === 'boolean' && !('optional' in flag) ? [[name, false]] : [];
      const parse = (text: string): unknown =>
        flag.kind === 'parsed' ? (flag.parse as (one: string) => unknown)(text) : text;
      return [[name, word === true ? true : typeof word === 'string' ? parse(word) : word.map(parse)]];
    });
    return Object.fromEntries(flags) as SheetFlags;
  }

  const AT = '2030-01-01T00:00:00.000Z';
  const OPTIONS: readonly [Omit<BatchOptions, 'deployment'>, Parameters<typeof flagsFrom>[0]][] = [
    [{}, {}],
    [
      { key: 'sku', gpuColumn: 'card' },
      { key: 'sku', gpuColumn: 'card' },
    ],
    [
      { map: { a: 'b' }, set: { c: '1=2' }, drop: ['d'], type: { c: 'int' } },
      { map: ['a=b'], set: ['c=1=2'], drop: ['d'], type: ['c=int'] },
    ],
    [
      { delimiter: ';', limit: 5, sheetName: 'A' },
      { delimiter: ';', limit: '5', sheetName: 'A' },
    ],
    [{ skipRows: [{ from: 2, to: 2 }] }, { skipRows: '2' }],
    [
      { decimalComma: true, hidden: 'skip', headerRow: 3 },
      { decimalComma: true, hidden: 'skip', headerRow: '3' },
    ],
    [
      { shuffle: true, priority: 'p' },
      { shuffle: true, priority: 'p' },
    ],
    [
      { canary: 5, reserve: 'p99', maxCost: 7.5 },
      { canary: '5', reserve: 'p99', maxCost: '$7.50' },
    ],
    [{ unconfirmed: 'resubmit-after=2h' }, { unconfirmed: 'resubmit-after=2h' }],
    [
      { queueTimeout: 5_000, runTimeout: '6s' },
      { queueTimeout: '5s', runTimeout: '6s' },
    ],
    [{ ladder: ['T4', 'H100'] }, { ladder: 'T4,H100' }],
    [
      { name: 'one', reuse: 'again', poll: true },
      { name: 'one', again: true, poll: true },
    ],
    [
      { pool: 'gpus', weight: 3, urgency: 9 },
      { pool: 'gpus', weight: '3', urgency: '9' },
    ],
    [{ pool: null }, { pool: 'none' }],
    [{ notify: ['slack:', 'slack:', 'exec:./a'] }, { notify: ['slack:', 'exec:./a'] }],
    [{ notify: [] }, { notify: ['none'] }],
    [
      { notifyFailed: '5%', failAfter: 20 },
      { notifyFailed: '5%', failAfter: '20' },
    ],
    [{ concurrency: 'auto:64' }, { concurrency: 'auto:64' }],
    [
      { retries: 3, retry: { 'out-of-memory': 0 } },
      { retries: '3', retry: 'out-of-memory=0' },
    ],
    [
      { deadline: new Date(AT), rate: 600 },
      { deadline: AT, rate: '600/min' },
    ],
    [{ gpuConcurrency: { H100: 2 } }, { gpuConcurrency: 'H100=2' }],
    [{ outputName: '{key}' }, { outputName: '{key}' }],
  ];

  it.each(OPTIONS)('is asked for as by a command: %o', (options, words) => {
    expect(requestFrom({ deployment: 'portraits', ...options }, service)).toEqual(
      requestOf(config, flagsFrom({ deployment: 'portraits', ...words })),
    );
  });

  it.each<[Partial<BatchOptions>, RegExp]>([
    [{ deployment: '' }, /^deployment "" is empty/],
    [{ name: '../one' }, /^name "..\/one" is not a name/],
    [{ limit: 0 }, /^limit 0 is not/],
    [{ canary: 101 }, /^canary 101 is not/],
    [{ runTimeout: 10 }, /^runTimeout 10 is not a time from 1s to 365d/],
    [{ unconfirmed: 'resubmit-after=0s' }, /is not resubmit-after= with a time from 1s/],
    [{ concurrency: 'auto', ladder: ['T4', 'H100'] }, /^concurrency and ladder exclude each other/],
    [{ gpu: 'T4', ladder: ['T4', 'H100'] }, /^ladder and gpu exclude each other/],
  ])('is refused: %o', (options, text) => {
    expect(() => checkRequest(requestFrom({ deployment: 'portraits', ...options }, service))).toThrow(text);
  });

  it('has no format if its rows are given', () => {
    const refused = () => givenSheet([{ prompt: 'a' }], { format: 'csv' });
    expect(refused).toThrow(expect.objectContaining({ code: 'E602' }));
    expect(refused).toThrow(/format is for a sheet that is a file/);
    expect(givenSheet('rows.txt', { format: 'csv' }).copy.format).toBe('csv');
  });
});
