// Signals a batch's reports to its pool. Both are workflows of one namespace, so no worker stands between them.

import { CancellationScope, getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import type { Command } from '../src/batch/commands.ts';
import type { Event } from '../src/batch/events.ts';
import { poolIdOf, usage as usageSignal } from './pool-signals.ts';

/** The batch ends when its last report has arrived, or cannot arrive. */
export type Told = { last: Promise<unknown>; inFlight: number };

export async function report(
  told: Told,
  { pool, usage }: Extract<Command, { type: 'reportUsage' }>,
): Promise<Event | undefined> {
  const { workflowId } = workflowInfo();
  const sending = CancellationScope.nonCancellable(async () =>
    getExternalWorkflowHandle(poolIdOf(pool)).signal(usageSignal, { ...usage, member: workflowId }),
  ).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  told.last = Promise.all([told.last, sending]);
  told.inFlight += 1;
  const failure = await sending;
  told.inFlight -= 1;
  if (usage.left) return undefined;
  return { type: 'usageReported', ...(failure === undefined ? {} : { failure }) };
}
