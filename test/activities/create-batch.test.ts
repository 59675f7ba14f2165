// Batches that a worker makes for a workflow.

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createBatch, createFrom, type NewBatch } from '../../activities/create-batch.ts';
import { WRITES } from '../../src/batch/behaviour-version.ts';
import type { BatchCall } from '../../src/batches/create-once.ts';
import { sheetAt } from '../../src/batches/sheet-address.ts';
import { problem } from '../../src/errors/error.ts';
import { loadConfig } from '../../src/host/settings/config.ts';
import { openDownloads } from '../../src/host/http/download.ts';
import { BATCH_FILE } from '../../src/store/batch-file.ts';
import { Place } from '../batches/creating.ts';
import { openService, TOKEN } from '../run-service/asking.ts';
import { openRealService } from '../stage/other-service.ts';
import { serveForTest } from '../stage/serve.ts';
import { sheetsOf, textRow, workbook } from '../sheet/xlsx/workbooks.ts';
import { batchCallOf } from '../../workflows/run-batch.ts';
import { depsOf } from './deps.ts';

const REQUEST: BatchCall['request'] = {
  deployment: 'test',
  options: { map: {}, set: {}, drop: [], types: {} },
  settings: { deadlines: {}, webhooks: true },
  order: {},
};
const SHEET = 'number,prompt\n1,a fox\n2,an owl\n';

let place: Place;
let base: string;
let closeService: () => Promise<void>;
beforeEach(async () => {
  place = new Place();
  const { service } = await openService();
  ({ base, close: closeService } = service);
});

type More = Partial<BatchCall> & {
  readonly apiUrl?: string;
  /** Where the worker reads sheets. */
  readonly sheets?: string;
  readonly environment?: MockActivityEnvironment;
  readonly findPool?: (pool: string) => Promise<void>;
  /** Batches of the same rows, of another worker. */
  readonly others?: readonly { batch: string; mark: string; folder: string }[];
  /** The options as a workflow writes them. */
  readonly options?: object;
};

const noPool = async (pool: string): Promise<void> => {
  throw problem('E540', { pool, known: [], near: undefined });
};

const make = async (
  sheet: string,
  callId: string,
  {
    apiUrl = base,
    environment = new MockActivityEnvironment(),
    findPool = noPool,
    others: recent = [],
    sheets = place.folder,
    options,
    ...more
  }: More = {},
): Promise<NewBatch> => {
  const config = loadConfig({
    RUNSHEET_API_URL: apiUrl,
    RUNSHEET_API_KEY: TOKEN,
    RUNSHEET_OUT: place.out,
    RUNSHEET_SHEETS: sheets,
  });
  const maker = {
    config,
    download: openDownloads(2),
    isEmbedded: false,
    isEncrypted: false,
    servers: { pools: { show: findPool }, batches: { withContent: async () => recent } },
    searchAttributes: async () => [],
  };
  const call: BatchCall = { sheet, callId, request: REQUEST, ...more };
  const deps = depsOf({ maker });
  const made: NewBatch | undefined = await environment.run(() =>
    options === undefined
      ? createFrom(deps, sheet, () => call)
      : createBatch(deps, { sheet, callId, options: JSON.parse(JSON.stringify(options)) as object }),
  );
  if (made === undefined) throw new Error('there is no batch');
  return made;
};

const failureOf = async (making: Promise<NewBatch>): Promise<ApplicationFailure> => {
  const error = await making.then(
    () => 'a batch was made',
    (thrown: unknown) => thrown,
  );
  if (error instanceof ApplicationFailure) return error;
  throw new Error(String(error));
};

const batchesThere = (): readonly string[] =>
  (existsSync(place.out) ? readdirSync(place.out) : []).filter((name) =>
    existsSync(join(place.out, name, BATCH_FILE)),
  );

