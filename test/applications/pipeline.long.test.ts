// The pipeline of examples/pipeline, while its worker and the run service are killed ten times.

import { existsSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { campaign } from '../../examples/pipeline/workflows.ts';
import { until } from '../stage/stage.ts';
import { expectOneRunPerRow, runsOf } from '../stage/truth.ts';
import { Application, build } from './application.ts';

const PROMPTS = Array.from({ length: 16 }, (_, at) => `motif ${at + 1}`);
/** After kills, unconfirmed rows wait for the run lists. */
const PATIENCE_MS = 600_000;
const PICKS = ['2', '3', '5', '7', '11', '13'];

describe('a pipeline of two batches', () => {
  const application = new Application('pipeline');
  const { stage } = application;
  beforeAll(async () => {
    build();
    await application.open();
  }, 240_000);
  afterAll(() => application.close());

  const batchOf = (stem: string): string | undefined =>
    existsSync(stage.path('batches'))
      ? readdirSync(stage.path('batches')).find((name) => name.startsWith(stem))
      : undefined;

  it('runs each stage once and keeps the picks, whatever is killed', async () => {
    let worker = await application.worker();
    let kills = 0;
    const killWorker = async (): Promise<void> => {
      await worker.kill('SIGKILL');
      kills += 1;
      worker = await application.worker();
    };
    let { service } = application;
    const killService = async (): Promise<void> => {
      await service.kill('SIGKILL');
      kills += 1;
      service = await application.openService(Number(new URL(service.base).port));
    };
    const bought = async (least: number): Promise<void> =>
      until(async () => (await stage.truth()).length >= least, `${least} runs were bought`, PATIENCE_MS);

    const handle = await application.client.workflow.start<typeof campaign>('campaign', {
      taskQueue: 'campaigns',
      workflowId: 'campaign-1',
      args: [{ id: '1', prompts: PROMPTS, folder: stage.folder, pickWithin: '1 hour' }],
    });
    await killWorker();
    await until(() => batchOf('drafts') !== undefined, 'the drafts are a batch');
    await killWorker();
    await bought(4);
    await killWorker();
    await killService();
    await bought(10);
    await killWorker();
    // Picks arrive while no worker runs, and before all drafts are drawn.
    await worker.kill('SIGKILL');
    kills += 1;
    await handle.signal('pick', PICKS);
    worker = await application.worker();
    await until(() => batchOf('picks') !== undefined, 'the picks are a batch', PATIENCE_MS);
    await killWorker();
    await bought(PROMPTS.length + 3);
    await killService();
    await killWorker();
    await killWorker();
    const folder = await handle.result();

    expect(kills).toBe(10);
    expect(application.read('notified-1.txt')).toBe(`${PICKS.length} of ${PICKS.length} are in ${folder}\n`);
    const names = readdirSync(stage.path('batches')).filter((name) => !name.startsWith('.'));
    expect(names).toHaveLength(2);
    const runs = await stage.truth();
    const of = (stem: string) => {
      const batch = stage.path('batches', batchOf(stem) ?? '');
      return { runs: runsOf(runs, stage.batchFile(batch)), results: stage.results(batch) };
    };
    const [drafts, picks] = [of('drafts'), of('picks')];
    expectOneRunPerRow(drafts.runs, PROMPTS.length);
    expectOneRunPerRow(picks.runs, PICKS.length);
    expect(picks.results.map(({ number }) => number)).toEqual(PICKS);
    expect(drafts.runs.length + picks.runs.length).toBe(runs.length);
  }, 1_800_000);
});
