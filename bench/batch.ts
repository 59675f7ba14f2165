// The same work as a batch: laid out, started, waited for; timed by the service's own record of its runs.

import { join } from 'node:path';
import { loadConfig } from '../src/host/config.ts';
import { connectClient, type TemporalAddress } from '../src/temporal/connect.ts';
import { clientConverter } from '../src/temporal/encryption/converter.ts';
import { payloadKeys } from '../src/temporal/encryption/payload-keys.ts';
import { openBatchClient } from '../src/temporal/batch-client.ts';
import { workflowIdOf } from '../src/temporal/workflow-id.ts';
import { withCopy } from '../src/create-batch/copy-sheet.ts';
import { createBatch, type CreatedBatch } from '../src/create-batch/create-batch.ts';
import { findDeployment } from '../src/create-batch/find-deployment.ts';
import { openServices } from '../src/run-service/open-services.ts';
import { openTransport } from '../src/run-service/transport.ts';
import { keyFromEnvironment } from '../src/host/api-key.ts';
import { KEY } from './servers.ts';

export type BatchOrder = {
  readonly base: string;
  readonly deployment: string;
  readonly sheet: string;
  readonly cap: number;
  readonly folder: string;
  readonly at: TemporalAddress;
  readonly poll?: boolean;
};

export type BatchResult = {
  readonly rows: number;
  /** From the first run queued to the last one ended, as the service recorded them. */
  readonly seconds: number;
  /** From the start of the workflow to its end, with files and results. */
  readonly wholeSeconds: number;
  readonly events: number;
  readonly executions: number;
  readonly batch: string;
};

export async function runBatch(order: BatchOrder): Promise<BatchResult> {
  const created = await makeBatch(order);
  const ref = { batch: created.batch, folder: created.folder, mark: created.file.mark };
  const keys = payloadKeys(loadConfig(), 'cluster');
  const { client, close } = await connectClient(order.at, clientConverter(keys));
  const batches = openBatchClient(() => client, undefined, keys.keys.length > 0);
  const startedAt = performance.now();
  await batches.start(ref);
  await batches.finished(ref, new AbortController().signal);
  const wholeSeconds = (performance.now() - startedAt) / 1000;
  const { events, executions } = await historyOf(client, workflowIdOf(ref));
  await close();
  return {
    rows: created.file.sheet.rows,
    seconds: await livedSeconds(order, ref.mark),
    wholeSeconds,
    events,
    executions,
    batch: ref.batch,
  };
}

async function makeBatch(order: BatchOrder): Promise<CreatedBatch> {
  const service = serviceOf(order);
  const profile = await service.getProfile();
  return withCopy(order.sheet, { out: join(order.folder, 'batches'), stdin: process.stdin }, async (copy) =>
    createBatch({
      copy,
      out: join(order.folder, 'batches'),
      name: `bench-${Date.now()}`,
      again: false,
      options: { map: {}, set: {}, drop: [], types: {} },
      deployment: await findDeployment(service, order.deployment),
      service: { base: order.base, api: 'v2', rehearsal: true, timing: profile, prices: {} },
      settings: {
        concurrency: order.cap,
        deadlines: { queueMs: 86_400_000 },
        retries: 0,
        webhooks: !order.poll,
      },
    }),
  );
}

/** All events of all workflow runs of a batch. */
async function historyOf(
  client: Awaited<ReturnType<typeof connectClient>>['client'],
  workflowId: string,
): Promise<{ events: number; executions: number }> {
  let events = 0;
  let executions = 0;
  for await (const execution of client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) {
    events += execution.historyLength;
    executions += 1;
  }
  return { events, executions };
}

/** From the first run queued to the last one ended, as the service's own list has them. */
async function livedSeconds(order: BatchOrder, mark: string): Promise<number> {
  const { first, last } = await spanOf(order, `/${mark}/`);
  return (last - first) / 1000;
}

/** When a deployment's first run was queued, in ms since 1970. */
export async function firstRunAt(base: string, deployment: string, folder: string): Promise<number> {
  return (await spanOf({ base, deployment, folder }, '')).first;
}

type Where = Pick<BatchOrder, 'base' | 'folder' | 'deployment'>;

async function spanOf(where: Where, webhook: string): Promise<{ first: number; last: number }> {
  const service = serviceOf(where);
  const { workflowId = '' } = await findDeployment(service, where.deployment);
  let first = Number.POSITIVE_INFINITY;
  let last = 0;
  for (let offset = 0; ;) {
    const runs = (await service.listRuns(workflowId, { limit: PAGE, offset })) ?? [];
    for (const run of runs.filter((one) => one.webhook?.includes(webhook))) {
      first = Math.min(first, run.createdAtMs ?? first);
      last = Math.max(last, run.endedAtMs ?? last);
    }
    if (runs.length === 0) return { first, last };
    offset += runs.length;
  }
}

const PAGE = 1_000;

const serviceOf = ({ base, folder }: Pick<BatchOrder, 'base' | 'folder'>) =>
  openServices(
    { home: folder, apiUrl: base, apiKey: () => keyFromEnvironment(KEY, 'the benchmark') },
    openTransport(4),
  ).at({ base, api: 'v2' });
