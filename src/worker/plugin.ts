// runsheet/worker: a plugin for the worker and the client of an application, so that its workflows can await batches.
//
//   queue         the application's worker    its own workflows and activities, `runsheetBatch`, `queueRuns`
//   queue-work    our second worker           activities that exchange messages, with slots of its own
//   queue-files   our third worker            activities that wait for files of other hosts, with slots of its own
//
// The second and third worker and the webhook receiver run as long as the application's worker.

import { extname } from 'node:path';
import { setInterval as every } from 'node:timers';
import { fileURLToPath } from 'node:url';
import type { ClientOptions } from '@temporalio/client';
import type { DataConverter, PayloadCodec } from '@temporalio/common';
import { SimplePlugin } from '@temporalio/plugin';
import { NativeConnection, type Worker, type WorkerOptions } from '@temporalio/worker';
import { createSenders, type Activities } from '../../activities/index.ts';
import { filesQueueOf, workQueueOf } from '../../workflows/task-queues.ts';
import { activityGuards, conversion, createOtherWorkers, isOtherQueue, SENDING } from './create-workers.ts';
import { problem } from '../errors/error.ts';
import { loadConfig, type Config } from '../host/settings/config.ts';
import { openLog } from '../host/log.ts';
import { clientConverter } from '../temporal/encryption/converter.ts';
import { encryptionWith } from '../temporal/encryption/codec.ts';
import { openClient } from '../temporal/encryption/labelled.ts';
import { workerEncryptionWith } from '../temporal/encryption/worker-codec.ts';
import { payloadKeys, type PayloadKeys } from '../temporal/encryption/payload-keys.ts';
import { identityWith } from '../temporal/encryption/worker-keys.ts';
import { openParts } from './composition.ts';

export type WorkerPluginOptions = {
  /** Settings by their name in a settings file, which override the environment: `{ out: '/srv/batches' }`. */
  readonly settings?: Parameters<typeof loadConfig>[1];
  /** Whether this process receives webhooks (default: true). Without a receiver anywhere, runs are polled. */
  readonly receiver?: boolean;
};

/** The facts about a worker that are known between its creation and its run. */
type PluginPlace = {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly senders: PromiseWithResolvers<Pick<Activities, 'queueRuns'>>;
};

/** The plugin for a worker, a client, or a connection that both share. */
export class RunsheetPlugin extends SimplePlugin {
  readonly #config: Config;
  readonly #keys: PayloadKeys;
  readonly #hasReceiver: boolean;
  readonly #places = new Map<string, PluginPlace>();

  /** Throws E602 for invalid settings. */
  constructor({ settings = {}, receiver = true }: WorkerPluginOptions = {}) {
    const config = loadConfig(undefined, settings);
    const keys = payloadKeys(config, 'cluster');
    const interceptors = { activity: activityGuards(keys), workflowModules: WORKFLOW_GUARDS };
    super({ name: 'runsheet', workerInterceptors: interceptors });
    this.#config = config;
    this.#keys = keys;
    this.#hasReceiver = receiver;
  }

  override configureClient(options: ClientOptions): ClientOptions {
    const codec = encryptionWith(this.#keys);
    return { ...super.configureClient(options), dataConverter: withCodec(options.dataConverter, codec) };
  }

  /** Throws E416 for a worker that cannot run batches. */
  override configureWorker(options: WorkerOptions): WorkerOptions {
    const { connection, taskQueue, namespace = 'default', activities = {} } = options;
    // Our own workers have the plugins of the connection as well.
    if ([...this.#places.keys()].some((queue) => isOtherQueue(taskQueue, queue))) return options;
    if (!(connection instanceof NativeConnection)) throw NO_CONNECTION();
    if (this.#places.has(taskQueue)) throw ONE_WORKER(taskQueue);
    if ('queueRuns' in activities) throw OTHER_ACTIVITY();
    const senders = Promise.withResolvers<Pick<Activities, 'queueRuns'>>();
    this.#places.set(taskQueue, { connection, namespace, senders });
    const queueRuns: Activities['queueRuns'] = async (input) => (await senders.promise).queueRuns(input);
    const slots = options.tuner === undefined ? SLOTS : {};
    const configured = super.configureWorker({ identity: identityWith(this.#keys), ...slots, ...options });
    const dataConverter = withCodec(options.dataConverter, workerEncryptionWith(this.#keys));
    return { ...configured, dataConverter, activities: { ...activities, queueRuns } };
  }

  override async runWorker(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
    const { taskQueue } = worker.options;
    const place = this.#places.get(taskQueue);
    if (place === undefined) return super.runWorker(worker, next);
    const { others: companions, stop, stopping } = await this.#open(place, taskQueue);
    // A worker reports the beginning of its shutdown only by its state.
    const watch = every(() => worker.getState() !== 'RUNNING' && stopping.abort(), STATE_MS);
    const running = Promise.all(companions.map((companion) => companion.run()));
    // If one companion fails, the others must not continue alone.
    const failed = running.catch((error: unknown) => {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      throw error;
    });
    try {
      await Promise.all([next(worker).finally(() => companions.forEach(shutDown)), failed]);
    } finally {
      clearInterval(watch);
      this.#places.delete(taskQueue);
      await stop();
    }
  }

  async #open({ connection, namespace, senders }: PluginPlace, queue: string) {
    const config = this.#config;
    const dataConverter = clientConverter(this.#keys);
    const client = openClient({ connection, namespace, dataConverter });
    const parts = this.#hasReceiver ? 'all' : 'no-receiver';
    const log = openLog(config.logLevel, 'worker');
    const params = { config, server: 'cluster', parts, log } as const;
    const { deps, close, stopping } = await openParts(params, { connection, client, dataConverter });
    const interceptors = { activity: activityGuards(this.#keys) };
    const at = { connection: connection, namespace, ...conversion(this.#keys), interceptors };
    const companions = await Promise.all(createOtherWorkers(deps, queue, at, config.member.drainMs));
    senders.resolve(createSenders(deps));
    return { others: companions, stopping, stop: close };
  }
}

const STATE_MS = 250;

/** The application decides how many workflows are cached. */
const { maxCachedWorkflows: _, ...SLOTS } = SENDING;

const WORKFLOW_GUARDS = ['query-replay-guard', 'payload-guard'].map((name) =>
  fileURLToPath(new URL(`../../workflows/${name}${extname(import.meta.url)}`, import.meta.url)),
);

/** The application's converter, with our codec as the last one. */
const withCodec = (own: DataConverter | undefined, codec: PayloadCodec): DataConverter => ({
  ...own,
  payloadCodecs: [...(own?.payloadCodecs ?? []), codec],
});

function shutDown(worker: Worker): void {
  if (worker.getState() === 'RUNNING') worker.shutdown();
}

const NO_CONNECTION = () =>
  problem('E416', {
    what: 'Worker.create was called without a connection',
    hint: 'pass one: connection: await NativeConnection.connect({ address })',
  });

const ONE_WORKER = (taskQueue: string) =>
  problem('E416', {
    what: `another worker of this process has it for the task queue ${taskQueue}`,
    hint: `run one worker for each task queue; batches need ${workQueueOf(taskQueue)} and ${filesQueueOf(taskQueue)} as well`,
  });

const OTHER_ACTIVITY = () =>
  problem('E416', {
    what: 'the worker has another activity with the name queueRuns',
    hint: 'rename that activity, or give the worker of batches a task queue of its own',
  });
