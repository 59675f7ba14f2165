// Starts, finds and cancels the workflows of pipelines.

import type { Client, WorkflowExecutionStatusName } from '@temporalio/client';
import { pipelineIdOf, workflowIdOf, type BatchName } from '../batch/workflow-ids.ts';
import type { PipelineInput, runsheetPipeline } from '../../workflows/pipeline.ts';
import { lookAgain } from '../../workflows/signals.ts';
import { taggedQueueOf } from '../../workflows/task-queues.ts';
import { undefinedIfGone } from './client-errors.ts';

export type PipelineRef = { readonly pipeline: string; readonly mark: string };
export type PipelineClient = ReturnType<typeof openPipelines>;

/** A stage, and the tag of the workers that run its batch. */
type Started = Omit<PipelineInput, 'stages'> & {
  readonly stages: readonly {
    readonly name: string;
    readonly from?: string | undefined;
    readonly workerTag?: string | undefined;
  }[];
};

/** Makes the workflow of the pipeline look again. False if none runs. */
export async function makeLookAgain(client: Client, ref: PipelineRef): Promise<boolean> {
  const signalling = client.workflow.getHandle(pipelineIdOf(ref)).signal(lookAgain, { mark: ref.mark });
  return (await signalling.then(() => true, undefinedIfGone)) ?? false;
}

type Made = { readonly taskQueue: string; readonly encrypted: boolean; readonly ignoresTags: boolean };

/**
 * `reach` returns the current client, because an embedded server may restart on another port. `ignoresTags`: the only worker of
 * embedded servers works on everything.
 */
export function openPipelines(reach: () => Client, { taskQueue, encrypted, ignoresTags }: Made) {
  const queueOf = (tag: string | undefined): string =>
    taggedQueueOf(taskQueue, ignoresTags ? undefined : tag);
  const statusOf = async (workflowId: string): Promise<WorkflowExecutionStatusName | undefined> =>
    (await reach().workflow.getHandle(workflowId).describe().catch(undefinedIfGone))?.status.name;
  /** False if it has ended: Temporal accepts the cancellation of a workflow that was cancelled. */
  const cancelled = async (workflowId: string): Promise<boolean> => {
    if ((await statusOf(workflowId)) !== 'RUNNING') return false;
    const cancelling = reach().workflow.getHandle(workflowId).cancel();
    return (await cancelling.then(() => true, undefinedIfGone)) ?? false;
  };
  return {
    /** Starts it, or if it runs, makes it look again. One that has ended finds again what it has made. */
    start: async ({ mark, ...input }: Started & PipelineRef): Promise<void> => {
      const stages = input.stages.map(({ name, from, workerTag }) => ({
        name,
        ...(from !== undefined && { from }),
        taskQueue: queueOf(workerTag),
      }));
      await reach().workflow.signalWithStart<typeof runsheetPipeline, [{ mark: string }]>(
        'runsheetPipeline',
        {
          workflowId: pipelineIdOf({ mark, ...input }),
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
          taskQueue: stages[0]?.taskQueue ?? taskQueue,
          args: [{ ...input, mark, stages }],
          memo: { folder: input.folder, ...(encrypted ? { encrypted } : {}) },
          staticSummary: input.pipeline,
          signal: lookAgain,
          signalArgs: [{ mark }],
        },
      );
    },

    /** undefined if Temporal does not know it, or no longer. */
    status: (ref: PipelineRef): Promise<WorkflowExecutionStatusName | undefined> =>
      statusOf(pipelineIdOf(ref)),

    /**
     * It cancels the batch that it runs, with its runs. `batches` are cancelled too, because a retry may have continued one after the
     * end of the pipeline. False if all have ended.
     */
    cancel: async (ref: PipelineRef, batches: readonly BatchName[]): Promise<boolean> => {
      const isCancelled = [await cancelled(pipelineIdOf(ref))];
      // Only now, because the pipeline begins another stage when a batch has ended.
      for (const batch of batches) isCancelled.push(await cancelled(workflowIdOf(batch)));
      return isCancelled.includes(true);
    },
  };
}
