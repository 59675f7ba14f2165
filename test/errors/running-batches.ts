// Batches of a cluster that are running, ended, or gone, for cases.

import { connect, type Runsheet } from '../../src/index.ts';
import { connectClient } from '../../src/temporal/connect.ts';
import { workflowIdOf } from '../../src/batch/workflow-ids.ts';
import type { Client } from '@temporalio/client';
import { until } from '../stage/stage.ts';
import type { LongGround } from './long-ground.ts';

async function inTemporal<T>(
  { stage }: LongGround,
  use: (client: Client, namespace: string) => Promise<T>,
): Promise<T> {
  const { TEMPORAL_ADDRESS: address = '', TEMPORAL_NAMESPACE: namespace = '' } = stage.environment;
  const { client, close } = await connectClient({ address, namespace, from: 'the test', options: {} });
  try {
    return await use(client, namespace);
  } finally {
    await close();
  }
}

export const terminate = (ground: LongGround, name: string): Promise<unknown> =>
  inTemporal(ground, (client) =>
    client.workflow.getHandle(workflowIdOf(ground.batchFile(name))).terminate('the test'),
  );

export async function forget(ground: LongGround, name: string): Promise<void> {
  const workflowId = workflowIdOf(ground.batchFile(name));
  await inTemporal(ground, async (client, namespace) => {
    await client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } });
    const isGone = (): Promise<boolean> =>
      client.workflow
        .getHandle(workflowId)
        .describe()
        .then(
          () => false,
          () => true,
        );
    await until(isGone, 'Temporal has forgotten it');
  });
}

/** The description and the progress of a batch in Temporal's UI. */
export const detailsOf = (ground: LongGround, name: string): Promise<readonly [string, string]> =>
  inTemporal(ground, async (client) => {
    const handle = client.workflow.getHandle(workflowIdOf(ground.batchFile(name)));
    const described = await (await handle.describe()).staticDetails();
    const metadata = await handle.query<{ readonly currentDetails: string }>('__temporal_workflow_metadata');
    return [described ?? '', metadata.currentDetails];
  });

export const runOf = (name: string, ...flags: readonly string[]): readonly string[] => [
  'run',
  `${name}.csv`,
  '-d',
  'Porträts',
  '--name',
  name,
  ...flags,
];

/** Waits until the batch has runs, so that none of it may be bought again. */
export const underWay = async (ground: LongGround, name: string): Promise<void> => {
  await ground.running(name);
  await until(
    async () => (await ground.stage.run(['status', name])).stdout.includes('running'),
    'it is under way',
  );
};

export const cancelled = (name: string) => (ground: LongGround) => ground.must('cancel', name, '--running');

export const v1 = (base = '') => ({ RUNSHEET_API_URL: `${new URL(base).origin}/v1/api`, RUNSHEET_API: 'v1' });

export async function inLibrary<T>(ground: LongGround, use: (runsheet: Runsheet) => Promise<T>): Promise<T> {
  const { stage } = ground;
  const { RUNSHEET_API_URL: base = '', RUNSHEET_API_KEY: key = '' } = stage.environment;
  return inTemporal(ground, async (client) => {
    await using runsheet = await connect({
      client,
      store: stage.path('batches'),
      home: stage.path('home'),
      service: { url: base, apiKey: key },
    });
    return await use(runsheet);
  });
}
