// The application of examples/application: a worker with activities of its own, and a workflow that awaits a batch.

import { WorkflowFailedError } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { drawOrder } from '../../examples/application/workflows.ts';
import { readSummary } from '../../src/results/summary.ts';
import { openStore } from '../../src/store/open-store.ts';
import { until } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';
import { packed } from '../stage/packed.ts';
import { Application } from './application.ts';

const ANIMALS = Array.from({ length: 24 }, (_, at) => `animal ${at + 1}`);

describe('a workflow that awaits a batch', () => {
  let application: Application;
  beforeAll(() => void packed(), 180_000);
  beforeEach(async () => {
    application = new Application('application');
    await application.open();
  });
  afterEach(() => application.close());

  const order = (id: string) =>
    application.client.workflow.start<typeof drawOrder>('drawOrder', {
      taskQueue: 'application',
      workflowId: `order-${id}`,
      args: [{ id, animals: ANIMALS, folder: application.stage.folder }],
    });

  it('goes on when its worker was killed in the middle, and buys every row once', async () => {
    const { stage } = application;
    const worker = await application.worker();
    const handle = await order('17');
    await until(async () => (await stage.truth()).length >= 8, 'some rows were bought');
    await worker.kill('SIGKILL');
    const next = await application.worker();
    expect(await handle.result()).toBe(stage.batch());
    expect(application.read('announced.txt')).toMatch(/^order 17: all drawn, \$[\d.]+, .*\n$/);
    expectOneRunPerRow(await stage.truth(), ANIMALS.length);
    expect((await readSummary(openStore(stage.batch())))?.bought_twice).toBe(0);

    // A second order with the same key gets the same batch, without a child workflow.
    await application.client.workflow
      .start<typeof drawOrder>('drawOrder', {
        taskQueue: 'application',
        workflowId: 'order-17-again',
        args: [{ id: '17', animals: ANIMALS, folder: stage.folder }],
      })
      .then((again) => again.result());
    expect(await stage.truth()).toHaveLength(ANIMALS.length);

    await next.kill('SIGTERM').then(({ code }) => expect(code).toBe(0));
  });

  it('that is cancelled cancels the batch and its runs, and ends after them', async () => {
    const { stage } = application;
    await application.worker();
    const handle = await order('18');
    await until(async () => (await stage.truth()).length >= 4, 'some rows were bought');
    await handle.cancel();
    const error = await handle.result().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WorkflowFailedError);
    expect((error as WorkflowFailedError).cause).toBeInstanceOf(CancelledFailure);
    const summary = await readSummary(openStore(stage.batch()));
    expect(summary?.outcomes.cancelled).toBeGreaterThan(0);
    const open = (await stage.truth()).filter(({ endedAtMs }) => endedAtMs === undefined);
    expect(open).toEqual([]);
    expect(application.read('announced.txt')).toBe('');
  });
});
