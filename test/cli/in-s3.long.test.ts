// A batch whose folder is in S3: each command is given on another machine than the one before.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { takeS3Settings } from '../../src/host/settings/s3-settings.ts';
import type { Store } from '../../src/store/store.ts';
import { openStore } from '../../src/store/open-store.ts';
import { connect } from '../../src/index.ts';
import { deploymentsOf, KEY, Stage, until, type Ended, type Running } from '../stage/stage.ts';
import { makeBucket } from '../store/s3/buckets.ts';
import { startS3, type S3Server } from '../store/s3/s3-server.ts';

const ROWS = 40;
const MORE = 3;
/** Rows that are sent again: their first files stay. */
const AGAIN = 3;
const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: 20, runSeconds: 0.1 });
const FLAGS = ['-d', 'portraits', '--key', 'number'];

/** Opens the address that a command prints, as a browser does. */
async function browserAt(command: Running): Promise<(name: string) => Promise<Response>> {
  const [address = ''] = await command.says(/http:\/\/127\S+/);
  const login = await fetch(address, { redirect: 'manual' });
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
  return (name) => fetch(new URL(name, new URL('/', address)), { headers: { cookie } });
}

describe('a batch in S3', () => {
  const stage = new Stage();
  let server: S3Server;
  let out = '';
  let machines = 0;
  let batch = '';

  beforeAll(async () => {
    server = await startS3();
    // For this process, which makes batches as well.
    for (const [name, value] of Object.entries(server.environment)) vi.stubEnv(name, value);
    takeS3Settings(process.env);
    out = `s3://${await makeBucket()}/team é/batches`;
    stage.environment = { ...server.environment, RUNSHEET_OUT: out };
    await stage.startAll(DEPLOYMENTS);
  });
  afterAll(async () => {
    await stage.close();
    await server[Symbol.asyncDispose]();
    vi.unstubAllEnvs();
  });

  /** A command on a machine that knows nothing but its settings. */
  const elsewhere = () => {
    const home = stage.path('machines', String((machines += 1)));
    mkdirSync(home, { recursive: true });
    return { HOME: home, RUNSHEET_HOME: `${home}/.runsheet`, XDG_CACHE_HOME: `${home}/.cache` };
  };
  const give = async (...args: readonly string[]): Promise<Ended> => stage.run(args, elsewhere());
  const said = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await give(...args);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    return stdout;
  };
  const bought = async (): Promise<number> => (await stage.truth()).length;
  const files = (name = batch): Store => openStore(`${out}/${name}`);
  const outputs = async (name = batch) => (await files(name).list('outputs')).length;

  it('is made, run and received through the address, and leaves nothing on the machine', async () => {
    const { code, stdout, stderr } = await give('run', stage.sheet(ROWS), ...FLAGS);
    expect([code, stderr]).toEqual([0, expect.stringContaining(`results   ${out}/`)]);
    expect(stdout.trim()).toMatch(/^s3:\/\/.*\/batches\/sheet-[0-9a-f]{12}$/);
    batch = stdout.trim().slice(out.length + 1);
    expect([await bought(), await outputs()]).toEqual([ROWS, ROWS]);
    expect(existsSync(stage.path('batches'))).toBe(false);
    const home = stage.path('machines', '1', '.runsheet');
    expect(existsSync(home) ? readdirSync(home) : []).toEqual([]);
  });

  it('is found when its sheet is given again', async () => {
    expect((await said('run', stage.sheet(ROWS), ...FLAGS)).trim()).toBe(`${out}/${batch}`);
    expect(await bought()).toBe(ROWS);
  });

  it('is listed, shown and read from any machine', async () => {
    expect(await said('list')).toContain(batch);
    const [status] = [JSON.parse(await said('status', batch, '-o', 'json'))] as { folder: string }[];
    expect(status).toMatchObject({ batch, folder: `${out}/${batch}`, state: 'finished', rows: ROWS });
    const rows = (await said('rows', batch, '-o', 'jsonl')).trimEnd().split('\n');
    expect(rows.map((line) => (JSON.parse(line) as { row: number }).row)).toHaveLength(ROWS);
    expect((await said('results', batch)).trimEnd().split('\n')).toHaveLength(ROWS + 1);
    expect(await said('show', batch, '7')).toContain('outputs/7.png');
    expect(await said('events', batch)).toBeDefined();
    expect(await said('logs', batch, '7')).toBeDefined();
  });

  it('is exported to this machine, with links that anyone can follow', async () => {
    const path = stage.path(`${batch}.jsonl`);
    expect((await said('export', batch, '--as', 'jsonl')).trim()).toBe(path);
    const again = await give('export', batch, '--as', 'jsonl');
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('--replace')]);
    const xlsx = await give('export', batch);
    expect([xlsx.code, xlsx.stderr]).toEqual([0, expect.stringContaining('for 7 days')]);
    const reader = join(import.meta.dirname, '../results/export/read-workbook.py');
    const read = execFileSync('python3', [reader, xlsx.stdout.trim()]).toString();
    const [results] = (JSON.parse(read) as { sheets: { links: Record<string, string> }[] }).sheets;
    const links = Object.values(results?.links ?? {});
    expect(links).toHaveLength(ROWS);
    const picture = await fetch(links[6] ?? '');
    expect([picture.status, Buffer.from(await picture.arrayBuffer()).toString('latin1', 1, 4)]).toEqual([
      200,
      'PNG',
    ]);
  });

  it('is verified', async () => {
    const verified = await give('verify', batch);
    expect([verified.code, verified.stdout + verified.stderr]).toEqual([
      0,
      expect.stringContaining('adds up'),
    ]);
  });

  it('is opened in a browser of any machine', async () => {
    const opened = stage.start(['open', batch], elsewhere());
    const get = await browserAt(opened);
    expect(await (await get('/')).text()).toContain('content="runsheet report"');
    const picture = await get('/outputs/7.png');
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect((await picture.arrayBuffer()).byteLength).toBeGreaterThan(50);
    await opened.says(/Ctrl-C[^]*runsheet export/);
    expect((await opened.kill('SIGINT')).code).toBe(0);
  });

  it('sends rows again', async () => {
    const { code, stderr } = await give('retry', batch, '--row', '1-3', '--outcome', 'succeeded', '--yes');
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    expect(await bought()).toBe(ROWS + AGAIN);
  });

  it('takes further rows', async () => {
    const before = await bought();
    await said('run', stage.sheet(ROWS + MORE), ...FLAGS, '--into', batch);
    expect([(await bought()) - before, await outputs()]).toEqual([MORE, ROWS + AGAIN + MORE]);
  });

  let second = '';
  it('gives its results to another batch, which buys only the other rows', async () => {
    const before = await bought();
    second = (await said('run', stage.sheet(ROWS + 2 * MORE), ...FLAGS, '--reuse'))
      .trim()
      .slice(out.length + 1);
    expect([(await bought()) - before, await outputs(second)]).toEqual([MORE, ROWS + 2 * MORE]);
    const verified = await give('verify', second);
    expect([verified.code, verified.stdout + verified.stderr]).toEqual([
      0,
      expect.stringContaining('adds up'),
    ]);
  });

  it('is compared with another one', async () => {
    const { code, stdout, stderr } = await give('compare', batch, second);
    expect(stdout.trim().split('\n').at(-1)).toBe(`${out}/compare-${batch}-${second}.html`);
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(new RegExp(`copy +aws s3 sync '${out}' batches\n$`)),
    ]);
  });

  it('gives its results as the sheet of another batch', async () => {
    await said('run', '--from', batch, '-d', 'portraits', '--limit', '2', '--name', 'third', '--reuse');
    expect(await outputs('third')).toBe(2);
  });

  it('lists the errors of a sheet beside the batches', async () => {
    writeFileSync(stage.path('bad.csv'), 'number,prompt,seed\n1,a,1\n1,b,2\n2,c,x\n,d,1\n');
    const bad = await give('run', 'bad.csv', ...FLAGS);
    expect([bad.code, bad.stderr]).toEqual([5, expect.stringContaining(`${out}/bad-errors.csv`)]);
    expect(await openStore(out).read('bad-errors.csv')).toContain('E');
  });

  it('is made and read by a program', async () => {
    const { TEMPORAL_ADDRESS: address = '', RUNSHEET_API_URL: url = '' } = stage.environment;
    const connection = await Connection.connect({ address });
    await using runsheet = await connect({
      client: new Client({ connection, namespace: 'stage' }),
      store: new URL(encodeURI(out)),
      service: { url, apiKey: KEY },
      home: stage.path('program'),
    });
    const rows = [{ number: 900, prompt: 'of a program', seed: 1 }];
    const made = await runsheet.start(rows, { deployment: 'portraits', name: 'of-a-program' });
    expect(decodeURIComponent(made.location.href)).toBe(`${out}/of-a-program/`);
    expect((await made.result()).outcomes.succeeded).toBe(1);
    const names = (await Array.fromAsync(runsheet.list())).map(({ batch: name }) => name);
    expect(names).toContain('of-a-program');
    await connection.close();
  });

  it('is made by a schedule', async () => {
    await said(
      'schedule',
      'create',
      'nightly',
      stage.sheet(2, 'nightly.csv'),
      '-d',
      'portraits',
      '--cron',
      '0 0 29 2 *',
    );
    await said('schedule', 'trigger', 'nightly');
    const made = async () => (await openStore(out).folders('')).find((name) => name.startsWith('nightly-'));
    await until(async () => (await made()) !== undefined, 'the schedule has made a batch');
    const name = (await made()) ?? '';
    await said('wait', name);
    expect(await outputs(name)).toBe(2);
    await said('schedule', 'delete', 'nightly');
  });

  it('is removed by clean', async () => {
    const cleaned = await said('clean', '--older-than', '0s', '--yes', '-o', 'json');
    expect(JSON.parse(cleaned)).toMatchObject({
      removed: true,
      paths: expect.arrayContaining([`${out}/${batch}`]) as unknown,
    });
    expect(await openStore(out).folders('')).toEqual([]);
    expect(await said('list')).toBe('');
  });

  it('needs a bucket that exists, and says so in one error', async () => {
    const nowhere = { ...elsewhere(), RUNSHEET_OUT: 's3://runsheet-no-such-bucket' };
    const lost = await stage.run(['list'], nowhere);
    expect([lost.code, lost.stderr]).toEqual([6, expect.stringContaining('aws s3 mb')]);
    const [doctor, healthy] = [await stage.run(['doctor'], nowhere), await give('doctor')];
    expect(doctor.stdout).toMatch(/✗ folders +s3:\/\/runsheet-no-such-bucket/);
    expect(healthy.stdout).toContain(`✓ folders      batches in ${out}`);
    const unknown = await stage.run(['run', stage.sheet(2), ...FLAGS], nowhere);
    expect([unknown.code, unknown.stderr]).toEqual([6, expect.stringContaining('E612')]);
  });
});

