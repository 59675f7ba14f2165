// Talking with a running batch: it says how it stands in its memo, and hears orders as signals (workflows/messages.ts).

import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { cancelBatch, resumeBatch, type BatchMemo, type ResumeOrder } from '../../workflows/messages.ts';
import { workflowIdOf } from '../batch/ids.ts';
import type { BatchView } from '../batch/view.ts';
import { problem } from '../errors.ts';

const ANSWER_MS = 10_000;
const HEARD_MS = 20_000;
const LOOK_AGAIN_MS = 50;
const UNATTENDED_MS = 15_000;

/** How a batch stands. */
export type Standing = {
  /** What it said last; undefined before it has read its order. */
  readonly view: BatchView | undefined;
  /** Since when something that it asked for waits for a worker, in milliseconds since 1970. */
  readonly waitsSinceMs: number | undefined;
  /** It has waited for so long that no worker can be there for it. */
  readonly isUnattended: boolean;
  /** Whether its workflow goes on; one that was terminated has said nothing of it. */
  readonly isRunning: boolean;
};

/** `reach` gives the client of the server where it is now. */
export function openTalk(reach: () => Client) {
  const handleOf = (batch: string) => reach().workflow.getHandle(workflowIdOf(batch));

  const standing = async (batch: string): Promise<Standing> => {
    const until = Date.now() + ANSWER_MS;
    const described = await reach().withDeadline(until, () => handleOf(batch).describe());
    const memo = described.memo as BatchMemo | undefined;
    const waitsSinceMs = waitsSince(described.raw);
    return {
      view: memo?.view,
      waitsSinceMs,
      isUnattended: waitsSinceMs !== undefined && Date.now() - waitsSinceMs > UNATTENDED_MS,
      isRunning: described.status.name === 'RUNNING',
    };
  };

  /** Resolves when the batch says that it has heard the order. Throws E512 where it does not. */
  const heard = async (batch: string, give: (order: string) => Promise<void>): Promise<BatchView> => {
    const order = randomUUID();
    await give(order);
    const since = Date.now();
    for (let now = since; now < since + HEARD_MS; now = Date.now()) {
      const { view, isRunning } = await standing(batch);
      if (view?.heard.includes(order)) return view;
      if (!isRunning) throw problem('E513', { batch });
      await wait(LOOK_AGAIN_MS);
    }
    const { waitsSinceMs = since } = await standing(batch);
    throw problem('E512', { batch, sinceMs: waitsSinceMs });
  };

  return {
    standing,

    cancel: (batch: string, running: boolean): Promise<BatchView> =>
      heard(batch, (order) => handleOf(batch).signal(cancelBatch, { running, order })),

    resume: (batch: string, uncertain?: ResumeOrder['uncertain']): Promise<BatchView> =>
      heard(batch, (order) =>
        handleOf(batch).signal(resumeBatch, { order, ...(uncertain === undefined ? {} : { uncertain }) }),
      ),
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
