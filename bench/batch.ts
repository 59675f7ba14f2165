// Does the same work as a batch: creates it, starts it, waits for it. The times come from the service's own run list.

import { join } from 'node:path';
import { loadConfig } from '../src/host/settings/config.ts';
import { connectClient } from '../src/temporal/connect.ts';
import type { TemporalAddress } from '../src/temporal/temporal-address.ts';
import { clientConverter } from '../src/temporal/encryption/converter.ts';
import { payloadKeys } from '../src/temporal/encryption/payload-keys.ts';
import { openBatchClient } from '../src/temporal/batch-client.ts';
import { workflowIdOf } from '../src/batch/workflow-ids.ts';
import { withCopy } from '../src/batches/copy-sheet.ts';
import { NewBatch } from '../src/batches/new-batch.ts';
import type { CreatedBatch } from '../src/batches/make-batch.ts';
import { AGAIN } from '../src/batches/questions.ts';
import { findDeployment } from '../src/batches/find-deployment.ts';
import { openServices } from '../src/service-client/open-services.ts';
import { openTransport } from '../src/host/http/transport.ts';
import type { Run } from '../src/service-client/contract/run.ts';
import { keyFromEnvironment } from '../src/host/settings/api-key.ts';
import { KEY } from './servers.ts';

export type BatchJob = {
  readonly base: string;
  readonly deployment: string;
  readonly sheet: string;
  readonly cap: number;
  readonly folder: string;
  readonly at: TemporalAddress;
  /** Called when the batch has ended, before its times are read. */
  readonly ended?: (() => void) | undefined;
};

export type BatchResult = {
  readonly rows: number;
  /** From the first queued run to the last ended run, by the service's list. */
  readonly seconds: number;
  /** From the end of a run to the next POST, in milliseconds: the k-th end with the POST that takes its slot, by the list. */
  readonly refillsMs: readonly number[];
  /** From the start of the workflow to its end, including files and results. */
  readonly wholeSeconds: number;
  readonly events: number;
  readonly batch: string;
};

export async function runBatch(job: BatchJob): Promise<BatchResult> {
  const created = await makeBatch(job);
  const ref = { batch: created.batch, folder: created.folder, mark: created.file.mark };
  const keys = payloadKeys(loadConfig(), 'cluster');
  const { client, close } = await connectClient(job.at, clientConverter(keys));
  const batches = openBatchClient(() => client, undefined, {
    encrypted: keys.keys.length > 0,
    searchable: false,
  });
  const startedAt = performance.now();
  await batches.start(ref);
  await batches.finished(ref, new AbortController().signal);
  const wholeSeconds = (performance.now() - startedAt) / 1000;
  job.ended?.();
  const events = await historyOf(client, workflowIdOf(ref));
  await close();
  return {
    rows: created.file.sheet.rows,
    ...(await timesOf(job, ref.mark)),
    wholeSeconds,
    events,
    batch: ref.batch,
  };
}

async function makeBatch(job: BatchJob): Promise<CreatedBatch> {
  const service = serviceOf(job);
  const profile = await service.getProfile();
  return withCopy(job.sheet, { out: join(job.folder, 'batches'), stdin: process.stdin }, async (copy) => {
    using proposed = await NewBatch.of({
      copy,
      out: join(job.folder, 'batches'),
      name: `bench-${Date.now()}`,
      again: false,
      answers: AGAIN,
      options: { map: {}, set: {}, drop: [], types: {} },
      order: {},
      deployment: await findDeployment(service, job.deployment),
      service: { base: job.base, api: 'v2', rehearsal: true, timing: profile, prices: {} },
      settings: {
        concurrency: job.cap,
        deadlines: { queueMs: 86_400_000 },
        retries: 0,
        webhooks: true,
      },
    });
    // Awaited here, because the proposal is disposed of on return.
    return await proposed.carryOut();
  });
}

/** Counts the events of all workflow runs of a batch. */
async function historyOf(
  client: Awaited<ReturnType<typeof connectClient>>['client'],
  workflowId: string,
): Promise<number> {
  let events = 0;
  for await (const execution of client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) {
    events += execution.historyLength;
  }
  return events;
}

/** Times by the service's run list. */
async function timesOf(job: BatchJob, mark: string): Promise<Pick<BatchResult, 'seconds' | 'refillsMs'>> {
  const runs = await runsOf(job, `/${mark}/`);
  const queued = runs.map(({ createdAtMs = 0 }) => createdAtMs).sort((a, b) => a - b);
  const ended = runs.map(({ endedAtMs = 0 }) => endedAtMs).sort((a, b) => a - b);
  const refillsMs = queued.slice(job.cap).map((atMs, at) => atMs - (ended[at] ?? 0));
  return { seconds: ((ended.at(-1) ?? 0) - (queued[0] ?? 0)) / 1000, refillsMs };
}

/** When a deployment's first run was queued, in ms since 1970. */
export async function firstRunAt(base: string, deployment: string, folder: string): Promise<number> {
  return (await spanOf({ base, deployment, folder })).first;
}

/** The share of the machines' time in which they worked, from the moment when all of them did until the last run was queued. */
export async function busyShare(where: Where, machines: number): Promise<number> {
  const runs = await runsOf(where, '');
  const starts = runs.map(({ startedAtMs = Infinity }) => startedAtMs).sort((a, b) => a - b);
  const from = starts[machines - 1] ?? 0;
  const to = Math.max(...runs.map(({ createdAtMs = 0 }) => createdAtMs));
  const worked = runs.map(({ startedAtMs = to, endedAtMs = to }) =>
    Math.max(0, Math.min(to, endedAtMs) - Math.max(from, startedAtMs)),
  );
  return worked.reduce((sum, ms) => sum + ms, 0) / (machines * (to - from));
}

/** When the first run of a deployment was queued and the last one ended, in ms since 1970. */
export async function spanOf(where: Where): Promise<{ readonly first: number; readonly last: number }> {
  const runs = await runsOf(where, '');
  let [first, last] = [Number.POSITIVE_INFINITY, 0];
  for (const { createdAtMs = first, endedAtMs = last } of runs) {
    first = Math.min(first, createdAtMs);
    last = Math.max(last, endedAtMs);
  }
  return { first, last };
}

type Where = Pick<BatchJob, 'base' | 'folder' | 'deployment'>;

async function runsOf(where: Where, webhook: string): Promise<readonly Run[]> {
  const service = serviceOf(where);
  const { workflowId = '' } = await findDeployment(service, where.deployment);
  const own: Run[] = [];
  for (let offset = 0; ;) {
    const runs = (await service.listRuns(workflowId, { limit: PAGE, offset })) ?? [];
    own.push(...runs.filter((run) => webhook === '' || run.webhook?.includes(webhook)));
    if (runs.length === 0) return own;
    offset += runs.length;
  }
}

const PAGE = 1_000;

const serviceOf = ({ base, folder }: Pick<BatchJob, 'base' | 'folder'>) =>
  openServices({ home: folder, apiKey: () => keyFromEnvironment(KEY, 'the benchmark') }, openTransport(4)).at(
    { base, api: 'v2' },
  );
