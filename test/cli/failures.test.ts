import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage, type Ended } from '../stage/stage.ts';

const ROWS = 30;
const DEPLOYMENTS = JSON.stringify([
  { name: 'portraits', concurrencyLimit: 8, coldStartSeconds: 0, runSeconds: 0.2 },
]);

describe('rows that fail permanently', () => {
  const stage = new Stage();
  const folders: string[] = [];
  let first: Ended;

  beforeAll(async () => {
    const deployments = ['--deployments', stage.write('deployments.json', DEPLOYMENTS)];
    await stage.temporal();
    const broken = await stage.service([...deployments, '--fault', 'fail=0.4', '--seed', '7']);
    await stage.worker();
    first = await stage.run(['run', stage.sheet(ROWS), '-d', 'portraits', '--retries', '0']);
    folders.push(first.stdout.trim());
    const port = Number(new URL(broken.base).port);
    await broken.kill();
    await stage.service(deployments, port);
  });
  afterAll(() => stage.close());

  const linesOf = (name: string): string[] =>
    readFileSync(join(folders[0] ?? '', name), 'utf8')
      .trim()
      .split('\n');

  it('end the command with 3, and failures.csv contains exactly these rows', () => {
    expect([first.code, first.code === 3 ? '' : first.stderr]).toEqual([3, '']);
    const failed = stage.results(folders[0]).filter(({ outcome }) => outcome === 'failed');
    expect(failed.length).toBeGreaterThan(3);
    expect(failed.length).toBeLessThan(ROWS);
    expect(linesOf('failures.csv')).toHaveLength(failed.length + 1);
    for (const { reason, run_id } of failed) expect([reason !== '', run_id !== '']).toEqual([true, true]);
  });

  it('are known as rows of their batch when run gets failures.csv, which names both commands', async () => {
    const path = join(folders[0] ?? '', 'failures.csv');
    const { batch } = stage.batchFile(folders[0]);
    const asked = await stage.run(['run', path, '-d', 'portraits']);
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('error[E534]')]);
    expect(asked.stderr).toContain(`runsheet run --into ${batch} ${path} -d portraits`);
    expect(asked.stderr).toContain(`runsheet run --again ${path} -d portraits`);
    const same = await stage.run(['run', path, '-d', 'portraits', '--into', batch]);
    expect([same.code, same.stderr]).toEqual([3, expect.stringContaining(': 0 new, 0 sent again')]);
  });

  it('succeed in their batch when run gets them corrected', async () => {
    const { batch } = stage.batchFile(folders[0]);
    const [header = '', ...lines] = linesOf('failures.csv');
    const mended = lines.map((line) => line.replace('portrait', 'a better portrait'));
    const path = stage.write('mended.csv', `${[header, ...mended].join('\n')}\n`);
    const bought = (await stage.truth()).length;
    const run = await stage.run(['run', path, '-d', 'portraits', '--into', batch]);
    expect([run.code, run.stderr]).toEqual([0, expect.stringContaining(`${lines.length} sent again`)]);
    const results = stage.results(folders[0]);
    expect(results).toHaveLength(ROWS);
    const better = results.filter(({ prompt = '' }) => prompt.startsWith('a better portrait'));
    expect(better.map(({ outcome, attempts }) => [outcome, attempts])).toEqual(
      lines.map(() => ['succeeded', '2']),
    );
    expect(await stage.truth()).toHaveLength(bought + lines.length);
    const verified = await stage.run(['verify', batch]);
    expect([verified.code, verified.stderr + verified.stdout]).toEqual([
      0,
      expect.stringContaining('adds up'),
    ]);
  });

  it('become a new batch with --again', async () => {
    const again = await stage.run(['run', stage.path('mended.csv'), '-d', 'portraits', '--again']);
    expect(again.stderr).toContain('rows succeeded');
    expect(again.code).toBe(0);
    const header = (path: string): string => readFileSync(path, 'utf8').split('\n')[0] ?? '';
    expect(header(join(again.stdout.trim(), 'results.csv'))).toBe(linesOf('results.csv')[0]);
  });
});
