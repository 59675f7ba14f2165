// Batches as running workflows: starting one, finding it again, asking it and telling it.

import { setTimeout as wait } from 'node:timers/promises';
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  isGrpcServiceError,
  type Client,
  type WorkflowExecutionStatusName,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { decodeOptionalFailureToOptionalError } from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto from '@temporalio/proto';
import type { BatchInput, batch as batchWorkflow } from '../../workflows/batch.ts';
import { runsEnded, runsOverdue, runsSeen, serviceRead } from '../../workflows/messages.ts';
import { TASK_QUEUE, batchOf, workflowIdOf } from '../batch/ids.ts';
import { WORKFLOW_TASK_MS } from '../batch/limits.ts';
import type { End, Overdue, Seen } from '../batch/messages.ts';
import { problem, reasonOf } from '../errors.ts';
import type { Delivered } from '../webhook/outbox.ts';
import type { Execution } from './genuine.ts';
import { openTalk } from './talk.ts';

const ASK_AGAIN_MS = 500;
const { WORKFLOW_EXECUTION_STATUS_RUNNING } = proto.temporal.api.enums.v1.WorkflowExecutionStatus;

export type BatchPlace = { readonly batch: string; readonly folder: string };

/** Where a batch begins that was rebuilt from what remained of it. */
export type Recovery = Required<Pick<BatchInput, 'carried' | 'startedAt'>>;

/** `running` and `closed`: Temporal knew it before. */
export type Started = 'started' | 'running' | 'closed';

/** What Temporal knows of a batch. */
export type Known = {
  readonly batch: string;
  readonly folder: string;
  readonly status: WorkflowExecutionStatusName;
  readonly startedAt: Date;
  readonly closedAt: Date | undefined;
};

export type Batches = ReturnType<typeof openBatches>;

const beginning = ({ batch, folder }: BatchPlace, recovered: Recovery | undefined) =>
  ({
    workflowId: workflowIdOf(batch),
    // Who rebuilds a batch has read what its earlier life bought.
    workflowIdReusePolicy: recovered === undefined ? 'REJECT_DUPLICATE' : 'ALLOW_DUPLICATE',
    workflowTaskTimeout: WORKFLOW_TASK_MS,
    args: [{ batch, folder, ...recovered }],
    staticSummary: batch,
  }) satisfies Partial<WorkflowStartOptions<typeof batchWorkflow>>;

/**
 * `reach` gives the client of the server where it is now: an embedded one may come back on another port. `encrypted`: the
 * client encrypts, and so do the workflows that it starts.
 */
