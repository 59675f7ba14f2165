// A pipeline of three stages from a job file alone, while its command, its worker, the run service and Temporal are killed ten times.

import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedStage } from '../stage/shared-stage.ts';
import { deploymentsOf, type Stage, until, type Ended, type Running } from '../stage/stage.ts';
import { expectOneRunPerRow, runsOf } from '../stage/truth.ts';

const ROWS = 12;
const PICKS = ['2', '3', '5', '7', '11'];
/** After kills, unconfirmed rows wait for the run lists. */
const PATIENCE_MS = 240_000;
const JOB = `
[[stage]]
name = "drafts"
from = "sheet.csv"
deployment = "portraits"
concurrency = 3

[[stage]]
name = "finals"
from = "drafts"
pick = true
deployment = "portraits"
set = { prompt = "in high resolution" }

[[stage]]
name = "prints"
from = "finals"
deployment = "prints"
map = { image = "output" }
`;

describe('a pipeline from a job file', () => {
  const stage = sharedStage();
  let temporal: Awaited<ReturnType<Stage['temporal']>>;
  let service: Awaited<ReturnType<Stage['service']>>;
  let worker: Running;
  let kills = 0;
  const deployments = () =>
    stage.write(
      'deployments.json',
      deploymentsOf(
        { concurrencyLimit: 4, runSeconds: 1.5 },
        { name: 'prints', concurrencyLimit: 4, runSeconds: 1.5 },
      ),
    );
  beforeAll(async () => {
    temporal = await stage.temporal();
    service = await stage.service(['--deployments', deployments()]);
    worker = await stage.worker();
    stage.sheet(ROWS);
    stage.write('poster.job.toml', JOB);
  }, 120_000);

  const kill = async (what: { readonly kill: () => Promise<unknown> }): Promise<void> => {
    await what.kill();
    kills += 1;
  };
  const killWorker = async (): Promise<void> => {
    await kill(worker);
    worker = await stage.worker();
  };
  const killEverything = async (): Promise<void> => {
    await Promise.all([kill(worker), kill(service), kill(temporal)]);
    service = await stage.service(['--deployments', deployments()], Number(new URL(service.base).port));
    await temporal.restart();
    worker = await stage.worker();
  };
  const batches = (): readonly string[] =>
    readdirSync(stage.path('batches'))
      .filter((name) => existsSync(stage.path('batches', name, 'batch.json')))
      .sort();
  const bought = (least: number): Promise<void> =>
    until(async () => (await stage.truth()).length >= least, `${least} runs were bought`, PATIENCE_MS);
  const run = (): Running => stage.start(['run', 'poster.job.toml', '--name', 'poster']);
  const showed = async (): Promise<string> => (await stage.run(['pipeline', 'show'])).stdout;

  it('makes each stage once and keeps the picks, whatever is killed', async () => {
    const first = run();
    await until(
      () => existsSync(stage.path('batches', 'poster-drafts', 'batch.json')),
      'the drafts are a batch',
    );
    await kill(first);
    const second = run();
    await bought(3);
    await kill(second);
    await killWorker();
    await bought(8);
    await killEverything();
    const waiting: Ended = await run().ended;
    expect(waiting.stderr).toMatch(/helps +runsheet pick poster finals --picks picks.csv/);
    expect(waiting.code).toBe(8);
    expect(await showed()).toMatch(/finals +waiting +for picks of drafts\n +prints +waiting +after finals/);

    // The picks are given while no worker runs, and the command that gives them is killed.
    await kill(worker);
    const pick = stage.start(['pick', 'poster', 'finals', '--row', PICKS.join(',')]);
    await pick.says(/stage finals takes 5 rows/);
    await kill(pick);
    worker = await stage.worker();
    await bought(ROWS + 1);
    await killWorker();
    await bought(ROWS + PICKS.length + 1);
    await killWorker();
    const last = await run().ended;
    expect([last.code, last.code === 0 ? '' : last.stderr]).toEqual([0, '']);
    // The command ends when nothing more is written.
    const page = readFileSync(stage.path('batches', 'poster', 'index.html'), 'utf8');
    expect(page.match(/"state":"\w+"/g)).toEqual(Array(3).fill('"state":"finished"'));

    expect(kills).toBe(10);
    expect(batches()).toEqual(['poster-drafts', 'poster-finals', 'poster-prints']);
    const runs = await stage.truth();
    const counts = { drafts: ROWS, finals: PICKS.length, prints: PICKS.length };
    for (const [name, rows] of Object.entries(counts))
      expectOneRunPerRow(runsOf(runs, stage.batchFile(stage.path('batches', `poster-${name}`))), rows);
    expect(runs).toHaveLength(ROWS + 2 * PICKS.length);
    const finals = stage.results(stage.path('batches', 'poster-finals'));
    expect(finals.map(({ number }) => number)).toEqual(PICKS);
    expect(readFileSync(stage.path('batches', 'poster', 'picks', 'finals'), 'utf8')).toBe(
      `row\n${PICKS.join('\n')}\n`,
    );

    // Nothing is left to follow.
    expect((await stage.run(['pipeline', 'show'])).stderr).toBe('');
    const again = await run().ended;
    expect(again.code).toBe(0);
    expect(await stage.truth()).toHaveLength(runs.length);
  }, 900_000);

  it('goes on when rows of a stage are sent again, and when a stage that made no batch is corrected', async () => {
    const job = (where: string): string =>
      stage.write(
        'repaired.job.toml',
        `deployment = "portraits"\nagain = true\nretries = 0\n[[stage]]\nname = "drafts"\nfrom = "sheet.csv"\nlimit = 3\n[[stage]]\nname = "finals"\nfrom = "drafts"\nwhere = "${where}"\n`,
      );
    const command = ['run', job('row > 90'), '--name', 'repaired'];
    await stage.setFaults({ fail: 1 });
    const failed = await stage.run(command);
    expect([failed.code, failed.stderr]).toEqual([
      8,
      expect.stringMatching(
        /finals +waiting +for the rows of drafts that did not succeed[\s\S]*helps +runsheet retry repaired-drafts\n/,
      ),
    ]);
    await stage.setFaults({ fail: 0 });

    // The workflow goes on when the command has ended, up to a stage that has no row.
    expect((await stage.run(['retry', 'repaired-drafts'])).code).toBe(0);
    const shown = async () => (await stage.run(['pipeline', 'show', 'repaired'])).stdout;
    await until(async () => /finals +failed +E553: /.test(await shown()), 'a stage has failed');
    expect(readFileSync(stage.path('batches', 'repaired', 'index.html'), 'utf8')).toContain(
      '"state":"failed"',
    );

    job('row < 3');
    const last = await stage.run(command);
    expect([last.code, last.code === 0 ? '' : last.stderr]).toEqual([0, '']);
    expect(await shown()).toMatch(/drafts +finished +3 of 3 rows, .*\n +finals +finished +2 of 2 rows/);

    // The job may have been corrected since it was read.
    const written = () => statSync(stage.path('batches', 'repaired', 'pipeline.json'), { bigint: true });
    const { ino, mtimeNs } = written();
    expect((await stage.run(['pipeline', 'follow', 'repaired'])).code).toBe(0);
    expect(written()).toMatchObject({ ino, mtimeNs });
  }, 300_000);

  it('makes no batch if a later stage names a pool that does not exist', async () => {
    stage.write(
      'pooled.job.toml',
      'deployment = "portraits"\nagain = true\n[[stage]]\nname = "drafts"\nfrom = "sheet.csv"\n[[stage]]\nname = "finals"\nfrom = "drafts"\npool = "nobody"\n',
    );
    const { code, stderr } = await stage.run(['submit', 'pooled.job.toml', '--name', 'pooled']);
    expect(stderr).toContain('error[E540]');
    expect(code).toBeGreaterThan(0);
    expect(existsSync(stage.path('batches', 'pooled-drafts'))).toBe(false);
  }, 100_000);

  it('that is cancelled cancels the batch that runs, and begins no other stage', async () => {
    stage.write(
      'stopped.job.toml',
      'deployment = "portraits"\nagain = true\n[[stage]]\nname = "drafts"\nfrom = "sheet.csv"\nconcurrency = 1\n[[stage]]\nname = "finals"\nfrom = "drafts"\npartial = true\n',
    );
    const before = (await stage.truth()).length;
    const following = stage.start(['run', 'stopped.job.toml', '--name', 'stopped']);
    await bought(before + 2);
    expect((await stage.run(['pipeline', 'cancel', 'stopped'])).code).toBe(0);
    expect((await following.ended).stderr).toMatch(/drafts +finished +\d+ of 12 rows, \d+ without success/);
    expect((await stage.run(['pipeline', 'show', 'stopped'])).stdout).toMatch(
      /finals +failed +the pipeline was cancelled/,
    );
    expect(existsSync(stage.path('batches', 'stopped-finals'))).toBe(false);
  }, 200_000);
});
