// The processes of a stack: Temporal, a worker with its receiver, and the local run service if a command needs it. A process that
// exits unexpectedly is restarted on its old port.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { errorMessage } from '../../errors/error.ts';
import { keepSecret } from '../../errors/redact.ts';
import { environmentFor } from '../../host/child-environment.ts';
import type { Config } from '../../host/settings/config.ts';
import { readOrCreateSecret } from '../../host/state-folder.ts';
import { keepLocalService } from '../../host/local-address.ts';
import { localDatabaseOf } from '../../run-service/kept-workflows.ts';
import { temporalBinary } from './binary.ts';
import { namespaceOf } from './instance.ts';
import type { Ports } from './ports.ts';
import {
  spawnChild,
  spawnWorker,
  type StackChild,
  startChild,
  STOP,
  underUmask,
  WORK,
  workerOf,
} from './processes.ts';
import { startServer, type TemporalServer } from './temporal-server.ts';

export type ServicesParams = {
  readonly config: Config;
  readonly ports: Ports;
  readonly log: Logger;
  /** The user's umask, for the batch folders that the worker writes. */
  readonly umask: number;
  /** The process of the first worker, which is loading its code. */
  readonly worker: ChildProcess;
  readonly notice: (text: string) => void;
  readonly onChange: () => void;
  /** Called with the number of Queue Run calls without an answer. */
  readonly onWire: (count: number) => void;
};

/** Must be longer than any POST's deadline. */
const WORKER_ENDS_MS = 160_000;
const SERVICE_ENDS_MS = 5_000;
const SERVER_ENDS_MS = 10_000;

export type StackServices = ReturnType<typeof openStackServices>;

export function openStackServices(params: ServicesParams) {
  const namespace = namespaceOf(params.config.home);
  let temporal: Supervised<TemporalServer> | undefined;
  let worker: Supervised<StackChild> | undefined;
  let service: Promise<Supervised<StackChild>> | undefined;
  /** Whether batches run; if not, the worker waits. */
  let isWorking = false;

  return {
    namespace,

    /** Lets batches run. */
    work: (): void => {
      isWorking = true;
      if (worker !== undefined) askToWork(worker.current());
    },

    /** Lets batches stand still: another worker replaces this one, and waits. */
    rest: async (): Promise<void> => {
      isWorking = false;
      await worker?.replace(askToStop, WORKER_ENDS_MS);
    },

    /** Starts the server and the worker concurrently: the worker loads its code while the server opens its database. */
    start: async (): Promise<void> => {
      const child = keepWorker(params, namespace, () => isWorking);
      // A worker without a server waits for a long time; it exits when its channel to the stack breaks.
      child.catch(() => undefined);
      temporal = await keepServer(params, namespace);
      worker = await child;
    },

    /** Starts the service for the first follower that needs it. */
    startService: async (): Promise<void> => {
      service ??= keepService(params);
      await service.catch((error: unknown) => {
        service = undefined;
        throw error;
      });
    },

    /** The current children; undefined before `start` has finished. */
    current: async () =>
      temporal &&
      worker && {
        temporal: temporal.current(),
        worker: worker.current(),
        service: (await service)?.current(),
      },

    /** Leaves pending requests unconfirmed. */
    killWorker: () => void worker?.current().child.kill('SIGKILL'),

    /** Stops the worker first, because it must report its last answers to Temporal, which stops last. */
    stop: async (): Promise<void> => {
      // The worker reports its pending requests as long as the channel is open.
      await worker?.stop(askToStop, WORKER_ENDS_MS);
      await (
        await service?.catch(() => undefined)
      )?.stop(({ child }) => void child.disconnect(), SERVICE_ENDS_MS);
      // Temporal loses nothing that it has confirmed, even if killed; an orderly end would cost every command a
      // second.
      await temporal?.stop(({ child }) => void child.kill('SIGKILL'), SERVER_ENDS_MS);
    },
  };
}

async function keepServer(params: ServicesParams, namespace: string): Promise<Supervised<TemporalServer>> {
  const { home, cache, environment } = params.config;
  const { temporal: port } = params.ports;
  return supervise({
    start: async () => {
      const program = await temporalBinary({ cache, environment, notice: params.notice });
      return startServer({ program, home, namespace, port, environment });
    },
    ...reports(params, 'Temporal'),
  });
}

const askToWork = ({ child }: StackChild): void => void (child.connected && child.send(WORK));
const askToStop = ({ child }: StackChild): void => void (child.connected && child.send(STOP));

