// Batches in S3: commands and workers share no folder, only a bucket.

import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setTimeout as wait } from 'node:timers/promises';
import { takeS3Settings } from '../../src/host/s3-settings.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { finished } from '../stage/outage.ts';
import { Stage, until } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';
import { makeBucket } from '../store/s3/buckets.ts';
import { openFaultyProxy, type FaultyProxy } from '../store/s3/faulty-proxy.ts';
import { startS3, type S3Server } from '../store/s3/s3-server.ts';

const ROWS = 300;
const AWAY_MS = 15_000;
const DEPLOYMENTS = JSON.stringify([
  { name: 'portraits', concurrencyLimit: 20, coldStartSeconds: 0, runSeconds: 0.5, pictureSize: 64 },
]);

describe('a batch in S3', () => {
  let stage = new Stage();
  let server: S3Server;
  let proxy: FaultyProxy;
  let out = '';
  beforeEach(async () => {
    stage = new Stage();
    server = await startS3();
    proxy = await openFaultyProxy(server.endpoint);
    takeS3Settings(server.environment);
    out = `s3://${await makeBucket()}/team/hens`;
    stage.environment = {
      ...server.environment,
      AWS_ENDPOINT_URL_S3: proxy.endpoint,
      RUNSHEET_OUT: out,
    };
  });
  afterEach(async () => {
    await stage.close();
    await proxy[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
  /** Two folders are two machines: nothing of one is seen on the other. */
  const worker = (machine: string) => stage.worker({ RUNSHEET_HOME: stage.path(machine) });
  const batchStore = (batch: string): Store => {
    // The stage reads the settings of this process, which has no keys.
    takeS3Settings(server.environment);
    return openStore(`${out}/${batch}`);
  };
  const resultsOf = async (batch: string): Promise<readonly Readonly<Record<string, string>>[]> =>
    parse((await batchStore(batch).read('results.csv')) ?? '', { columns: true });

  /** Each row once, with its file in the bucket. */
  const expectWhole = async (batch: string): Promise<void> => {
    const results = await resultsOf(batch);
    expect(results.map(({ row }) => Number(row))).toEqual(Array.from({ length: ROWS }, (_, at) => at + 1));
    expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(['succeeded']));
    for (const { outputs = '' } of results)
      expect((await batchStore(batch).facts(outputs))?.bytes).toBeGreaterThan(50);
    expectOneRunPerRow(await stage.truth(), ROWS);
    expect(existsSync(stage.path('batches'))).toBe(false);
  };

  it('is complete, with each row once, although S3 is slow and forgets answers, and one of its workers is killed', async () => {
    proxy.fault = ({ nth }) => (nth % 7 === 3 ? { kind: 'answer lost' } : { kind: 'late', ms: 100 });
    await stage.temporal();
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    const first = await worker('first');
    await worker('second');
    const { stdout } = await stage.run(['submit', stage.sheet(ROWS), '-d', 'portraits', '-c', '20']);
    const batch = stdout.trim();
    await until(async () => (await stage.truth()).length >= 100, 'a third of the rows was sent');
    await first.kill('SIGKILL');
    const ended = await finished(stage, batch);
    expect([ended.code, ended.stderr]).toEqual([
      0,
      expect.stringContaining(`${ROWS} rows, ${ROWS} runs, 0 bought twice`),
    ]);
    // One for the file of each row, few for what a hundred rows share, and a seventh of all a second time.
    expect(proxy.seen.filter(({ method }) => method === 'PUT').length).toBeLessThan(1.5 * ROWS);
    expect(proxy.seen.length).toBeLessThan(2.5 * ROWS);
    await expectWhole(batch);
    const exported = await stage.run(['export', batch, '--file', 'all.csv']);
    expect([exported.code, parse(readFileSync(stage.path('all.csv')), { columns: true })]).toEqual([
      0,
      expect.objectContaining({ length: ROWS }),
    ]);
    expect((await stage.run(['verify', batch])).code).toBe(0);
    const again = await stage.run(['submit', stage.sheet(ROWS), '-d', 'portraits', '-c', '20']);
    expect([again.code, again.stdout.trim()]).toEqual([0, batch]);
  });

  it('also runs with embedded servers', async () => {
    stage.environment = { ...stage.environment, RUNSHEET_OUT: '' };
    const ended = await stage.run(['run', stage.sheet(12), '-d', 'portraits', '--local', '--out', out]);
    expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining('12 of 12 rows succeeded')]);
    const [folder = ''] = ended.stdout.trim().split('\n');
    expect(folder).toMatch(new RegExp(`^${out}/sheet-[0-9a-f]+$`));
    expect(await resultsOf(folder.slice(out.length + 1))).toHaveLength(12);
    expect(existsSync(stage.path('batches'))).toBe(false);
  });

  it('pauses while S3 refuses, and continues automatically', async () => {
    await stage.temporal();
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    await worker('first');
    const { stdout } = await stage.run(['submit', stage.sheet(ROWS), '-d', 'portraits', '-c', '20']);
    const batch = stdout.trim();
    await until(async () => (await stage.truth()).length >= 100, 'a third of the rows was sent');
    proxy.fault = () => ({ kind: 'refused', status: 503, code: 'SlowDown' });
    await wait(AWAY_MS);
    proxy.fault = () => undefined;
    const ended = await finished(stage, batch);
    expect([ended.code, ended.stderr]).toEqual([
      0,
      expect.stringContaining(`${ROWS} rows, ${ROWS} runs, 0 bought twice`),
    ]);
    const events = (await batchStore(batch).read('events.jsonl')) ?? '';
    expect(events).toContain('"store"');
    await expectWhole(batch);
  });
});
