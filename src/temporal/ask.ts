// Asking a running batch: an update that it refuses with the answer (workflows/messages.ts).

import { setTimeout as wait } from 'node:timers/promises';
import { WorkflowNotFoundError, WorkflowUpdateFailedError, type Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { askUpdate, TOLD, type Told } from '../../workflows/messages.ts';
import { workflowIdOf } from '../batch/ids.ts';

/** Nobody answers for a workflow that has ended. */
export const CLOSED = Symbol('closed');

/** undefined while the batch has not read its order. Throws where no worker answers in time. */
export async function ask<What extends keyof Told>(
  client: Client,
  batch: string,
  what: What,
  withinMs: number,
): Promise<Told[What] | undefined | typeof CLOSED> {
  const handle = client.workflow.getHandle(workflowIdOf(batch));
  try {
    return await bounded(client, () => handle.executeUpdate(askUpdate, { args: [what] }), withinMs);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return CLOSED;
    const refusal = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
    if (!(refusal instanceof ApplicationFailure) || refusal.type !== TOLD) throw error;
    const [told] = refusal.details as [Told[What] | null | undefined];
    return told ?? undefined;
  }
}

/** The deadline of a call is not kept by a worker's own connection, so that the clock is watched here as well. */
async function bounded<T>(client: Client, call: () => Promise<T>, withinMs: number): Promise<T> {
  const late = new AbortController();
  const clock = wait(withinMs, undefined, { signal: late.signal }).then(() => {
    throw new Error(`no worker answered within ${withinMs / 1000} s`);
  });
  try {
    return await Promise.race([client.withDeadline(Date.now() + withinMs, call), clock]);
  } finally {
    late.abort();
    clock.catch(() => undefined);
  }
}
