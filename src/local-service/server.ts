// The local run service: the run service on one machine, in one process, over real HTTP. This file puts the service
// behind its sockets, and takes it down again.

import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { problem, reasonOf } from '../errors.ts';
import { refusalToWire } from '../run-service/contract/refusal.ts';
import { API, authentication, openTokens, V1 } from './auth.ts';
import type { BehaviourName } from './behaviour.ts';
import type { DeploymentSpec } from './deployments.ts';
import { serveControl } from './routes/control.ts';
import { serveFiles } from './routes/files.ts';
import { serveLists } from './routes/lists.ts';
import { serveLive } from './routes/live.ts';
import { serveReference } from './routes/reference.ts';
import { refuseTheRest } from './routes/refusals.ts';
import { serveV1 } from './routes/v1.ts';
import { serveRuns } from './routes/v2.ts';
import { isLoopback } from './webhook-target.ts';
import { createService, type LivingService, type Log, type Stats } from './service.ts';

export {
  DEMO_DEPLOYMENTS,
  deploymentSpecSchema,
  readDeployments,
  type DeploymentSpec,
} from './deployments.ts';
export type { BehaviourName } from './behaviour.ts';
export { FAULTS } from './faults.ts';

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
  /** Rates from 0 to 1 by name; the names are `FAULTS`. */
  readonly faults: Readonly<Record<string, number>>;
  /** Where the specification and the real service differ: which one it is like. Default `specification`. */
  readonly behaviour?: BehaviourName;
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
  /** All that it answers to, as `GET /api/run/:run_id`. */
  readonly routes: readonly string[];
  stats(): Stats;
  /** Stops time, ends every connection and closes the database. Runs go on when a service opens it again. */
  close(): Promise<void>;
};

const BODY_LIMIT_BYTES = 16 * 1024 * 1024;

/** Starts the service; runs of an earlier one on the same database go on. Throws E602 for options that cannot be. */
export async function startLocalService(options: LocalServiceOptions): Promise<LocalService> {
  const { host = '127.0.0.1', log = () => undefined } = options;
  if (!(options.speed > 0)) throw problem('E602', { what: `a speed of ${options.speed} stops all time` });
  const service = createService({ behaviour: 'specification', ...options, log });
  const { app, routes } = createApp(service, options.tokens, isLoopback(spelled(host)));
  try {
    const url = await listen(app, host, options.port);
    service.open(url);
    log('listening', { url });
    return {
      url,
      base: `${url}${API}`,
      legacyBase: `${url}${V1}`,
      routes,
      stats: service.stats,
      close: closeOnce(app, service),
    };
  } catch (error) {
    await closeOnce(app, service)();
    throw error;
  }
}

function createApp(
  service: LivingService,
  tokens: readonly string[],
  listensHere: boolean,
): { readonly app: FastifyInstance; readonly routes: readonly string[] } {
  const app = Fastify({
    forceCloseConnections: true,
    bodyLimit: BODY_LIMIT_BYTES,
    exposeHeadRoutes: false,
    frameworkErrors: (error, _request, reply: FastifyReply) =>
      void reply.code(400).send(refusalToWire(error.message)),
  });
  const routes: string[] = [];
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.refuses !== true) routes.push(...[method].flat().map((one) => `${one} ${url}`));
  });
  const known = openTokens(tokens);
  app.decorateRequest('owner', '');
  app.addHook('onRequest', authentication(known));
  // Bodies stay text: which types are read, and how numbers are, is decided where they are used.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.addHook('onRequest', readAnyType);
  refuseTheRest(app, service.log);
  void app.register(
    (api, _options, done) => {
      serveRuns(api, service);
      serveLists(api, service);
      serveReference(api, service);
      done();
    },
    { prefix: API },
  );
  serveV1(app, service);
  serveFiles(app, service);
  serveLive(app, service, listensHere);
  serveControl(app, service, known);
  return { app, routes };
}

const MEDIA_TYPE = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/;

// What is no media type is no JSON either; the framework would refuse it before anyone could say so.
function readAnyType({ headers }: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  const type = headers['content-type'];
  if (type !== undefined && !MEDIA_TYPE.test(type)) headers['content-type'] = 'application/octet-stream';
  done();
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    const bound = await app.listen({ host, port });
    return `http://${reachable(host)}:${new URL(bound).port || '80'}`;
  } catch (cause) {
    const what = `the local run service cannot listen on ${host}:${port}: ${reasonOf(cause)}`;
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
