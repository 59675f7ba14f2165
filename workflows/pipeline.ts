// A pipeline: batches whose sheets are the results of others. Each stage makes its batch and runs it, once the stage before it has
// ended and what it waits for is there. It may wait for days: for picks, or for rows that the user sends again.

import { CancellationScope, isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { errorsOf, type Failure } from '../src/batch/notices/schedule-notice.ts';
import { dueStages, type Stage, type StageState } from '../src/batch/pipeline/stages.ts';
import { FINDING, MAKING, runMade } from './awaited-batch.ts';
import { filesQueueOf, workQueueOf } from './task-queues.ts';

export type PipelineInput = {
  readonly pipeline: string;
  readonly folder: string;
  readonly stages: readonly PipelineStage[];
};

/** `taskQueue`: of workers with a tag. */
type PipelineStage = Stage & { readonly taskQueue?: string };

/** Resolves when each stage has ended. Throws the first error of a stage that made no batch; others end before. */
export async function runsheetPipeline({ pipeline, folder, stages }: PipelineInput): Promise<void> {
  const states = new Map<string, StageState>(stages.map(({ name }) => [name, 'waiting']));
  const failures: unknown[] = [];
  const ref = { pipeline, folder };
  const begin = async (): Promise<void> => {
    const due = dueStages(stages, states);
    for (const { name } of due) states.set(name, 'begun');
    await Promise.all(due.map(run));
  };
  const run = async (stage: PipelineStage): Promise<void> => {
    try {
      await runStage(ref, stage);
      states.set(stage.name, 'ended');
    } catch (error) {
      states.set(stage.name, 'failed');
      failures.push(error);
      await noted(ref, stage.name, error);
    }
    await begin();
  };
  await begin();
  const cancelled = failures.find(isCancellation);
  if (cancelled !== undefined)
    for (const { name } of stages) if (states.get(name) === 'waiting') await noted(ref, name, cancelled);
  await CancellationScope.nonCancellable(() => workOf().showPipeline(ref));
  const [first] = failures;
  if (first !== undefined) throw first;
}

type Ref = { readonly pipeline: string; readonly folder: string };

async function runStage(ref: Ref, { name, from, taskQueue = workflowInfo().taskQueue }: PipelineStage) {
  const input = { ...ref, stage: name };
  if (from !== undefined) await awaitStage(input);
  const options = {
    taskQueue: filesQueueOf(taskQueue),
    heartbeatTimeout: '10s',
    retry: { initialInterval: '500ms', maximumInterval: '1m' },
  } as const;
  await runMade(taskQueue, {
    make: () => proxyActivities<Activities>({ ...options, ...MAKING }).createStage(input),
    find: () =>
      proxyActivities<Activities>({ ...options, ...FINDING }).createStage({ ...input, findOnly: true }),
  });
  await workOf().showPipeline(ref);
}

/** Each look is a retry, because retries of an activity add no events to the history. */
const awaitStage: Activities['awaitStage'] = (input) =>
  proxyActivities<Activities>({
    taskQueue: workQueueOf(workflowInfo().taskQueue),
    heartbeatTimeout: '10s',
    startToCloseTimeout: '1m',
    retry: { initialInterval: '1s', backoffCoefficient: 1.1, maximumInterval: '10s' },
  }).awaitStage(input);

const workOf = () =>
  proxyActivities<Activities>({
    taskQueue: workQueueOf(workflowInfo().taskQueue),
    heartbeatTimeout: '10s',
    startToCloseTimeout: '5m',
    retry: { initialInterval: '500ms', maximumInterval: '1m' },
  });

/** Why a stage has made no batch stands in the folder of the pipeline. */
async function noted(ref: Ref, stage: string, error: unknown): Promise<void> {
  const [failure = { message: '' }] = isCancellation(error)
    ? [{ message: 'the pipeline was cancelled' }]
    : errorsOf(error as Failure);
  await CancellationScope.nonCancellable(() =>
    workOf().showPipeline({ ...ref, failed: { ...failure, stage } }),
  );
}