describe('a call that is repeated with its id', () => {
  it('finds the batch of the first call, although the sheet was changed or is gone', async () => {
    const sheet = place.write('owls.csv', SHEET);
    const first = await make(sheet, 'workflow/run/1');
    expect(first).toMatchObject({
      rows: 2,
      reused: 0,
      version: WRITES,
      folder: join(place.out, first.batch),
    });
    expect(first.summary).toMatch(/^2 rows · .+ · owls\.csv$/);
    expect(first.details).toContain(`| batch | ${first.batch} |`);
    expect(first.batch).toMatch(/^owls-[0-9a-f]{12}$/);
    place.write('owls.csv', `${SHEET}3,a hen\n`);
    expect(await make(sheet, 'workflow/run/1')).toEqual(first);
    rmSync(sheet);
    expect(await make(sheet, 'workflow/run/1')).toEqual(first);
    expect(batchesThere()).toEqual([first.batch]);
    expect(await make(place.write('hens.csv', SHEET), 'workflow/run/1')).toEqual(first);
  });

  it('finds the batch of a call that runs at the same time, also if both read different sheets', async () => {
    const sheet = place.write('owls.csv', SHEET);
    const secondSheet = place.write('other/owls.csv', `${SHEET}3,a hen\n`);
    const made = await Promise.all([sheet, secondSheet, sheet].map((path) => make(path, 'workflow/run/1')));
    expect(new Set(made.map(({ mark }) => mark)).size).toBe(1);
    expect(batchesThere()).toHaveLength(1);
  });

  it('never finds a batch of that name that another call made', async () => {
    const sheet = place.write('owls.csv', SHEET);
    const request = { ...REQUEST, name: 'nightly-2026-11-22T02-00' };
    const first = await make(sheet, 'nightly/2026-11-22', { request });
    expect(first.batch).toBe('nightly-2026-11-22T02-00');
    expect(await make(sheet, 'nightly/2026-11-22', { request })).toEqual(first);
    expect(await failureOf(make(sheet, 'another', { request }))).toMatchObject({ type: 'E602' });
  });
});

it('asks before it buys rows that a batch on another machine of the cluster has', async () => {
  const sheet = place.write('owls.csv', SHEET);
  const real = await openRealService(base);
  onTestFinished(real.close);
  const elsewhere = [{ batch: 'owls', mark: 'm', folder: '/srv/other/owls' }];
  expect(await failureOf(make(sheet, 'one', { others: elsewhere, apiUrl: real.base }))).toMatchObject({
    type: 'E539',
    nonRetryable: true,
  });
  expect(batchesThere()).toEqual([]);
  await make(sheet, 'one', { others: elsewhere, apiUrl: real.base, reuse: 'again' });
  expect(batchesThere()).toHaveLength(1);
});

describe('a call that is cancelled', () => {
  it('makes no batch any more', async () => {
    const environment = new MockActivityEnvironment();
    const sheet = place.write('owls.csv', SHEET);
    const request = { ...REQUEST, settings: { ...REQUEST.settings, pool: 'night' } };
    const findPool = async (): Promise<void> => environment.cancel();
    await expect(make(sheet, 'one', { environment, request, findPool })).rejects.toThrow('CANCELLED');
    expect(batchesThere()).toEqual([]);
  });

  it('finds the batch that it has made before, and makes none', async () => {
    const sheet = place.write('owls.csv', SHEET);
    await expect(make(sheet, 'one', { findOnly: true })).rejects.toThrow('there is no batch');
    const first = await make(sheet, 'one');
    expect(await make(sheet, 'one', { findOnly: true })).toEqual(first);
    expect(batchesThere()).toEqual([first.batch]);
  });
});

