// Sends the workers' signals to running batches.

import type { BatchSignals, Delivered } from '../batch/signals.ts';
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import * as signals from '../../workflows/signals.ts';
import type { AttemptRun } from '../batch/attempt.ts';
import type { OverdueRun, RunCompletion } from '../batch/events.ts';
import { errorMessage } from '../errors/error.ts';
import { workflowIdOf } from '../batch/workflow-ids.ts';
import type { BatchName } from '../batch/batch-ref.ts';

export function batchSignals(client: Client): BatchSignals {
  const handleOf = (name: BatchName) => client.workflow.getHandle(workflowIdOf(name));
  return {
    runsCompleted: (
      name: BatchName,
      by: 'webhook' | 'poll',
      completions: readonly RunCompletion[],
    ): Promise<Delivered> => signalled(() => handleOf(name).signal(signals.runsCompleted, by, completions)),

    runsSeen: (name: BatchName, runs: readonly AttemptRun[]): Promise<Delivered> =>
      signalled(() => handleOf(name).signal(signals.runsSeen, runs)),

    runsOverdue: (name: BatchName, runs: readonly OverdueRun[]): Promise<Delivered> =>
      signalled(() => handleOf(name).signal(signals.runsOverdue, runs)),

    serviceRead: (name: BatchName, read: { readonly reason?: string }): Promise<Delivered> =>
      signalled(() => handleOf(name).signal(signals.serviceRead, read)),
  };
}

/** `gone`: the batch has ended, or its workflow run accepts no more signals and a poll finds the rest. */
async function signalled(signal: () => Promise<void>): Promise<Delivered> {
  try {
    await signal();
    return 'taken';
  } catch (error) {
    const isGone =
      error instanceof WorkflowNotFoundError ||
      /limit for signal events/.test(errorMessage((error as Error).cause));
    if (isGone) return 'gone';
    throw error;
  }
}
