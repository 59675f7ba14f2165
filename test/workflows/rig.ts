// Runs the real workflow on a real Temporal server with fake activities that each test defines.

import { randomBytes } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { afterAll, beforeAll } from 'vitest';
import type { AttemptRef, AttemptRun } from '../../src/batch/outcome.ts';
import { NO_TALLY, tallyOutcome } from '../../src/batch/accounting/tally.ts';
import type { BatchParams } from '../../src/batch/params.ts';
import type { DeferredRow, ListReading, PostResult, RunCompletion } from '../../src/batch/events.ts';
import type { EndedRow } from '../../src/batch/state/row-state.ts';
import type { Progress } from '../../src/batch/shown/progress.ts';
import { loadConfig } from '../../src/host/settings/config.ts';
import { openBatchClient } from '../../src/temporal/batch-client.ts';
import { batchSignals } from '../../src/temporal/batch-control.ts';
import { workflowBundle, type WorkflowBundle } from '../../src/temporal/bundle.ts';
import { connectWorker } from '../../src/temporal/connect-worker.ts';
import { clientConverter } from '../../src/temporal/encryption/converter.ts';
import { payloadKeys, type PayloadKeys } from '../../src/temporal/encryption/payload-keys.ts';
import { conversion } from '../../src/worker/create-workers.ts';
import { workerInterceptors } from '../../src/worker/worker.ts';
import { workflowIdOf, type BatchRef } from '../../src/batch/workflow-ids.ts';
import { filesQueueOf, TASK_QUEUE, workQueueOf } from '../../workflows/task-queues.ts';
import { paramsOf, TIMING } from '../batch/params.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import type { Stage } from '../stage/stage.ts';

/** The behaviour of the batch's nth group; `hang` never answers. */
export type Sends = (
  attempts: readonly AttemptRef[],
  nth: number,
  hang: Promise<never>,
) => Promise<readonly PostResult[]>;

export const refOf = (batch: string): BatchRef => ({ batch, mark: '00112233445566aa', folder: '/nowhere' });
const runOf = ({ place, attempt }: AttemptRef): AttemptRun => ({
  place,
  attempt,
  runId: `run-${place}-${attempt}`,
});
export const accepted = (name: AttemptRef): PostResult => ({ ...runOf(name), result: 'accepted' });
export const smallBatch = (batch: string, rows = 2) =>
  paramsOf({ batch, rows, concurrency: 2, retries: 0, timing: TIMING });

/** The inputs and the results of the activities of one test file. */
export class Script {
  readonly sends = new Map<string, Sends>();
  readonly groups = new Map<string, AttemptRef[][]>();
  /** Rows of a batch (default: 2). */
  readonly rows = new Map<string, number>();
  /** More parameters of a batch, and the rows of its second pass. */
  readonly params = new Map<string, Partial<BatchParams>>();
  readonly passes = new Map<string, object>();
  /** Replaces `finalizeBatch`. */
  readonly finalize = new Map<
    string,
    (input: { readonly startedAt: number; readonly endedAt: number }) => void
  >();
  heartbeatTimeoutMs = 0;
  readonly #hanging = Promise.withResolvers<never>();

  constructor() {
    this.#hanging.promise.catch(() => undefined);
  }

  end(): void {
    this.#hanging.reject(new Error('the test is over'));
  }

