// The receipt of a batch: the last line that a command prints, and the file that verify writes and checks.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Summary } from '../../src/results/summary.ts';
import { Stage, until, type Ended } from '../stage/stage.ts';

const ROWS = 40;
const DEPLOYMENTS = JSON.stringify([
  { name: 'portraits', concurrencyLimit: 8, coldStartSeconds: 0.1, runSeconds: 0.5 },
]);

describe('the receipt of a batch whose servers were stopped, at a service that buys some rows twice', () => {
  const stage = new Stage();
  const receipt = (): string => join(stage.batch(), 'receipt.jsonl');
  let last: Ended;
  let summary: Summary;

  beforeAll(async () => {
    const deployments = stage.write('deployments.json', DEPLOYMENTS);
    await stage.service(['--deployments', deployments, '--fault', 'twin=0.2']);
    const args = ['run', stage.sheet(ROWS), '-d', 'portraits', '-c', '8', '--retries', '0'];
    const stopped = stage.start(args);
    await until(async () => (await stage.truth()).length >= 12, 'some runs were bought');
    await stopped.kill('SIGINT');
    last = await stage.run(args);
    summary = JSON.parse(readFileSync(join(stage.batch(), 'summary.json'), 'utf8')) as Summary;
  });
  afterAll(() => stage.close());

  it('is the last line of what the command did: rows, runs, duplicates, cost, restarts', async () => {
    const bought = (await stage.truth()).length;
    expect(bought).toBeGreaterThan(ROWS);
    expect(summary).toMatchObject({
      rows: ROWS,
      runs: ROWS,
      bought_twice: bought - ROWS,
      lists: 'complete',
      workers: 2,
      restarts: 1,
    });
    const money = `\\$${summary.total_cost_usd.toFixed(summary.total_cost_usd < 0.1 ? 4 : 2)}`;
    const line = `40 rows, 40 runs, ${bought - ROWS} bought twice, ${money} estimated, survived 1 restart`;
    expect(last.stderr).toMatch(new RegExp(`\\n${line}\\n {2}open`));
  });

  it('is also the last line of watch, of run again, and the only one of wait', async () => {
    const line = last.stderr
      .split('\n')
      .findLast((one) => one.endsWith(' estimated') || one.includes(' estimated, '));
    const run = ['run', stage.path('sheet.csv'), '-d', 'portraits'];
    for (const args of [['watch'], run]) expect((await stage.run(args)).stderr).toContain(`\n${line}\n`);
    expect((await stage.run(['wait'])).stderr).toBe(`${line}\n`);
    const { stdout } = await stage.run(['wait', '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({ summary: { runs: ROWS, restarts: 1 } });
  });

  it('is written by verify, and holds offline, with every run that the service has', async () => {
    const verified = await stage.run(['verify', '--receipt']);
    expect([verified.code, verified.stderr]).toEqual([0, expect.stringContaining(receipt())]);
    const [, sha256 = ''] = /sha256 ([0-9a-f]{64})/.exec(verified.stderr) ?? [];
    const named = [...readFileSync(receipt(), 'utf8').matchAll(/"run_id":"([^"]+)"/g)].map(([, id]) => id);
    const bought = (await stage.truth()).map(({ id }) => id);
    expect(named).toHaveLength(bought.length);
    expect(new Set(named)).toEqual(new Set(bought));

    const elsewhere = { RUNSHEET_API_URL: 'http://127.0.0.1:1', RUNSHEET_OUT: stage.path('nothing') };
    const checked = await stage.run(['verify', '--check-receipt', receipt(), '-o', 'json'], elsewhere);
    expect(checked.code).toBe(0);
    expect(JSON.parse(checked.stdout)).toMatchObject({
      holds: true,
      sha256,
      total: {
        rows: ROWS,
        runs: ROWS,
        bought_twice: summary.bought_twice,
        cost_usd: { total: summary.total_cost_usd, duplicates: summary.duplicates.cost_usd },
      },
    });
  });

  it('is written to the named file, the same each time, and over nothing but a receipt', async () => {
    const named = ['verify', '--receipt', 'own.jsonl'];
    for (let time = 0; time < 2; time += 1) expect((await stage.run(named)).code).toBe(0);
    expect(readFileSync(stage.path('own.jsonl'), 'utf8')).toBe(readFileSync(receipt(), 'utf8'));
    const sheet = readFileSync(stage.path('sheet.csv'), 'utf8');
    const refused = await stage.run(['verify', '--receipt', 'sheet.csv']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('is no receipt')]);
    expect(readFileSync(stage.path('sheet.csv'), 'utf8')).toBe(sheet);
  });

  it('does not hold after a change, and the check names the first wrong line', async () => {
    const lines = readFileSync(receipt(), 'utf8').split('\n');
    const changed = (lines[20] ?? '').replace(
      /"gpu_seconds":0\.(\d)/,
      (_, digit: string) => `"gpu_seconds":0.${(Number(digit) + 1) % 10}`,
    );
    expect(changed).not.toBe(lines[20]);
    const path = stage.path('changed.jsonl');
    writeFileSync(path, lines.with(20, changed).join('\n'));
    const checked = await stage.run(['verify', '--check-receipt', path]);
    expect([checked.code, checked.stdout]).toEqual([1, '']);
    expect(checked.stderr).toContain('error[E520]');
    expect(checked.stderr).toContain('line 21 was changed');
  });

  it.each<readonly [string, readonly string[], number, string]>([
    ['a file that does not exist', ['--check-receipt', 'none.jsonl'], 2, 'E606'],
    ['a folder', ['--check-receipt', '.'], 2, 'E606'],
    ['a sheet', ['--check-receipt', 'sheet.csv'], 1, 'E520'],
    ['a batch besides', ['sheet', '--check-receipt', 'own.jsonl'], 2, 'E602'],
    ['the writing of another', ['--receipt', '--check-receipt', 'own.jsonl'], 2, 'E602'],
    ['no file', ['--check-receipt'], 2, 'E602'],
  ])('is not checked with %s', async (_, args, exit, code) => {
    const { code: exited, stderr } = await stage.run(['verify', ...args]);
    expect([exited, stderr]).toEqual([exit, expect.stringContaining(`error[${code}]`)]);
  });

  it('is not written of a batch that does not add up', async () => {
    const path = join(stage.batch(), 'summary.json');
    writeFileSync(path, JSON.stringify({ ...summary, cost_usd: summary.cost_usd + 1 }));
    const refused = await stage.run(['verify', '--receipt', 'wrong.jsonl']);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('error[E510]')]);
    const checked = await stage.run(['verify', '--check-receipt', 'wrong.jsonl']);
    expect(checked.stderr).toContain('error[E606]');
  });
});