export function openBatches(reach: () => Client, taskQueue: string = TASK_QUEUE, encrypted = false) {
  const handleOf = (batch: string) => reach().workflow.getHandle<typeof batchWorkflow>(workflowIdOf(batch));

  const find = async (batch: string): Promise<Known | undefined> => {
    try {
      return known(await handleOf(batch).describe());
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  };

  return {
    /** Starts the batch unless Temporal knows it already; a batch id is never used twice. */
    start: async (place: BatchPlace, recovered?: Recovery): Promise<Started> => {
      try {
        await reach().workflow.start<typeof batchWorkflow>('batch', {
          ...beginning(place, recovered),
          taskQueue,
          // The receiver of any worker finds the folder of a batch by it.
          memo: { folder: place.folder, ...(encrypted ? { encrypted } : {}) },
        });
        return 'started';
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        return (await find(place.batch))?.status === 'RUNNING' ? 'running' : 'closed';
      }
    },

    /** Ends a workflow that cannot go on; its batch is rebuilt from what it bought. */
    giveUp: (batch: string) => handleOf(batch).terminate('rebuilt from its parts and the lists'),

    /** undefined where Temporal does not know the batch, or not any more. */
    find,

    isRunning: (batch: string) => isRunning(reach(), batch),
    execution: (batch: string) => firstExecution(reach(), batch),

    /** What went wrong with the work that a batch waits for at this moment; undefined where nothing did. */
    trouble: async (batch: string): Promise<string | undefined> => {
      const { raw } = await handleOf(batch).describe();
      const failed = raw.pendingActivities?.find(({ lastFailure }) => lastFailure != null);
      const { loadedDataConverter } = reach().workflow.options;
      const error = await decodeOptionalFailureToOptionalError(loadedDataConverter, failed?.lastFailure);
      return error?.message;
    },

    /** All batches that Temporal knows, newest first. */
    list: async (): Promise<readonly Known[]> => {
      const found: Known[] = [];
      for await (const execution of reach().workflow.list({ query: "WorkflowType = 'batch'" })) {
        const one = known(execution);
        if (one !== undefined) found.push(one);
      }
      return found;
    },

    /** Resolves when the batch has ended, however long Temporal is away meanwhile. Throws E506 where it failed. */
    finished: (batch: string, gone: AbortSignal): Promise<void> => untilFinished(reach, batch, gone),

    ...openTalk(reach),
  };
}

/** Read without decrypting anything: a stranger may have started something in the batch's place. */
async function isRunning({ workflowService, options }: Client, batch: string): Promise<boolean> {
  const execution = { workflowId: workflowIdOf(batch) };
  try {
    const { workflowExecutionInfo } = await workflowService.describeWorkflowExecution({
      namespace: options.namespace,
      execution,
    });
    return workflowExecutionInfo?.status === WORKFLOW_EXECUTION_STATUS_RUNNING;
  } catch (error) {
    if (isGrpcServiceError(error) && error.message.startsWith('5 NOT_FOUND')) return false;
    throw error;
  }
}

/** The first execution of the batch's workflow, as it was started last. */
async function firstExecution(client: Client, batch: string): Promise<Execution> {
  const { raw, workflowId } = await client.workflow.getHandle(workflowIdOf(batch)).describe();
  return { workflowId, runId: raw.workflowExecutionInfo?.firstRunId ?? '' };
}

async function untilFinished(reach: () => Client, batch: string, gone: AbortSignal): Promise<void> {
  while (!gone.aborted) {
    try {
      const client = reach();
      await client.withAbortSignal(gone, () => client.workflow.getHandle(workflowIdOf(batch)).result());
      return;
    } catch (error) {
      if (error instanceof WorkflowFailedError) throw failed(batch, error);
      if (!gone.aborted) await wait(ASK_AGAIN_MS);
    }
  }
  // Nobody waits any more: whatever it was raced with has been decided.
  await new Promise(() => undefined);
}

const failed = (batch: string, error: WorkflowFailedError) =>
  problem('E506', { batch, reason: reasonOf(rootOf(error)) }, { cause: error });

/** What an activity threw lies below what Temporal and the SDK say about it. */
const rootOf = (error: Error): Error => (error.cause instanceof Error ? rootOf(error.cause) : error);

export type BatchLine = ReturnType<typeof batchLine>;

/** What workers tell running batches. */
export function batchLine(client: Client) {
  const handleOf = (batch: string) => client.workflow.getHandle<typeof batchWorkflow>(workflowIdOf(batch));
  return {
    tellEnds: (batch: string, by: 'webhook' | 'look', ends: readonly End[]): Promise<Delivered> =>
      signalled(() => handleOf(batch).signal(runsEnded, by, ends)),

    tellOverdue: (batch: string, runs: readonly Overdue[]): Promise<Delivered> =>
      signalled(() => handleOf(batch).signal(runsOverdue, runs)),

    tellRead: (batch: string, told: { readonly reason?: string }): Promise<Delivered> =>
      signalled(() => handleOf(batch).signal(serviceRead, told)),

    tellSeen: (batch: string, seen: readonly Seen[]): Promise<Delivered> =>
      signalled(() => handleOf(batch).signal(runsSeen, seen)),
  };
}

function known(execution: {
  workflowId: string;
  status: { name: WorkflowExecutionStatusName };
  memo?: Record<string, unknown>;
  startTime: Date;
  closeTime?: Date;
}): Known | undefined {
  const batch = batchOf(execution.workflowId);
  if (batch === undefined) return undefined;
  const folder = execution.memo?.['folder'];
  return {
    batch,
    folder: typeof folder === 'string' ? folder : '',
    status: execution.status.name,
    startedAt: execution.startTime,
    closedAt: execution.closeTime,
  };
}

/** News for a batch that is over, or that can be told nothing more in this run, is delivered: a look finds the rest. */
async function signalled(signal: () => Promise<void>): Promise<Delivered> {
  try {
    await signal();
    return 'taken';
  } catch (error) {
    const isGone =
      error instanceof WorkflowNotFoundError ||
      /limit for signal events/.test(reasonOf((error as Error).cause));
    if (isGone) return 'gone';
    throw error;
  }
}