describe('what a call asks for', () => {
  const wrong = (options: object): More => ({
    options: batchCallOf('', '', { deployment: 'test', poll: true, ...options }).options,
  });

  it.each<[string, object]>([
    ['retries 1000 is not a whole number from 0 to 20; for example { retries: 5 }', { retries: 1000 }],
    ['concurrency 3,000 is too many for rows that may have 21 attempts', { concurrency: 3000, retries: 20 }],
    ['retry {"time-out":1} names no kind of failure.*did you mean timeout', { retry: { 'time-out': 1 } }],
    ['maxCost "NaN" is not an amount in US dollars', { maxCost: Number.NaN }],
    ['failAfter "150%" is not', { failAfter: '150%' }],
    ['deadline "2020-01-01T00:00:00.000Z" has passed', { deadline: new Date(Date.UTC(2020)) }],
    ['notify has a query', { notify: ['https://a.example/b?token=1'] }],
    ['ladder and gpu exclude each other', { ladder: ['T4', 'H100'], gpu: 'T4' }],
    ['there is no option maxCots; did you mean maxCost', { maxCots: 20 }],
  ])('is refused for good: %s', async (text, options) => {
    const sheet = place.write('owls.csv', SHEET);
    const { type, nonRetryable, message } = await failureOf(make(sheet, 'one', wrong(options)));
    expect([type, nonRetryable]).toEqual(['E602', true]);
    const escaped = text.replaceAll(/[{}[\]$]/g, String.raw`\$&`);
    expect(message).toMatch(new RegExp(`^E602: ${escaped}`));
    expect(batchesThere()).toEqual([]);
  });

  it('is every option that a program has', async () => {
    const sheet = place.write(
      'owls.csv',
      'number,prompt,group,note\n1,a fox,2,x\n2,an owl,1,y\n3,a hen,1,z\n',
    );
    const options = wrong({
      name: 'owls',
      limit: 2,
      orderBy: 'group',
      key: 'number',
      drop: ['note', 'group'],
      outputName: '{key}',
      queueTimeout: '2h',
      unconfirmed: 'resubmit-after=3h',
      guess: 'accept',
      reuse: 'again',
    });
    const made = await make(sheet, 'one', options);
    const file = JSON.parse(readFileSync(join(made.folder, BATCH_FILE), 'utf8')) as object;
    expect(file).toMatchObject({
      batch: 'owls',
      sheet: { rows: 2, order: { orderBy: 'group' }, outputName: '{key}', options: { keyColumn: 'number' } },
      deadlines: { queueMs: 7_200_000 },
      unconfirmed: { rule: 'resubmit', afterMs: 10_800_000 },
      webhooks: false,
    });
  });

  it('is no name that leads to another folder', async () => {
    const sheet = place.write('owls.csv', SHEET);
    for (const name of ['../x', '/tmp/x', '.hidden', 'a/b', ''])
      expect(await failureOf(make(sheet, 'one', { request: { ...REQUEST, name } }))).toMatchObject({
        type: 'E602',
        nonRetryable: true,
      });
  });

  it('is no pool that does not exist', async () => {
    const sheet = place.write('owls.csv', SHEET);
    expect(await failureOf(make(sheet, 'one', wrong({ pool: 'night' })))).toMatchObject({
      type: 'E540',
      nonRetryable: true,
    });
  });
});

describe('rows that an earlier batch has', () => {
  it('refuse the sheet, unless the call wants all of them again', async () => {
    const sheet = place.write('owls.csv', SHEET);
    const first = await make(sheet, 'one');
    const refused = await failureOf(make(sheet, 'two'));
    expect(refused).toMatchObject({ type: 'E531', nonRetryable: true });
    expect(refused.message).toContain(`2 rows (1, 2) are still open in ${first.batch}`);
    expect(refused.message).toContain("reuse: 'again'");
    expect((await make(sheet, 'two', { reuse: 'again' })).mark).not.toBe(first.mark);
  });
});