  senders() {
    return {
      queueRuns: async ({ batch, attempts }: BatchRef & { attempts: AttemptRef[] }) => {
        this.heartbeatTimeoutMs = activityInfo().heartbeatTimeoutMs ?? 0;
        const sent = [...(this.groups.get(batch) ?? []), attempts];
        this.groups.set(batch, sent);
        const results = await this.sends.get(batch)?.(attempts, sent.length, this.#hanging.promise);
        return { results: results ?? attempts.map(accepted) };
      },
    };
  }

  work(client: Client) {
    const signals = batchSignals(client);
    const endOf = (name: AttemptRun): RunCompletion => ({ ...name, outcome: 'succeeded' });
    return {
      loadBatch: async ({ batch }: BatchRef) => ({
        params: { ...smallBatch(batch, this.rows.get(batch)), ...this.params.get(batch) },
      }),
      loadPass: async ({ batch }: BatchRef) => this.passes.get(batch),
      /** Reports every run as succeeded. */
      pollRuns: async ({ batch, mark, runs }: BatchRef & { runs: AttemptRun[] }) => {
        await signals.runsCompleted({ batch, mark }, 'poll', runs.map(endOf));
      },
      /** Reports a run for every attempt. */
      reconcileRuns: async ({ attempts }: { attempts: AttemptRef[] }): Promise<ListReading> => ({
        answer: 'complete',
        found: attempts.map(runOf),
        hasControl: false,
      }),
      collectRows: async ({ rows }: { rows: EndedRow[] }) => ({
        tally: tallyOutcome(NO_TALLY, 'succeeded', rows.length),
        deferred: [] as DeferredRow[],
        fetched: rows.length,
      }),
      finalizeBatch: async (input: BatchRef & { startedAt: number; endedAt: number }) =>
        this.finalize.get(input.batch)?.(input),
      cancelRuns: async () => undefined,
      keepEvidence: async () => undefined,
      keepLog: async () => undefined,
    };
  }
}

export type Rig = {
  readonly client: Client;
  readonly batches: ReturnType<typeof openBatchClient>;
  /** Another worker for workflows and groups, with another bundle; ends with the rig. */
  worker(bundle: WorkflowBundle): Promise<{ stop(): Promise<void> }>;
  /** Runs a batch; returns its last progress. */
  result(batch: string): Promise<Progress>;
  close(): Promise<void>;
};

/** The options that the workers of `runsheet worker` have. */
const sealed = (keys: PayloadKeys) => ({
  ...conversion(keys),
  interceptors: workerInterceptors('cluster', { home: '', keys }),
});

type RigOptions = {
  /** false: without a worker for workflows. */
  readonly hasWorker?: boolean;
  /** Everything is encrypted. */
  readonly isSealed?: boolean;
};

/** A rig with a server of its own for the tests of a group. */
export function rigFor(
  script: Script,
  options: RigOptions = {},
  prepare: (rig: Rig) => Promise<unknown> = async () => undefined,
): Rig {
  const stage = sharedStage();
  const rig = {} as Rig;
  beforeAll(async () => {
    Object.assign(rig, await openRig(stage, script, options));
    await prepare(rig);
  });
  afterAll(() => rig.close());
  return rig;
}

async function openRig(
  stage: Stage,
  script: Script,
  { hasWorker = true, isSealed = false }: RigOptions,
): Promise<Rig> {
  const config = loadConfig({ RUNSHEET_PAYLOAD_KEY: randomBytes(32).toString('hex') });
  const keys = isSealed ? payloadKeys(config, 'embedded') : undefined;
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  await stage.temporal();
  const { TEMPORAL_ADDRESS: address = '', TEMPORAL_NAMESPACE: namespace = '' } = stage.environment;
  const server = { address, namespace, from: 'the test', options: {} };
  const { client, connection } = await connectWorker(server, 20_000, keys ? clientConverter(keys) : {});
  const connections = [connection];
  const sealing = keys && sealed(keys);
  const shared = { connection, namespace, shutdownGraceTime: '10s', ...sealing } as const;
  const stops: (() => Promise<void>)[] = [];
  const run = (worker: Worker): { stop(): Promise<void> } => {
    const running = worker.run();
    const stop = async (): Promise<void> => {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await running;
    };
    stops.push(stop);
    return { stop };
  };
  const worker = async (bundle: WorkflowBundle) => {
    // Two workers of one queue cannot share a connection.
    const own = await connectWorker(server, 20_000, {});
    connections.push(own.connection);
    return run(
      await Worker.create({
        ...shared,
        connection: own.connection,
        taskQueue: TASK_QUEUE,
        workflowBundle: bundle,
        activities: script.senders(),
        stickyQueueScheduleToStartTimeout: '1s',
      }),
    );
  };
  for (const taskQueue of [workQueueOf(TASK_QUEUE), filesQueueOf(TASK_QUEUE)])
    run(await Worker.create({ ...shared, taskQueue, activities: script.work(client) }));
  if (hasWorker) await worker(await workflowBundle());
  const batches = openBatchClient(() => client, TASK_QUEUE, {
    encrypted: keys !== undefined,
    searchable: false,
  });
  return {
    client,
    batches,
    worker,
    result: (batch) => client.workflow.getHandle(workflowIdOf(refOf(batch))).result() as Promise<Progress>,
    close: async () => {
      script.end();
      await Promise.all(stops.map((stop) => stop()));
      await Promise.all(connections.map((opened) => opened.close()));
    },
  };
}
