// Reads and controls a running batch: its memo holds its progress, and commands are signals with an id that the memo
// acknowledges (workflows/signals.ts).

import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import {
  cancelBatch,
  refreshBatch,
  resumeBatch,
  type BatchMemo,
  type ResumeCommand,
} from '../../workflows/signals.ts';
import type { Progress } from '../batch/progress.ts';
import { problem } from '../errors/error.ts';
import { workflowIdOf } from './workflow-id.ts';
import type { BatchName } from '../batch/batch-ref.ts';

const ANSWER_MS = 10_000;
const ACKNOWLEDGED_MS = 20_000;
const READ_AGAIN_MS = 50;
const UNATTENDED_MS = 15_000;

/** The status of a batch. */
export type BatchStatus = {
  /** The last published progress; undefined until the batch has read its parameters. */
  readonly progress: Progress | undefined;
  /** Since when its oldest task waits for a worker, in milliseconds since 1970 by the server's clock. */
  readonly waitsSinceMs: number | undefined;
  /** It has waited for so long that no worker can be running. */
  readonly isUnattended: boolean;
  /** Whether its workflow is running; a terminated workflow does not publish its end. */
  readonly isRunning: boolean;
};

/** `reach` returns the current client. */
export function openControl(reach: () => Client) {
  const handleOf = (name: BatchName) => reach().workflow.getHandle(workflowIdOf(name));

  const status = async (name: BatchName): Promise<BatchStatus> => {
    const until = Date.now() + ANSWER_MS;
    const described = await reach().withDeadline(until, () => handleOf(name).describe());
    const memo = described.memo as BatchMemo | undefined;
    const waitsSinceMs = waitsSince(described.raw);
    return {
      progress: memo?.progress,
      waitsSinceMs,
      isUnattended: waitsSinceMs !== undefined && Date.now() - waitsSinceMs > UNATTENDED_MS,
      isRunning: described.status.name === 'RUNNING',
    };
  };

  /** Resolves when the batch acknowledges the command. Throws E512 if it does not, E513 if it has ended. */
  const acknowledged = async (
    name: BatchName,
    send: (commandId: string) => Promise<void>,
  ): Promise<Progress> => {
    const commandId = randomUUID();
    await send(commandId);
    const since = Date.now();
    for (let now = since; now < since + ACKNOWLEDGED_MS; now = Date.now()) {
      const { progress, isRunning } = await status(name);
      if (progress?.acknowledgements.some(({ id }) => id === commandId)) return progress;
      if (!isRunning) throw problem('E513', name);
      await wait(READ_AGAIN_MS);
    }
    const { waitsSinceMs = since } = await status(name);
    throw problem('E512', { batch: name.batch, sinceMs: waitsSinceMs });
  };

  return {
    status,

    cancel: (name: BatchName, running: boolean): Promise<Progress> =>
      acknowledged(name, (commandId) => handleOf(name).signal(cancelBatch, { running, commandId })),

    resume: (name: BatchName, unconfirmed?: ResumeCommand['unconfirmed']): Promise<Progress> =>
      acknowledged(name, (commandId) =>
        handleOf(name).signal(resumeBatch, {
          commandId,
          ...(unconfirmed === undefined ? {} : { unconfirmed }),
        }),
      ),

    /** Makes the batch continue as new, in the version in which its worker starts batches. */
    refresh: (name: BatchName): Promise<Progress> =>
      acknowledged(name, (commandId) => handleOf(name).signal(refreshBatch, { commandId })),
  };
}

const { PENDING_ACTIVITY_STATE_SCHEDULED } = proto.temporal.api.enums.v1.PendingActivityState;

/** Since when the oldest task waits for a worker. A scheduled retry has a time in the future and does not count. */
function waitsSince({
  pendingWorkflowTask,
  pendingActivities,
}: WorkflowExecutionDescription['raw']): number | undefined {
  const activities = (pendingActivities ?? [])
    .filter(({ state }) => state === PENDING_ACTIVITY_STATE_SCHEDULED)
    .map(({ scheduledTime }) => optionalTsToMs(scheduledTime));
  const times = [optionalTsToMs(pendingWorkflowTask?.originalScheduledTime), ...activities];
  const past = times.filter((time) => time !== undefined && time <= Date.now()) as number[];
  return past.length === 0 ? undefined : Math.min(...past);
}
