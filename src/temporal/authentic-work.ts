// Whether a piece of work is asked for by the batch itself. Everybody on the machine can talk to an embedded server: he reads
// no payload and makes none, but he can copy one, and reset or start workflows. So the work of a batch is done only for the
// chain of executions that it began with (started.json), and for none that was reset, which would send groups again.

import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { problem } from '../errors/error.ts';

export type Execution = { readonly workflowId: string; readonly runId: string };
type BatchPlace = { readonly batch: string; readonly folder: string };

/** What is known of an execution that continues another. */
type Origin = { readonly firstRunId: string; readonly wasReset: boolean };

const KEPT_MAX = 1_000;

/** `begunBy` tells from the folder which execution began the batch. */
export function guardActivities(
  client: Client,
  begunBy: (folder: string) => Promise<Execution | undefined>,
): ActivityInterceptorsFactory {
  const genuine = new Set<string>();
  return ({ info }) => ({
    inbound: {
      execute: async (input, next) => {
        const { workflowExecution: asking, activityType } = info;
        // `loadBatch` writes the file that all others are compared with, and compares it itself.
        const place = input.args[0] as BatchPlace;
        const known = `${asking?.runId} ${place.folder}`;
        if (activityType !== 'loadBatch' && !genuine.has(known)) {
          await refuseStranger(client, asking, begunBy, place);
          if (genuine.size >= KEPT_MAX) genuine.clear();
          genuine.add(known);
        }
        return next(input);
      },
    },
  });
}

/** Tried again, like what cannot be read: a group was not sent, and a batch that is rebuilt right now gets its new mark. */
async function refuseStranger(
  client: Client,
  asking: Execution | undefined,
  begunBy: (folder: string) => Promise<Execution | undefined>,
  { batch, folder }: BatchPlace,
): Promise<void> {
  const begun = await begunBy(folder);
  if (asking !== undefined && begun?.workflowId === asking.workflowId) {
    if (begun.runId === asking.runId) return;
    const { firstRunId, wasReset } = await originOf(client, asking);
    if (firstRunId === begun.runId && !wasReset) return;
  }
  const { code, message, hint } = problem('E515', { batch, folder });
  throw ApplicationFailure.create({ message: `${code}: ${message}; ${hint}`, type: 'NothingSent' });
}

/** From the first event, which a reset copies from the execution that it resets. */
async function originOf(client: Client, { workflowId, runId }: Execution): Promise<Origin> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  return {
    firstRunId: started?.firstExecutionRunId ?? '',
    wasReset: started?.originalExecutionRunId !== runId,
  };
}
