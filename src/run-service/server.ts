// Starts and stops the local run service: a run service on one machine, in one process, over real HTTP.

import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { problem, errorMessage } from '../errors/error.ts';
import { isLoopback } from '../options/loopback.ts';
import { openPageLogin } from '../host/page-login.ts';
import { createApp, type ConnectionLimits } from './app.ts';
import { API, openTokens, V1 } from './auth.ts';
import { DAY_MS, GIB, SERVICE_DEFAULTS } from './service-settings.ts';
import { createWallClock } from './service-time.ts';
import { createService, type RunServiceOptions, type Service } from './service.ts';
import { openCaller } from './webhooks/webhooks.ts';

export {
  DEMO_DEPLOYMENTS,
  deploymentSpecSchema,
  readDeployments,
  type DeploymentsFile,
} from './service-deployments.ts';

export { assertVendorAnswers, serverReport } from './executors/server-report.ts';

type Usual = 'behaviour' | 'keepFilesMs' | 'log' | 'ownerUploadBytes';

export type LocalServiceOptions = Omit<RunServiceOptions, Usual | 'outside' | 'reach'> &
  Partial<Pick<RunServiceOptions, Usual>> & {
    /** Whether webhooks may go to other machines (default: false). */
    readonly webhooksAnywhere?: boolean;
    /** 0 takes any free port. */
    readonly port: number;
    readonly host?: string;
    /** The base of file and upload addresses, if clients reach the service at a different address. */
    readonly publicUrl?: string;
    /** `token`, or `owner:token` if several owners share the service. */
    readonly tokens: readonly string[];
    /** `v1` behaves like a service that was not migrated and has no V2 base path. */
    readonly only?: 'v1' | undefined;
    /** The bounds of connections, for tests. */
    readonly limits?: ConnectionLimits;
  };

/** Starts the service and continues the runs in its database. Throws E602 for invalid options. */
export async function startLocalService(options: LocalServiceOptions) {
  const { host = SERVICE_DEFAULTS.host, log = () => undefined } = options;
  if (!(options.speed > 0))
    throw problem('E602', { what: `the speed is ${options.speed}; it must be greater than 0` });
  const { webhooksAnywhere: anywhere = false } = options;
  const listensHere = options.publicUrl === undefined && isLoopback(host);
  const tokens = openTokens(options.tokens);
  const isAlone = listensHere && tokens.hasOneOwner;
  const service = createService({
    behaviour: SERVICE_DEFAULTS.behaviour,
    reach: anywhere ? 'anywhere' : isAlone ? 'here' : 'nowhere',
    keepFilesMs: SERVICE_DEFAULTS.keepFilesDays * DAY_MS,
    ownerUploadBytes: isAlone ? Number.POSITIVE_INFINITY : SERVICE_DEFAULTS.ownerUploadsGib * GIB,
    ...options,
    log,
    outside: {
      clock: createWallClock,
      newId: () => randomUUID(),
      caller: openCaller({ anywhere }),
    },
  });
  const pageLogin = openPageLogin();
  const publicUrl = options.publicUrl?.replace(/\/+$/, '');
  const { app, routes } = createApp(service, { ...options, tokens, pageLogin, listensHere });
  try {
    const url = await listen(app, host, options.port);
    const address = publicUrl ?? url;
    service.open(address);
    log('listening', { url, address });
    return {
      /** The address on this machine: `http://127.0.0.1:PORT`. */
      url,
      /** The base address of the V2 API for clients. */
      base: `${address}${API}`,
      legacyBase: `${address}${V1}`,
      /** The address of the dashboard, with its secret. */
      dashboardPage: pageLogin.address(url),
      /** The routes, such as `GET /api/run/:run_id`. */
      routes,
      /** Adds the user's GPU servers and workflows; see `givenGpusSchema`. */
      addGpus: (body: unknown) => service.gpus.add(body),
      /** Refuses a token from now on; false if it is unknown. */
      revoke: (token: string) => tokens.revoke(token),
      stats: service.stats,
      /** Stops the clock and closes all connections and the database. Runs resume when a service opens the database again. */
      close: closeOnce(app, service),
    };
  } catch (error) {
    await closeOnce(app, service)();
    throw error;
  }
}

export type LocalService = Awaited<ReturnType<typeof startLocalService>>;

async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    const bound = await app.listen({ host, port });
    return `http://${reachable(host)}:${new URL(bound).port || '80'}`;
  } catch (cause) {
    const what = `the local run service cannot listen on ${host}:${port}: ${errorMessage(cause)}`;
    throw problem('E602', { what, hint: '--port 0 takes any free port' }, { cause });
  }
}

/** The host by which this machine reaches a server that listens on `host`. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

function closeOnce(app: FastifyInstance, service: Service): () => Promise<void> {
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await app.close();
    await service.close();
  };
  return () => (closed ??= close());
}
