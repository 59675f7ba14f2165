// The closing line of a batch: what a command prints last.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Summary } from '../../src/results/summary.ts';
import { Stage, until, type Ended } from '../stage/stage.ts';

const ROWS = 40;
const DEPLOYMENTS = JSON.stringify([
  { name: 'portraits', concurrencyLimit: 8, coldStartSeconds: 0.1, runSeconds: 0.5 },
]);

describe('the closing line of a batch whose servers were stopped, at a service that buys some rows twice', () => {
  const stage = new Stage();
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
});
