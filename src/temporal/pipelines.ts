// Starts, finds and cancels the workflows of pipelines.

import type { Client, WorkflowExecutionStatusName } from '@temporalio/client';
import { pipelineIdOf, workflowIdOf, type BatchName } from '../batch/workflow-ids.ts';
import type { PipelineInput, runsheetPipeline } from '../../workflows/pipeline-workflow.ts';
import { lookAgain } from '../../workflows/signals.ts';
import { undefinedIfGone } from './client-errors.ts';

export type PipelineRef = { readonly pipeline: string; readonly mark: string };
export type PipelineClient = ReturnType<typeof openPipelines>;

/** Makes the workflow of the pipeline look again. False if none runs. */
export async function makeLookAgain(client: Client, ref: PipelineRef): Promise<boolean> {
  const signalling = client.workflow.getHandle(pipelineIdOf(ref)).signal(lookAgain, { mark: ref.mark });
  return (await signalling.then(() => true, undefinedIfGone)) ?? false;
}

/** `reach` returns the current client, because an embedded server may restart on another port. */
export function openPipelines(reach: () => Client, taskQueue: string, encrypted: boolean) {
  const statusOf = async (workflowId: string): Promise<WorkflowExecutionStatusName | undefined> =>
    (await reach().workflow.getHandle(workflowId).describe().catch(undefinedIfGone))?.status.name;
  /** False if the workflow has ended: Temporal accepts the cancellation of a cancelled workflow. */
  const cancelled = async (workflowId: string): Promise<boolean> => {
    if ((await statusOf(workflowId)) !== 'RUNNING') return false;
    const cancelling = reach().workflow.getHandle(workflowId).cancel();
    return (await cancelling.then(() => true, undefinedIfGone)) ?? false;
  };
  return {
    /** Starts the pipeline, or makes a running one look again. A pipeline that has ended finds its batches again. */
    start: async (input: PipelineInput & PipelineRef): Promise<void> => {
      const { pipeline, mark, folder } = input;
      await reach().workflow.signalWithStart<typeof runsheetPipeline, [{ mark: string }]>(
        'runsheetPipeline',
        {
          workflowId: pipelineIdOf(input),
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
          taskQueue,
          args: [input],
          memo: { folder, ...(encrypted ? { encrypted } : {}) },
          staticSummary: pipeline,
          signal: lookAgain,
          signalArgs: [{ mark }],
        },
      );
    },

    /** undefined if Temporal does not know the pipeline, or has forgotten it. */
    status: (ref: PipelineRef): Promise<WorkflowExecutionStatusName | undefined> =>
      statusOf(pipelineIdOf(ref)),

    /**
     * Cancels the pipeline, which cancels the batch that it runs, with its runs. `batches` are cancelled too, because
     * a retry may have continued one after the end of the pipeline. False if all have ended.
     */
    cancel: async (ref: PipelineRef, batches: readonly BatchName[]): Promise<boolean> => {
      const isCancelled = [await cancelled(pipelineIdOf(ref))];
      // Batches are cancelled only now, because the pipeline begins another stage when a batch has ended.
      for (const batch of batches) isCancelled.push(await cancelled(workflowIdOf(batch)));
      return isCancelled.includes(true);
    },
  };
}
