// Talking with a running batch: it says how it stands in its memo, and hears orders as signals (workflows/messages.ts).

import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { optionalTsToMs, type Timestamp } from '@temporalio/common/lib/time.js';
import { cancelBatch, resumeBatch, type BatchMemo, type ResumeOrder } from '../../workflows/messages.ts';
import { workflowIdOf } from '../batch/ids.ts';
import type { BatchView } from '../batch/view.ts';
import { problem } from '../errors.ts';

const PATIENCE_MS = 10_000;
const LOOK_AGAIN_MS = 50;

/** `reach` gives the client of the server where it is now. */
export function openTalk(reach: () => Client) {
  const handleOf = (batch: string) => reach().workflow.getHandle(workflowIdOf(batch));

  const view = async (batch: string): Promise<BatchView | undefined> => {
    const { raw, memo } = await reach().withDeadline(Date.now() + PATIENCE_MS, () =>
      handleOf(batch).describe(),
    );
    assertWorked(batch, raw.pendingWorkflowTask);
    return (memo as BatchMemo | undefined)?.view;
  };

  /** Resolves when the batch says that it has heard the order. Throws E512 where it does not. */
  const heard = async (batch: string, order: () => Promise<void>): Promise<BatchView> => {
    const before = (await view(batch))?.orders ?? 0;
    await order();
    const sinceMs = Date.now();
    for (; Date.now() - sinceMs < PATIENCE_MS; await wait(LOOK_AGAIN_MS)) {
      const now = await view(batch);
      if (now !== undefined && now.orders > before) return now;
    }
    throw problem('E512', { batch, sinceMs });
  };

  return {
    /** What it said last; undefined before it has read its order. Throws where no worker takes what it has to do. */
    view,

    cancel: (batch: string, running: boolean): Promise<BatchView> =>
      heard(batch, () => handleOf(batch).signal(cancelBatch, { running })),

    resume: (batch: string, uncertain?: ResumeOrder['uncertain']): Promise<BatchView> =>
      heard(batch, () => handleOf(batch).signal(resumeBatch, uncertain === undefined ? {} : { uncertain })),
  };
}

/** Throws E512 where a workflow task has waited, or failed, for long. */
function assertWorked(
  batch: string,
  task: { readonly originalScheduledTime?: Timestamp | null } | null | undefined,
): void {
  const sinceMs = optionalTsToMs(task?.originalScheduledTime);
  if (sinceMs === undefined || Date.now() - sinceMs < PATIENCE_MS) return;
  throw problem('E512', { batch, sinceMs });
}
