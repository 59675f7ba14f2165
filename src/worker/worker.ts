// The composition root of a worker process: Temporal's runtime and connection, three Temporal workers, the webhook receiver, and
// metrics if the settings ask for them.

import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { Worker, type ActivityInterceptorsFactory, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import { createMember, type WorkerMember } from '../../activities/describe-member.ts';
import { membersQueueOf, TASK_QUEUE } from '../../workflows/task-queues.ts';
import { problem } from '../errors/error.ts';
import type { Config } from '../host/settings/config.ts';
import { version } from '../host/package-version.ts';
import { watchActivities } from '../monitoring/activity-watch.ts';
import type { WorkerMonitor } from '../monitoring/monitor.ts';
import { openTickets } from '../schedule/tickets.ts';
import { openStore } from '../store/open-store.ts';
import { guardFirings } from '../temporal/activity-guards.ts';
import { MEMBER, membersOf } from '../temporal/cluster-members.ts';
import { connectWorker } from '../temporal/connect-worker.ts';
import { installRuntime } from '../temporal/native-core.ts';
import { clientConverter } from '../temporal/encryption/converter.ts';
import { payloadKeys, type PayloadKeys, type ServerKind } from '../temporal/encryption/payload-keys.ts';
import type { TemporalAddress } from '../temporal/temporal-address.ts';
import { programsPart } from '../temporal/worker-programs.ts';
import { isSecretShared, secretFingerprint, webhookSecret } from '../webhook/webhook-secret.ts';
import { activityGuards, conversion, createWorkers, deploymentOf } from './create-workers.ts';
import { openParts, type PartsParams, type WorkerParts } from './composition.ts';

/** Longer than any POST's deadline: only the user ends embedded servers, and can press Ctrl-C again. */
const EMBEDDED_DRAIN_MS = 150_000;
const LINGER_MS = 5_000;

type WorkerParams = PartsParams & {
  readonly temporal: TemporalAddress;
  /** How long to wait for Temporal's first answer. */
  readonly patienceMs: number;
};

export type RunningWorker = Awaited<ReturnType<typeof startWorker>>;

export async function startWorker(params: WorkerParams) {
  const { config, log, parts, temporal, server } = params;
  const { namespace } = temporal;
  const queue = config.taskQueue ?? TASK_QUEUE;
  const isMember = server === 'cluster';
  const versioning = isMember ? deploymentOf(config.member) : {};
  const identity = isMember ? identityParts(config) : [];
  const drainMs = isMember ? config.member.drainMs : EMBEDDED_DRAIN_MS;
  const monitor = await monitorOf(params);
  installRuntime(log, monitor?.coreAddress);
  const keys = payloadKeys(config, server);
  const dataConverter = clientConverter(keys);
  const connected = await connectWorker(temporal, params.patienceMs, dataConverter);
  const { connection, client } = connected;
  if (isMember) await checkWebhookSecret(client, queue, config, log);
  const opened = await openParts(
    { ...params, address: temporal.address, meters: monitor?.meters },
    { ...connected, dataConverter },
  );
  const { deps, receiver, stopping, onWire } = opened;
  let workers: readonly Worker[] = [];
  const states = (): readonly string[] => workers.map((worker) => worker.getState());
  const sees = parts === 'receiver-only' ? undefined : states;
  const monitorServer = await monitor?.open({ client, queue, receiver, states: sees });
  const watched = watchActivities({ log, storeFailed: monitor?.meters.storeFailed });
  const interceptors = workerInterceptors(server, { home: config.home, keys }, watched);
  const at = { connection, namespace, ...conversion(keys, ...identity) };
  if (parts !== 'receiver-only')
    workers = await createWorkers(deps, queue, { ...at, ...versioning, interceptors }, drainMs);
  const member = isMember ? [await createMemberWorker(config, parts, queue, at, keys)] : [];
  const group = new RunOnce([...workers, ...member]);
  return {
    /** Takes tasks from now on. */
    work: (): void => {
      if (!stopping.signal.aborted) group.run();
    },
    receiver: receiver && { url: config.webhook.url ?? receiver.url, port: receiver.port },
    /** Where metrics and health are shown, if the settings ask for it. */
    monitorUrl: monitorServer?.url,
    /** The number of Queue Run calls without an answer. */
    onWire: (): number => onWire.count,
    /**
     * Takes no further task and starts no further POST. Resolves with true when unfinished work has ended and
     * everything is closed, or with false when the time is over: the process must end, and its POSTs without an answer
     * are unconfirmed.
     */
    stop: async (withinMs = drainMs): Promise<boolean> => {
      stopping.abort();
      receiver?.drain();
      // The service does not repeat webhooks that were answered.
      const sent = opened.sendHeld();
      group.shutDown();
      // A balancer sends webhooks here until it has seen that the receiver is not ready.
      const lingering =
        receiver && config.webhook.listen ? wait(Math.min(LINGER_MS, drainMs / 2)) : undefined;
      const ended = async (): Promise<true> => {
        await Promise.all([group.hasBegun && group.done, lingering, sent]);
        await opened.close();
        await monitorServer?.close();
        // A worker that never ran holds the connection until the process ends.
        if (group.hasBegun || group.isEmpty) await connection.close();
        return true;
      };
      return Promise.race([ended(), wait(withinMs, false as const, { ref: false })]);
    },
    /** Resolves after `stop`; rejects when a worker failed. */
    done: group.done,
  };
}

/** Workers that are ready before they may take tasks. */
class RunOnce {
  readonly #workers: readonly Worker[];
  readonly #done = Promise.withResolvers<void>();
  #hasBegun = false;

  constructor(workers: readonly Worker[]) {
    this.#workers = workers;
  }

  get isEmpty(): boolean {
    return this.#workers.length === 0;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Resolves when all have ended; rejects when one failed. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  run(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    void Promise.all(this.#workers.map((worker) => worker.run())).then(
      () => this.#done.resolve(),
      this.#done.reject,
    );
  }

  shutDown(): void {
    for (const worker of this.#workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  }
}

/** Loads the monitor only if the settings ask for it. */
async function monitorOf({ config, log, server }: WorkerParams): Promise<WorkerMonitor | undefined> {
  if (config.metrics === undefined) return undefined;
  const { createWorkerMonitor } = await import('../monitoring/monitor.ts');
  return createWorkerMonitor(config, { listen: config.metrics, isOptional: server === 'embedded', log });
}

/**
 * The checks before an activity runs. An embedded server needs more of them, because every process on the machine can
 * talk to it.
 */
export const workerInterceptors = (
  server: ServerKind,
  { home, keys }: { readonly home: string; readonly keys: PayloadKeys },
  ...extra: readonly ActivityInterceptorsFactory[]
) => ({
  activity: [
    ...activityGuards(keys),
    ...(server === 'embedded' ? [guardFirings(openTickets(home))] : []),
    ...extra,
  ],
});

/** The part of a worker's identity that names its webhook secret. */
const WEBHOOK = 'webhook/';

/** The parts of its identity that Temporal shows besides name and keys. */
const identityParts = (config: Config): readonly string[] => [
  `${MEMBER}${version}`,
  `${WEBHOOK}${secretFingerprint(webhookSecret(config))}`,
  ...programsPart(config.notify.programs),
];

const secretIn = (identity: string): string | undefined =>
  identity
    .split(' ')
    .find((word) => word.startsWith(WEBHOOK))
    ?.slice(WEBHOOK.length);

/**
 * The worker that answers for this process, one question at a time. It belongs to no deployment, because every member
 * is asked.
 */
function createMemberWorker(
  config: Config,
  parts: WorkerParts,
  queue: string,
  at: Required<Pick<WorkerOptions, 'connection' | 'namespace' | 'identity' | 'dataConverter'>>,
  keys: PayloadKeys,
): Promise<Worker> {
  const { deployment, build = version } = config.member;
  const works = parts !== 'receiver-only';
  const member: WorkerMember = {
    identity: at.identity,
    version,
    works,
    receives: parts !== 'no-receiver',
    ...(deployment === undefined || !works ? {} : { deployment: { name: deployment, build } }),
    webhookSecret: secretFingerprint(webhookSecret(config)),
    out: config.out,
    programs: config.notify.programs,
  };
  return Worker.create({
    ...at,
    interceptors: { activity: activityGuards(keys) },
    taskQueue: membersQueueOf(queue),
    activities: createMember(member, openStore(config.out)),
    maxConcurrentActivityTaskExecutions: 1,
  });
}

/**
 * Webhooks that another member cannot check are lost, and their runs are polled. Throws E412 if the settings give
 * this process no secret; a secret from the settings may just be in rotation, so a difference is only logged.
 */
async function checkWebhookSecret(client: Client, queue: string, config: Config, log: Logger): Promise<void> {
  // Without an address for webhooks, each process receives only the webhooks that it requested.
  if (config.webhook.url === undefined) return;
  const own = secretFingerprint(webhookSecret(config));
  const mismatched = (await membersOf(client, queue)).filter(
    (identity) => (secretIn(identity) ?? own) !== own,
  );
  if (mismatched.length === 0) return;
  const members = mismatched.map((identity) => identity.split(' ')[0] ?? '');
  if (!isSecretShared(config)) throw problem('E412', { members });
  log.warn({ members }, 'these members have another webhook secret: runs whose webhooks they get are polled');
}
