// The pipeline of examples/pipeline, while its worker, the run service and Temporal are killed ten times.

import { existsSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { campaign } from '../../examples/pipeline/workflows.ts';
import { until } from '../stage/stage.ts';
import { expectOneRunPerRow, runsOf } from '../stage/truth.ts';
import { packed } from '../stage/packed.ts';
import { Application } from './application.ts';

const PROMPTS = Array.from({ length: 12 }, (_, at) => `motif ${at + 1}`);
/** After kills, unconfirmed rows wait for the run lists. */
const PATIENCE_MS = 240_000;
const PICKS = ['2', '3', '5', '7', '11'];

describe('a pipeline of two batches', () => {
  const application = new Application('pipeline');
  const { stage } = application;
  beforeAll(async () => {
    packed();
    await application.open();
  }, 240_000);
  afterAll(() => application.close());

  const batches = (): readonly string[] =>
    existsSync(stage.path('batches'))
      ? readdirSync(stage.path('batches')).filter((name) => !name.startsWith('.'))
      : [];
  const batchOf = (stem: string): string | undefined => batches().find((name) => name.startsWith(stem));

  it('runs each stage once and keeps the picks, whatever is killed', async () => {
    let worker = await application.worker();
    let { service } = application;
    let kills = 0;
    const kill = async (what: { readonly kill: () => Promise<unknown> }): Promise<void> => {
      await what.kill();
      kills += 1;
    };
    const killWorker = async (): Promise<void> => {
      await kill(worker);
      worker = await application.worker();
    };
    const restartService = async (): Promise<void> => {
      service = await application.openService(Number(new URL(service.base).port));
    };
    const killService = async (): Promise<void> => {
      await kill(service);
      await restartService();
    };
    const killEverything = async (): Promise<void> => {
      const { temporal } = application;
      await Promise.all([kill(worker), kill(service), kill(temporal)]);
      await Promise.all([restartService(), temporal.restart()]);
      worker = await application.worker();
    };

    const handle = await application.client.workflow.start<typeof campaign>('campaign', {
      taskQueue: 'pipeline',
      workflowId: 'campaign-1',
      args: [{ id: '1', prompts: PROMPTS, folder: stage.folder, pickWithin: '1 hour' }],
    });
    const seen = async (isSo: () => boolean | Promise<boolean>, what: string): Promise<void> => {
      const hasFailed = async () => (await handle.describe()).status.name === 'FAILED';
      await until(async () => (await isSo()) || (await hasFailed()), what, PATIENCE_MS);
      if (await hasFailed()) await handle.result();
    };
    const bought = (least: number): Promise<void> =>
      seen(async () => (await stage.truth()).length >= least, `${least} runs were bought`);

    await killWorker();
    await seen(() => batchOf('drafts') !== undefined, 'the drafts are a batch');
    await killWorker();
    await bought(4);
    await killEverything();
    await bought(9);
    // Picks arrive while no worker runs, and before all drafts are drawn.
    await kill(worker);
    await handle.signal('pick', PICKS);
    worker = await application.worker();
    await seen(() => batchOf('picks') !== undefined, 'the picks are a batch');
    await killWorker();
    await bought(PROMPTS.length + 1);
    await killService();
    await killWorker();
    await bought(PROMPTS.length + PICKS.length);
    await killWorker();
    const folder = await handle.result();

    expect(kills).toBe(10);
    expect(application.read('notified-1.txt')).toBe(`${PICKS.length} of ${PICKS.length} are in ${folder}\n`);
    expect(batches()).toHaveLength(2);
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
  }, 600_000);
});