describe('a sheet', () => {
  it('that has errors fails the activity for good, with every code, place and hint', async () => {
    const sheet = place.write('owls.csv', 'number,gpu\n1,T4\n2,T5\n');
    const { type, nonRetryable, message, details } = await failureOf(make(sheet, 'one'));
    expect([type, nonRetryable]).toEqual(['E200', true]);
    expect(message).toMatch(
      /^E200: the sheet was refused: 1 problem in 2 rows; nothing was sent; .*owls-errors\.csv/,
    );
    expect(message).toMatch(/\nowls\.csv:3:2 E201: .*T5.*did you mean/);
    expect(details).toEqual([expect.objectContaining({ code: 'E200' })]);
  });

  it('that inflates to more than a workbook can fails the activity for good', async () => {
    const rows = `<worksheet><sheetData>${textRow('x'.repeat(500_000))}</sheetData></worksheet>`;
    const book = await workbook(sheetsOf(Array.from({ length: 80 }, () => rows)));
    const { type, nonRetryable, message } = await failureOf(make(book, 'one', { sheets: dirname(book) }));
    expect([type, nonRetryable]).toEqual(['E102', true]);
    expect(message).toContain('inflates to more than 32 MiB');
    expect(batchesThere()).toEqual([]);
  });

  it('that is missing fails the activity for good', async () => {
    expect(await failureOf(make(place.folder + '/none.csv', 'one'))).toMatchObject({
      type: 'E101',
      nonRetryable: true,
    });
  });

  it('may be a file URL, or come from a host in the network of the run service', async () => {
    const sheet = pathToFileURL(place.write('white owls.csv', SHEET)).href;
    expect((await make(sheet, 'one')).batch).toMatch(/^white-owls-/);
    const host = await serveForTest((_, response) => void response.end(`${SHEET}3,a hen\n`));
    const made = await make(`${host.url}/lists/hens.csv?signature=secret`, 'two', { reuse: 'again' });
    expect(made).toMatchObject({ batch: expect.stringMatching(/^hens-/), rows: 3 });
  });

  it('is read only below the folders that the worker has for sheets, whoever starts the workflow', async () => {
    const sheet = place.write('private/owls.csv', SHEET);
    const sheets = join(place.folder, 'sheets');
    for (const path of [
      sheet,
      pathToFileURL(sheet).href,
      `${place.folder}/private/none.csv`,
      's3://b/a.csv',
    ]) {
      const refused = await failureOf(make(path, 'one', { sheets }));
      expect(refused).toMatchObject({ type: 'E106', nonRetryable: true });
      expect(refused.message).toContain(`this worker reads sheets only below ${place.out}, ${sheets}; `);
    }
    expect(batchesThere()).toEqual([]);
    expect(await make(place.write('sheets/owls.csv', SHEET), 'one', { sheets })).toMatchObject({ rows: 2 });
  });

  it('is not downloaded from a network where the run service is not', async () => {
    const host = await serveForTest((_, response) => void response.end(SHEET));
    const apiUrl = 'https://93.184.216.34/api';
    const refused = await failureOf(make(`${host.url}/hens.csv`, 'one', { apiUrl }));
    expect(refused).toMatchObject({ type: 'E106', nonRetryable: true });
    expect(refused.message).toContain('a loopback address');
    expect(host.asked).toHaveLength(0);
  });

  it('is refused as soon as it has too many bytes', async () => {
    const host = await serveForTest((_, response) => void response.end('x'.repeat(5_000)));
    const signal = new AbortController().signal;
    const how = { download: openDownloads(1), service: base, signal, mostBytes: 4_096 };
    const { stdin } = sheetAt(`${host.url}/hens.csv`, how);
    await expect(stdin.toArray()).rejects.toMatchObject({ code: 'E106' });
  });

  it.each([
    ['https://anna9:zebrastripe@example.org/hens.csv', 'https://example.org/hens.csv'],
    ['file://anna9:zebrastripe@host/hens.csv', 'file://host/hens.csv'],
    ['s3://anna9:zebra/stripe@bucket/hens.csv', 's3://…'],
  ])('is not read with a password in its address: %s', async (address, shown) => {
    const { type, nonRetryable, message } = await failureOf(make(address, 'one', { sheets: 's3://bucket' }));
    expect([type, nonRetryable]).toEqual(['E106', true]);
    expect(message).toContain(shown);
    expect(message).not.toMatch(/anna9|zebra|stripe/);
  });

  it('is not read from an address of another kind', async () => {
    const refused = await failureOf(make('ftp://user:zebrastripe@example.org/hens.csv', 'one'));
    expect(refused).toMatchObject({ type: 'E106', nonRetryable: true });
    expect(refused.message).not.toContain('zebrastripe');
  });
});

describe('an outage', () => {
  it('of the run service is retried', async () => {
    const sheet = place.write('owls.csv', SHEET);
    await closeService();
    expect(await failureOf(make(sheet, 'one'))).toMatchObject({ type: 'E304', nonRetryable: false });
    expect(batchesThere()).toEqual([]);
  });

  it("of the sheet's host is retried", async () => {
    const host = await serveForTest((_, response) => void response.writeHead(503).end());
    const failed = await failureOf(make(`${host.url}/hens.csv?signature=secret`, 'one'));
    expect(failed).toMatchObject({ type: 'E109', nonRetryable: false });
    expect(failed.message).not.toContain('signature');
  });
});

it('the local run service is refused where no embedded server started one', async () => {
  const sheet = place.write('owls.csv', SHEET);
  expect(await failureOf(make(sheet, 'one', { service: 'local' }))).toMatchObject({
    type: 'E602',
    nonRetryable: true,
  });
});