function keepWorker(
  params: ServicesParams,
  namespace: string,
  isWorking: () => boolean,
): Promise<Supervised<StackChild>> {
  const { config, ports, onWire, umask } = params;
  const environment = { TEMPORAL_ADDRESS: `127.0.0.1:${ports.temporal}`, TEMPORAL_NAMESPACE: namespace };
  let prepared: ChildProcess | undefined = params.worker;
  const start = async (): Promise<StackChild> => {
    const child = prepared ?? underUmask(umask, () => spawnWorker(config));
    prepared = undefined;
    const program = workerOf(config);
    const worker = await startChild({ program, child, port: ports.receiver, environment, onWire });
    if (isWorking()) askToWork(worker);
    return worker;
  };
  return supervise({ start, ...reports(params, 'the worker') });
}

function keepService(params: ServicesParams): Promise<Supervised<StackChild>> {
  const { config, ports } = params;
  const token = keepSecret(readOrCreateSecret(join(config.home, 'local-service-token')));
  const program = {
    name: 'service',
    home: config.home,
    args: ['--speed', String(config.localSpeed), '--db', localDatabaseOf(config.home)],
    environment: environmentFor('service', config.environment),
  } as const;
  const start = async (): Promise<StackChild> => {
    const child = spawnChild(program);
    const environment = { RUNSHEET_SERVICE_TOKEN: token };
    const service = await startChild({ program, child, port: ports.service, environment });
    if (service.url !== undefined) keepLocalService(config.home, { base: service.url, token });
    return service;
  };
  return supervise({ start, ...reports(params, 'the local run service') });
}

const reports = ({ log, notice, onChange }: ServicesParams, part: string) => ({
  onRestart: (_: unknown, isExpected: boolean) => {
    onChange();
    if (isExpected) return;
    log.warn({ part }, 'a process exited and was restarted');
    notice(`${part} exited and was restarted`);
  },
  onTrouble: (error: unknown) => notice(`${part} could not be restarted: ${errorMessage(error)}`),
});

/** Supervises a child process: restarts it when it exits unexpectedly, with exponential backoff. */
type Supervised<T extends { readonly child: ChildProcess }> = {
  readonly current: () => T;
  /** Stops this child in the same way, after which the next one replaces it. */
  replace(ask: (current: T) => void, withinMs: number): Promise<void>;
  /** Asks the child to exit and waits; kills it if it does not exit in time. */
  stop(ask: (current: T) => void, withinMs: number): Promise<void>;
};

type SuperviseParams<T> = {
  readonly start: () => Promise<T>;
  /** `isExpected`: the child was asked to end. */
  readonly onRestart: (current: T, isExpected: boolean) => void;
  readonly onTrouble: (error: unknown) => void;
};

const PAUSE_MS = 200;
const MAX_PAUSE_MS = 10_000;
/** After this uptime the backoff starts from the beginning. */
const HEALTHY_MS = 30_000;

/** Rejects if the first start fails. */
async function supervise<T extends { readonly child: ChildProcess }>(
  params: SuperviseParams<T>,
): Promise<Supervised<T>> {
  let current = await params.start();
  let isStopping = false;
  let replaced: T | undefined;
  let starting: Promise<unknown> = Promise.resolve();

  const watch = async (): Promise<void> => {
    for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
      const since = Date.now();
      await ended(current.child);
      if (Date.now() - since > HEALTHY_MS) pauseMs = PAUSE_MS;
      if (isStopping) return;
      const isExpected = replaced === current;
      if (!isExpected) await wait(pauseMs);
      if (isStopping) return;
      try {
        const started = params.start();
        starting = started.catch(() => undefined);
        current = await started;
        params.onRestart(current, isExpected);
      } catch (error) {
        params.onTrouble(error);
      }
    }
  };
  void watch();

  const end = async (ask: (current: T) => void, withinMs: number): Promise<void> => {
    const ending = current;
    if (hasEnded(ending.child)) return;
    ask(ending);
    const timer = setTimeout(() => ending.child.kill('SIGKILL'), withinMs);
    await ended(ending.child);
    clearTimeout(timer);
  };

  return {
    current: () => current,
    replace: (ask, withinMs) => {
      replaced = current;
      return end(ask, withinMs);
    },
    stop: async (ask, withinMs) => {
      isStopping = true;
      // A child that is just starting must exit as well.
      await Promise.race([starting, wait(withinMs, undefined, { ref: false })]);
      await end(ask, withinMs);
    },
  };
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

async function ended(child: ChildProcess): Promise<void> {
  if (!hasEnded(child)) await once(child, 'exit');
}
