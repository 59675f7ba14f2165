// Replays a history with the current workflows; rejects if they issue other commands.

import type { History } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { workflowBundle, type WorkflowBundle } from '../../src/temporal/bundle.ts';

let isInstalled = false;

async function optionsFor(bundle?: WorkflowBundle) {
  if (!isInstalled) Runtime.install({ logger: new DefaultLogger('ERROR') });
  isInstalled = true;
  return { taskQueue: 'replay', workflowBundle: bundle ?? (await workflowBundle()) };
}

export const replay = async (history: History, bundle?: WorkflowBundle): Promise<void> =>
  Worker.runReplayHistory(await optionsFor(bundle), history, 'runsheet:recorded');

/** The errors of several histories by their names, replayed by one worker. */
export async function errorsOf(
  histories: ReadonlyMap<string, History>,
  bundle?: WorkflowBundle,
): Promise<ReadonlyMap<string, unknown>> {
  const replayed = [...histories].map(([workflowId, history]) => ({ workflowId, history }));
  const errors = new Map<string, unknown>();
  for await (const { workflowId, error } of Worker.runReplayHistories(await optionsFor(bundle), replayed))
    errors.set(workflowId, error);
  return errors;
}
