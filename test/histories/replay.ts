// Replays a history with the current workflows; rejects if they issue other commands.

import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { workflowBundle, type WorkflowBundle } from '../../src/temporal/bundle.ts';

let isInstalled = false;

export async function replay(history: string, bundle?: WorkflowBundle): Promise<void> {
  if (!isInstalled) Runtime.install({ logger: new DefaultLogger('ERROR') });
  isInstalled = true;
  const options = { taskQueue: 'replay', workflowBundle: bundle ?? (await workflowBundle()) };
  await Worker.runReplayHistory(options, JSON.parse(history), 'runsheet:recorded');
}
