// How a running batch is read and commanded: its progress is in its memo, and commands are signals with an id that the memo
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

/** How a batch stands. */
export type BatchStatus = {
  /** What it published last; undefined before it has read its parameters. */
  readonly progress: Progress | undefined;
  /** Since when something that it asked for waits for a worker, in milliseconds since 1970 by the server's clock. */
  readonly waitsSinceMs: number | undefined;
  /** It has waited for so long that no worker can be there for it. */
  readonly isUnattended: boolean;
  /** Whether its workflow goes on; one that was terminated has published nothing about that. */
  readonly isRunning: boolean;
};

/** `reach` gives the client of the server where it is now. */
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

  /** Resolves when the batch acknowledges the command. Throws E512 where it does not, E513 where it has ended. */
  const acknowledged = async (
    name: BatchName,
    give: (commandId: string) => Promise<void>,
  ): Promise<Progress> => {
    const commandId = randomUUID();
    await give(commandId);
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

    /** The batch continues as new, in the newest version that its worker begins batches in. */
    refresh: (name: BatchName): Promise<Progress> =>
      acknowledged(name, (commandId) => handleOf(name).signal(refreshBatch, { commandId })),
  };
}

const { PENDING_ACTIVITY_STATE_SCHEDULED } = proto.temporal.api.enums.v1.PendingActivityState;

/** The oldest task that no worker has taken. A try that is to come has a time that lies ahead. */
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
