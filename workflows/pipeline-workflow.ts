// A pipeline: batches whose sheets are the results of others. Each stage makes its batch and runs it once the stage
// before it has ended and everything else that it waits for is there. A stage may wait for days: for picks, or for
// rows that the user sends again.

import {
  CancellationScope,
  condition,
  isCancellation,
  patched,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { errorsOf, type FiringFailure } from '../src/batch/notices/schedule-notice.ts';
import { dueStages, type Stage, type StageState } from '../src/batch/pipeline/stages.ts';
import { FINDING, MAKING, runMade } from './awaited-batch.ts';
import { lookAgain } from './signals.ts';
import { filesQueueOf, workQueueOf } from './task-queues.ts';

export type PipelineInput = Ref & {
  readonly stages: readonly Stage[];
};

/**
 * Resolves when each stage has ended. Throws the first error of a stage that made no batch, after all other stages
 * have ended. `lookAgain` retries stages that failed, and makes waiting stages look immediately.
 */
export async function runsheetPipeline({ stages, ...ref }: PipelineInput): Promise<void> {
  const states = new Map<string, StageState>(stages.map(({ name }) => [name, 'waiting']));
  const failures = new Map<string, unknown>();
  let looks = 0;
  const begin = async (): Promise<void> => {
    const due = dueStages(stages, states);
    for (const { name } of due) states.set(name, 'begun');
    await Promise.all(due.map(run));
  };
  const run = async (stage: Stage): Promise<void> => {
    const { name } = stage;
    try {
      failures.delete(name);
      await runStage(ref, stage, () => looks);
      states.set(name, 'ended');
    } catch (error) {
      const seen = looks;
      failures.set(name, error);
      await noted(ref, name, error);
      states.set(name, looks === seen || isCancellation(error) ? 'failed' : 'waiting');
    }
    await begin();
  };
  let work: Promise<unknown> = begin();
  setHandler(lookAgain, () => {
    // A worker of an earlier release has dropped the signal.
    if (!patched('lookAgain')) return;
    looks += 1;
    for (const [name, error] of failures)
      if (states.get(name) === 'failed' && !isCancellation(error)) states.set(name, 'waiting');
    work = Promise.all([work, begin()]);
  });
  let done: unknown;
  while (done !== work) {
    done = work;
    await work;
    if (done !== work) continue;
    const cancelled = [...failures.values()].find(isCancellation);
    if (cancelled !== undefined)
      for (const { name } of stages) if (states.get(name) === 'waiting') await noted(ref, name, cancelled);
    await CancellationScope.nonCancellable(() => workOf().showPipeline(ref));
  }
  const [first] = failures.values();
  if (first !== undefined) throw first;
}

/** `mark`: absent if an earlier release started the pipeline. */
type Ref = { readonly pipeline: string; readonly folder: string; readonly mark?: string };

async function runStage(ref: Ref, { name, from }: Stage, looks: () => number): Promise<void> {
  const { taskQueue } = workflowInfo();
  const input = { ...ref, stage: name };
  if (from !== undefined) await awaitStage(input, looks);
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

/** Looks whenever a command or the end of a batch asks for it, and rarely otherwise: a stage may wait for days. */
async function awaitStage(input: Ref & { readonly stage: string }, looks: () => number): Promise<void> {
  for (;;) {
    const seen = looks();
    const looking = new CancellationScope();
    const isDue = await Promise.race([
      looking.run(() => seldom().awaitStage(input)).then(() => true),
      condition(() => looks() !== seen).then(() => false),
    ]);
    if (isDue) return;
    looking.cancel();
  }
}

/** Each look is a retry, because retries of an activity add no events to the history. */
const seldom = () =>
  proxyActivities<Activities>({
    taskQueue: workQueueOf(workflowInfo().taskQueue),
    heartbeatTimeout: '10s',
    startToCloseTimeout: '1m',
    retry: { initialInterval: '1s', backoffCoefficient: 1.1, maximumInterval: '10m' },
  });

const workOf = () =>
  proxyActivities<Activities>({
    taskQueue: workQueueOf(workflowInfo().taskQueue),
    heartbeatTimeout: '10s',
    startToCloseTimeout: '5m',
    retry: { initialInterval: '500ms', maximumInterval: '1m' },
  });

/** Stores the reason why a stage has made no batch in the folder of the pipeline. */
async function noted(ref: Ref, stage: string, error: unknown): Promise<void> {
  const [failure = { message: '' }] = isCancellation(error)
    ? [{ message: 'the pipeline was cancelled' }]
    : errorsOf(error as FiringFailure);
  await CancellationScope.nonCancellable(() =>
    workOf().showPipeline({ ...ref, failed: { ...failure, stage } }),
  );
}
