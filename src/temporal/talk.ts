// Talking with a running batch: it says how it stands in its memo, and hears orders as signals (workflows/messages.ts).

import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import { cancelBatch, resumeBatch, type BatchMemo, type ResumeOrder } from '../../workflows/messages.ts';
import { workflowIdOf } from '../batch/ids.ts';
import type { BatchView } from '../batch/view.ts';
import { problem } from '../errors.ts';

const ANSWER_MS = 10_000;
const HEARD_MS = 20_000;
const LOOK_AGAIN_MS = 50;

/** How a batch stands. */
export type Standing = {
  /** What it said last; undefined before it has read its order. */
  readonly view: BatchView | undefined;
  /** Since when it waits for a worker that does its next step, in milliseconds since 1970. */
  readonly waitsSinceMs: number | undefined;
};

/** `reach` gives the client of the server where it is now. */
export function openTalk(reach: () => Client) {
  const handleOf = (batch: string) => reach().workflow.getHandle(workflowIdOf(batch));

  const standing = async (batch: string): Promise<Standing> => {
    const until = Date.now() + ANSWER_MS;
    const { raw, memo } = await reach().withDeadline(until, () => handleOf(batch).describe());
    const waitsSinceMs = optionalTsToMs(raw.pendingWorkflowTask?.originalScheduledTime);
    return { view: (memo as BatchMemo | undefined)?.view, waitsSinceMs };
  };

  /** Resolves when the batch says that it has heard the order. Throws E512 where it does not. */
  const heard = async (batch: string, order: () => Promise<void>): Promise<BatchView> => {
    let now = await standing(batch);
    const before = now.view?.orders ?? 0;
    await order();
    for (const until = Date.now() + HEARD_MS; Date.now() < until; await wait(LOOK_AGAIN_MS)) {
      now = await standing(batch);
      if (now.view !== undefined && now.view.orders > before) return now.view;
    }
    throw problem('E512', { batch, sinceMs: now.waitsSinceMs ?? Date.now() - HEARD_MS });
  };

  return {
    standing,

    cancel: (batch: string, running: boolean): Promise<BatchView> =>
      heard(batch, () => handleOf(batch).signal(cancelBatch, { running })),

    resume: (batch: string, uncertain?: ResumeOrder['uncertain']): Promise<BatchView> =>
      heard(batch, () => handleOf(batch).signal(resumeBatch, uncertain === undefined ? {} : { uncertain })),
  };
}
