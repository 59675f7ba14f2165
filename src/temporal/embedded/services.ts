// What a stack is made of: Temporal, a worker with its receiver, and the local run service where somebody wants it. Each
// is started again on its old port when it ends by itself.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../../host/config.ts';
import { errorMessage } from '../../errors/error.ts';
import { readOrCreateSecret } from '../../host/secret-file.ts';
import { localFile } from '../../run-service/local-address.ts';
import { keepSecret } from '../../errors/redact.ts';
import { encryptionWith } from '../encryption/codec.ts';
import { payloadKeys } from '../encryption/payload-keys.ts';
import { temporalBinary } from './binary.ts';
import { keepAlive, type Kept } from './supervised-child.ts';
import { environmentFor } from './environment.ts';
import { openGateway, type Gateway } from './gateway.ts';
import type { Ports } from './ports.ts';
import { startChild, STOP, type StackChild } from './processes.ts';
import { startServer, type TemporalServer } from './temporal-server.ts';

export type ServicesParams = {
  readonly config: Config;
  readonly ports: Ports;
  readonly log: Logger;
  /** Of the user: a worker writes batch folders. */
  readonly umask: number;
  readonly say: (words: string) => void;
  /** A part lives again under another process id. */
  readonly onChange: () => void;
  /** Told how many Queue Run calls have begun and have no answer. */
  readonly onWire: (count: number) => void;
};

/** Longer than any POST's deadline. */
const WORKER_ENDS_MS = 160_000;
const SERVICE_ENDS_MS = 5_000;
const SERVER_ENDS_MS = 10_000;

export type StackServices = ReturnType<typeof openStackServices>;

export function openStackServices(order: ServicesParams) {
  const namespace = namespaceOf(order.config.home);
  let temporal: Kept<TemporalServer> | undefined;
  let worker: Kept<StackChild> | undefined;
  let service: Promise<Kept<StackChild>> | undefined;
  let gateway: Gateway | undefined;

  return {
    namespace,

    /** The server and the worker at once: the worker loads its code while the server opens its database. */
    start: async (): Promise<void> => {
      const child = keepWorker(order, namespace);
      // A worker without its server waits for long; it ends with the stack, whose channel to it breaks.
      child.catch(() => undefined);
      temporal = await keepServer(order, namespace);
      gateway = await openPages(order, namespace, temporal);
      worker = await child;
    },

    /** Started for the first who wants it. */
    startService: async (): Promise<void> => {
      service ??= keepService(order);
      await service.catch((error: unknown) => {
        service = undefined;
        throw error;
      });
    },

    /** The children that live now; undefined before `start` is done. */
    current: async () =>
      temporal &&
      worker &&
      gateway && {
        temporal: temporal.current(),
        /** The owner's address of Temporal's pages. */
        pages: gateway.address,
        worker: worker.current(),
        service: (await service)?.current(),
      },

    /** Leaves what is on the wire uncertain. */
    killWorker: () => void worker?.current().child.kill('SIGKILL'),

    /** The worker first, because its last POSTs must be answered and told; Temporal last, because it is told. */
    stop: async (): Promise<void> => {
      // It tells what is on its wire as long as the channel is open.
      await worker?.stop(({ child }) => void (child.connected && child.send(STOP)), WORKER_ENDS_MS);
      await (
        await service?.catch(() => undefined)
      )?.stop(({ child }) => void child.disconnect(), SERVICE_ENDS_MS);
      gateway?.close();
      await temporal?.stop(({ child }) => void child.kill('SIGTERM'), SERVER_ENDS_MS);
    },
  };
}

async function keepServer(order: ServicesParams, namespace: string): Promise<Kept<TemporalServer>> {
  const { home, cache, environment } = order.config;
  const { temporal: port, ui: uiPort } = order.ports;
  return keepAlive({
    start: async () => {
      const program = await temporalBinary({ cache, environment, say: order.say });
      return startServer({ program, home, namespace, port, uiPort, environment });
    },
    ...reports(order, 'Temporal'),
  });
}

function openPages(
  { config, ports }: ServicesParams,
  namespace: string,
  temporal: Kept<TemporalServer>,
): Promise<Gateway> {
  return openGateway({
    port: ports.pages,
    entrance: `/namespaces/${namespace}/workflows`,
    codec: encryptionWith(payloadKeys(config, 'embedded')),
    pages: () => {
      const { child, pages } = temporal.current();
      return child.exitCode === null && child.signalCode === null ? pages : undefined;
    },
  });
}

function keepWorker(order: ServicesParams, namespace: string): Promise<Kept<StackChild>> {
  const { config, ports, onWire, umask } = order;
  const temporal = { TEMPORAL_ADDRESS: `127.0.0.1:${ports.temporal}`, TEMPORAL_NAMESPACE: namespace };
  const start = (): Promise<StackChild> =>
    startChild({
      name: 'worker',
      home: config.home,
      words: ['worker', '--embedded', '--receiver-port', String(ports.receiver)],
      environment: { ...environmentFor('worker', config.environment), ...temporal },
      onWire,
      umask,
    });
  return keepAlive({ start, ...reports(order, 'the worker') });
}

function keepService(order: ServicesParams): Promise<Kept<StackChild>> {
  const { config, ports } = order;
  const token = keepSecret(readOrCreateSecret(join(config.home, 'local-service-token')));
  const start = async (): Promise<StackChild> => {
    const service = await startChild({
      name: 'service',
      home: config.home,
      words: [
        'service',
        '--embedded',
        '--port',
        String(ports.service),
        '--db',
        join(config.home, 'local-service.db'),
        '--speed',
        String(config.localSpeed),
      ],
      environment: { ...environmentFor('service', config.environment), RUNSHEET_SERVICE_TOKEN: token },
    });
    writeFileSync(localFile(config.home), JSON.stringify({ base: service.url, token }), { mode: 0o600 });
    return service;
  };
  return keepAlive({ start, ...reports(order, 'the local run service') });
}

const reports = ({ log, say, onChange }: ServicesParams, part: string) => ({
  onRestart: () => {
    onChange();
    log.warn({ part }, 'a part had ended and lives again');
    say(`${part} had ended and was started again`);
  },
  onTrouble: (error: unknown) => say(`${part} did not start again: ${errorMessage(error)}`),
});

/** A namespace that no other server has: whoever answers without it is a stranger on our port. */
const namespaceOf = (home: string): string =>
  `runsheet-${readOrCreateSecret(join(home, 'instance')).slice(0, 8)}`;
