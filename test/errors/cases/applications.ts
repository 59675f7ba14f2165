// The error of an application whose worker does not know our workflows.

import { fileURLToPath } from 'node:url';
import { WorkflowFailedError } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { connectClient } from '../../../src/temporal/connect.ts';
import type { LongGround } from '../long-ground.ts';
import type { Provocation } from '../provocation.ts';

/** The error of the workflow itself is the innermost cause. */
const rootOf = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? rootOf(error.cause) : error;

async function runLonely({ stage }: LongGround): Promise<unknown> {
  const { TEMPORAL_ADDRESS: address = '', TEMPORAL_NAMESPACE: namespace = '' } = stage.environment;
  const connection = await NativeConnection.connect({ address });
  const { client, close } = await connectClient({ address, namespace, from: 'the test', options: {} });
  const taskQueue = 'lonely';
  const workflowsPath = fileURLToPath(new URL('../lonely-workflows.ts', import.meta.url));
  try {
    const worker = await Worker.create({ connection, namespace, taskQueue, workflowsPath });
    const run = { taskQueue, workflowId: taskQueue, args: [stage.path('any.csv')] };
    return await worker.runUntil(client.workflow.execute('lonely', run));
  } catch (error) {
    throw error instanceof WorkflowFailedError ? rootOf(error) : error;
  } finally {
    await close();
    await connection.close();
  }
}

export const APPLICATIONS: readonly Provocation<LongGround>[] = [
  {
    code: 'E415',
    name: "an application's worker has no workflow of ours",
    throws: runLonely,
    says: /add this line to the application's workflows: export \* from 'runsheet\/workflow'/,
  },
];
