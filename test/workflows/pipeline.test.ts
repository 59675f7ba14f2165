// The workflow of a pipeline on a real Temporal server, with activities that each test defines.

import { ApplicationFailure, type Duration } from '@temporalio/common';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import type { Client } from '@temporalio/client';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Activities } from '../../activities/index.ts';
import { pipelineIdOf } from '../../src/batch/workflow-ids.ts';
import { workflowBundle } from '../../src/temporal/bundle.ts';
import { connectWorker } from '../../src/temporal/connect-worker.ts';
import { openPipelines, type PipelineClient } from '../../src/temporal/pipelines.ts';
import { filesQueueOf, TASK_QUEUE, workQueueOf } from '../../workflows/task-queues.ts';
import { Stage, until } from '../stage/stage.ts';

type Input = { readonly pipeline: string; readonly stage: string };
type ShownPipeline = { readonly pipeline: string; readonly failed?: { readonly stage: string } };

const DAY_MS = 86_400_000;
/** Nothing but a signal makes a stage look again in the time of a test. */
const LATER: Duration = '1h';
const waits = () => ApplicationFailure.create({ message: 'it waits', nextRetryDelay: LATER });
const fails = () => ApplicationFailure.nonRetryable('E553: no row is left', 'E553');

describe('the workflow of a pipeline', () => {
  const stage = new Stage();
  const calls: string[] = [];
  const did = (pipeline: string): readonly string[] =>
    calls.filter((call) => call.startsWith(`${pipeline} `)).map((call) => call.slice(pipeline.length + 1));
  /** The reaction of a test to each call of an activity; the key is the call without the pipeline. */
  const script = new Map<string, () => unknown>();
  let client: Client;
  let pipelines: PipelineClient;
  const stops: (() => Promise<void>)[] = [];

  const called = async (pipeline: string, call: string): Promise<void> => {
    calls.push(`${pipeline} ${call}`);
    await script.get(`${pipeline} ${call}`)?.();
  };
  const activities = {
    awaitStage: ({ pipeline, stage: name }: Input) => called(pipeline, `looks ${name}`),
    createStage: async ({ pipeline, stage: name }: Input) => {
      await called(pipeline, `makes ${name}`);
      return { batch: name, mark: '00112233445566aa', folder: '/nowhere', hasEnded: true };
    },
    awaitBatch: async () => ({}),
    showPipeline: ({ pipeline, failed }: ShownPipeline) =>
      called(pipeline, failed === undefined ? 'shows' : `notes ${failed.stage}`),
  } satisfies Partial<Record<keyof Activities, unknown>>;

  beforeAll(async () => {
    Runtime.install({ logger: new DefaultLogger('ERROR') });
    await stage.temporal();
    const { TEMPORAL_ADDRESS: address = '', TEMPORAL_NAMESPACE: namespace = '' } = stage.environment;
    const server = { address, namespace, from: 'the test', options: {} };
    const { client: reached, connection } = await connectWorker(server, 20_000, {});
    client = reached;
    pipelines = openPipelines(() => client, TASK_QUEUE, false);
    const workflows = await Worker.create({
      connection,
      namespace,
      taskQueue: TASK_QUEUE,
      workflowBundle: await workflowBundle(),
    });
    const companions = [workQueueOf(TASK_QUEUE), filesQueueOf(TASK_QUEUE)].map((taskQueue) =>
      Worker.create({ connection, namespace, taskQueue, activities }),
    );
    for (const worker of [workflows, ...(await Promise.all(companions))]) {
      const running = worker.run();
      stops.push(async () => {
        worker.shutdown();
        await running;
      });
    }
    stops.push(() => connection.close());
  }, 120_000);
  afterAll(async () => {
    for (const stop of stops) await stop();
    await stage.close();
  });

  const MARK = '0123456789abcdef';
  const FINALS = { name: 'finals', from: 'drafts' };
  const PRINTS = { name: 'prints', from: 'drafts' };
  /** Starts the pipeline like `run`, `pick` and `pipeline follow`. */
  const command = (pipeline: string, stages: readonly { name: string; from?: string }[]): Promise<void> =>
    pipelines.start({ pipeline, mark: MARK, folder: '/nowhere', stages: [{ name: 'drafts' }, ...stages] });
  const handle = (pipeline: string) => client.workflow.getHandle(pipelineIdOf({ pipeline, mark: MARK }));
  const count = (pipeline: string, call: string): number =>
    did(pipeline).filter((activity) => activity === call).length;
  const reaches = (pipeline: string, call: string, times = 1): Promise<void> =>
    until(() => count(pipeline, call) >= times, `${call}, ${times} times`);

  it('looks when a command asks for it, and fewer than 500 times in three days besides, with one event', async () => {
    let isPicked = false;
    script.set('gate looks finals', () => {
      if (!isPicked) throw waits();
    });
    await command('gate', [FINALS]);
    await reaches('gate', 'looks finals');
    await command('gate', [FINALS]);
    await reaches('gate', 'looks finals', 2);
    isPicked = true;
    await command('gate', [FINALS]);
    await handle('gate').result();
    expect(did('gate').filter((call) => call === 'makes finals')).toHaveLength(1);

    const { events } = await handle('gate').fetchHistory();
    const looks = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled?.activityType?.name === 'awaitStage' ? [scheduled] : [],
    );
    expect(looks).toHaveLength(3);
    const { initialInterval, maximumInterval, backoffCoefficient } = looks[0]?.retryPolicy ?? {};
    const most = optionalTsToMs(maximumInterval) ?? 0;
    let tries = 1;
    for (let [at, gap] = [0, optionalTsToMs(initialInterval) ?? 0]; at < 3 * DAY_MS; tries += 1) {
      at += gap;
      gap = Math.min(most, gap * (backoffCoefficient ?? 1));
    }
    expect(tries).toBeLessThan(500);
  });

  it('takes up a stage that failed while another one waits, when a command asks for it', async () => {
    let isRepaired = false;
    let isPicked = false;
    script.set('repair looks finals', () => {
      if (!isPicked) throw waits();
    });
    script.set('repair makes prints', () => {
      if (!isRepaired) throw fails();
    });
    await command('repair', [FINALS, PRINTS]);
    await reaches('repair', 'notes prints');
    await reaches('repair', 'looks finals');
    isRepaired = true;
    const shown = count('repair', 'shows');
    await command('repair', [FINALS, PRINTS]);
    await reaches('repair', 'makes prints', 2);
    await reaches('repair', 'shows', shown + 1);
    expect(count('repair', 'makes finals')).toBe(0);
    isPicked = true;
    await command('repair', [FINALS, PRINTS]);
    await handle('repair').result();
    expect([count('repair', 'makes prints'), count('repair', 'makes finals')]).toEqual([2, 1]);
    // A worker that takes over decides the same.
    const replaying = { taskQueue: 'replay', workflowBundle: await workflowBundle() };
    await Worker.runReplayHistory(replaying, await handle('repair').fetchHistory());
  });

  it('takes up a stage whose failure is being noted when the command comes', async () => {
    let isRepaired = false;
    script.set('noted makes drafts', () => {
      if (!isRepaired) throw fails();
    });
    script.set('noted notes drafts', async () => {
      isRepaired = true;
      await command('noted', []);
    });
    await command('noted', []);
    await handle('noted').result();
    expect(count('noted', 'makes drafts')).toBe(2);
  });

  it('ends with the error of a stage that nothing repairs', async () => {
    script.set('lost makes drafts', () => {
      throw fails();
    });
    await command('lost', []);
    await expect(handle('lost').result()).rejects.toMatchObject({ cause: { cause: { type: 'E553' } } });
  });
});
