// The result of a firing: its batch, and the state of its workflow.

import {
  WorkflowFailedError,
  WorkflowNotFoundError,
  type Client,
  type WorkflowExecutionDescription,
} from '@temporalio/client';
import { decodeOptionalFailureToOptionalError } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { nominalTimeOf } from '../batch/workflow-ids.ts';
import { batchNameAt } from '../schedule/schedule-definition.ts';
import { errorMessage } from '../errors/error.ts';

export type FiringInfo = {
  /** The time of the rule, or of the trigger. */
  readonly nominalTime: Date;
  readonly startedAt: Date;
  readonly batch: string;
  /** `failed`: without a batch, or the batch could not end. `unknown`: Temporal has forgotten the workflow. */
  readonly state: 'running' | 'done' | 'failed' | 'cancelled' | 'unknown';
  /** Why the firing failed, or what it waits for. */
  readonly reason?: string;
};

type Taken = {
  readonly takenAt: Date;
  readonly workflowId: string;
  readonly firstExecutionRunId: string;
};

export async function readFiring(client: Client, schedule: string, taken: Taken): Promise<FiringInfo> {
  const time = nominalTimeOf(schedule, taken.workflowId) ?? taken.takenAt.getTime();
  const about = {
    nominalTime: new Date(time),
    startedAt: taken.takenAt,
    batch: batchNameAt(schedule, time),
  };
  const handle = client.workflow.getHandle(taken.workflowId, taken.firstExecutionRunId);
  try {
    const { status, raw } = await handle.describe();
    const reason = status.name === 'FAILED' ? await failureOf(() => handle.result()) : undefined;
    const why = reason ?? (await lastFailureIn(client, raw));
    return {
      ...about,
      state: STATES[status.name] ?? 'failed',
      ...(why === undefined ? {} : { reason: why }),
    };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { ...about, state: 'unknown' };
    throw error;
  }
}

/** The last failure of a pending activity; undefined if there is none. */
async function lastFailureIn(
  { workflow }: Client,
  { pendingActivities }: WorkflowExecutionDescription['raw'],
): Promise<string | undefined> {
  const failed = pendingActivities?.find(({ lastFailure }) => lastFailure != null);
  const { loadedDataConverter } = workflow.options;
  return (await decodeOptionalFailureToOptionalError(loadedDataConverter, failed?.lastFailure))?.message;
}

const STATES: Readonly<Record<string, FiringInfo['state']>> = {
  RUNNING: 'running',
  COMPLETED: 'done',
  CANCELLED: 'cancelled',
};

async function failureOf(result: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await result();
    return undefined;
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    return errorMessage(rootOf(error));
  }
}

const rootOf = (error: Error): Error => (error.cause instanceof Error ? rootOf(error.cause) : error);
