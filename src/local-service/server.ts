// The local run service: the run service on one machine, in one process, over real HTTP. This file puts the service
// behind its sockets, and takes it down again.

import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { problem, errorMessage } from '../errors/error.ts';
import { openPageLogin } from '../host/page-login.ts';
import { createApp } from './app.ts';
import { API, V1 } from './auth.ts';
import type { BehaviourName } from './behaviour.ts';
import { createWallClock } from './service-time.ts';
import type { DeploymentSpec } from './deployments.ts';
import { createService, type LivingService, type Log, type Stats } from './service.ts';
import { openCaller } from './webhook-call.ts';
import { isLoopback } from './webhook-target.ts';

export {
  DEMO_DEPLOYMENTS,
  deploymentSpecSchema,
  readDeployments,
  type DeploymentSpec,
} from './deployments.ts';
export type { BehaviourName } from './behaviour.ts';

export type LocalServiceOptions = {
  /** 0 takes any free port. */
  readonly port: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** `token`, or `owner:token` where several owners share the service. */
  readonly tokens: readonly string[];
  /** Divides every wait: cold starts, run times, time-outs. What is recorded is the time that really passed. */
  readonly speed: number;
  /** The SQLite file; `:memory:` keeps nothing. */
  readonly database: string;
  readonly deployments: readonly DeploymentSpec[];
  /** Rates from 0 to 1 by name; the names stand in faults.ts. */
  readonly faults: Readonly<Record<string, number>>;
  /** Where the specification and the real service differ: which one it is like. Default `specification`. */
  readonly behaviour?: BehaviourName;
  /** `v1`: a service that was not migrated, without the base of V2. */
  readonly only?: 'v1' | undefined;
  /** Whether webhooks may go beyond this machine. Default false. */
  readonly webhooksAnywhere?: boolean;
  /** Faults and run times are drawn from it. */
  readonly seed: number;
  readonly log?: Log;
};

export type LocalService = {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** The base address of its V2 API. */
  readonly base: string;
  /** The same of V1. */
  readonly legacyBase: string;
  /** The address of the live page, with the secret that opens it. */
  readonly dashboardPage: string;
  /** All that it answers to, as `GET /api/run/:run_id`. */
  readonly routes: readonly string[];
  stats(): Stats;
  /** Stops time, ends every connection and closes the database. Runs go on when a service opens it again. */
  close(): Promise<void>;
};

/** Starts the service; runs of an earlier one on the same database go on. Throws E602 for options that cannot be. */
export async function startLocalService(options: LocalServiceOptions): Promise<LocalService> {
  const { host = '127.0.0.1', log = () => undefined } = options;
  if (!(options.speed > 0)) throw problem('E602', { what: `a speed of ${options.speed} stops all time` });
  const service = createService({
    behaviour: 'specification',
    webhooksAnywhere: false,
    ...options,
    log,
    outside: {
      clock: createWallClock,
      newId: () => randomUUID(),
      caller: openCaller({ anywhere: options.webhooksAnywhere === true }),
    },
  });
  const door = openPageLogin('/');
  const { app, routes } = createApp(service, { ...options, door, listensHere: isLoopback(spelled(host)) });
  try {
    const url = await listen(app, host, options.port);
    service.open(url);
    log('listening', { url });
    return {
      url,
      base: `${url}${API}`,
      legacyBase: `${url}${V1}`,
      dashboardPage: door.address(url),
      routes,
      stats: service.stats,
      close: closeOnce(app, service),
    };
  } catch (error) {
    await closeOnce(app, service)();
    throw error;
  }
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    const bound = await app.listen({ host, port });
    return `http://${reachable(host)}:${new URL(bound).port || '80'}`;
  } catch (cause) {
    const what = `the local run service cannot listen on ${host}:${port}: ${errorMessage(cause)}`;
    throw problem('E602', { what, hint: 'port 0 takes any free one' }, { cause });
  }
}

/** The address by which this machine itself reaches what listens on `host`. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return spelled(host);
}

/** As a URL has it. */
const spelled = (host: string): string => (host.includes(':') ? `[${host}]` : host);

function closeOnce(app: FastifyInstance, service: LivingService): () => Promise<void> {
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await app.close();
    await service.close();
  };
  return () => (closed ??= close());
}