describe('a batch in S3 on embedded servers', () => {
  const stage = new Stage();
  let server: S3Server;
  let out = '';

  beforeAll(async () => {
    server = await startS3();
    takeS3Settings(server.environment);
    out = `s3://${await makeBucket()}`;
    stage.environment = { ...server.environment, RUNSHEET_LOCAL_SPEED: '2' };
  });
  afterAll(async () => {
    await stage.close();
    await server[Symbol.asyncDispose]();
  });

  it('continues where it was when its machine was cut off', async () => {
    const words = ['run', stage.sheet(30), '-d', 'portraits', '-c', '3', '--local', '--out', out];
    const cut = stage.start(words);
    await cut.says(/ succeeded=[1-9]\d* .*total=30 /);
    await cut.killTree();
    const { code, stdout, stderr } = await stage.run(words);
    expect([code, stderr]).toEqual([0, expect.stringContaining('30 of 30 rows succeeded')]);
    const batch = stdout.trim();
    expect(batch).toMatch(/^s3:\/\/runsheet-test-\w+\/sheet-\w+$/);
    expect(stderr).toContain(`runsheet open ${batch.slice(out.length + 1)} --out ${out}`);
    const verified = await stage.run(['verify', '--out', out]);
    expect([verified.code, verified.stdout + verified.stderr]).toEqual([
      0,
      expect.stringContaining('adds up'),
    ]);
    expect(await openStore(batch).list('outputs')).toHaveLength(30);
    expect(existsSync(stage.path('batches'))).toBe(false);
  });
});
