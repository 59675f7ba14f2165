// Starts, finds and cancels the workflows of pipelines.

import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type Client,
  type WorkflowExecutionStatusName,
} from '@temporalio/client';
import { pipelineIdOf } from '../batch/workflow-ids.ts';
import type { PipelineInput, runsheetPipeline } from '../../workflows/pipeline.ts';
import { taggedQueueOf } from '../../workflows/task-queues.ts';

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

/** `ignoresTags`: the only worker of embedded servers works on everything. */
type Made = { readonly taskQueue: string; readonly encrypted: boolean; readonly ignoresTags: boolean };

/** `reach` returns the current client, because an embedded server may restart on another port. */
export function openPipelines(reach: () => Client, { taskQueue, encrypted, ignoresTags }: Made) {
  const handleOf = (ref: PipelineRef) =>
    reach().workflow.getHandle<typeof runsheetPipeline>(pipelineIdOf(ref));
  const queueOf = (tag: string | undefined): string =>
    taggedQueueOf(taskQueue, ignoresTags ? undefined : tag);
  return {
    /** Starts it unless it runs. One that has ended finds again what it has made. */
    start: async ({ mark, ...input }: Started & PipelineRef): Promise<void> => {
      const stages = input.stages.map(({ name, from, workerTag }) => ({
        name,
        ...(from !== undefined && { from }),
        taskQueue: queueOf(workerTag),
      }));
      try {
        await reach().workflow.start<typeof runsheetPipeline>('runsheetPipeline', {
          workflowId: pipelineIdOf({ mark, ...input }),
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
          taskQueue: stages[0]?.taskQueue ?? taskQueue,
          args: [{ ...input, stages }],
          memo: { folder: input.folder, ...(encrypted ? { encrypted } : {}) },
          staticSummary: input.pipeline,
        });
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    },

    /** undefined if Temporal does not know it, or no longer. */
    status: async (ref: PipelineRef): Promise<WorkflowExecutionStatusName | undefined> => {
      try {
        return (await handleOf(ref).describe()).status.name;
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return undefined;
        throw error;
      }
    },

    /** Its batch and the runs of that are cancelled too. False if it has ended. */
    cancel: async (ref: PipelineRef): Promise<boolean> => {
      try {
        await handleOf(ref).cancel();
        return true;
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return false;
        throw error;
      }
    },
  };
}
