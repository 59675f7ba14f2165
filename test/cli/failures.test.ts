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
    const broken = await stage.service([...deployments, '--fault', 'fail=0.4', '--seed', '7']);
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
    const failed = stage.results(folders[0]).filter(({ outcome }) => outcome === 'failed');
    expect(failed.length).toBeGreaterThan(3);
    expect(failed.length).toBeLessThan(ROWS);
    expect(first.code).toBe(3);
    expect(linesOf('failures.csv')).toHaveLength(failed.length + 1);
    for (const { reason, run_id } of failed) expect([reason !== '', run_id !== '']).toEqual([true, true]);
  });

  it('succeed when run gets the unchanged failures.csv', async () => {
    const again = await stage.run(['run', join(folders[0] ?? '', 'failures.csv'), '-d', 'portraits']);
    expect(again.stderr).toContain('rows succeeded');
    expect(again.code).toBe(0);
    const header = (path: string): string => readFileSync(path, 'utf8').split('\n')[0] ?? '';
    expect(header(join(again.stdout.trim(), 'results.csv'))).toBe(linesOf('results.csv')[0]);
  });
});
