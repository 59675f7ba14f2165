// The service's HTTP interface: all routes and their authentication.

import Fastify from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { boundConnections, isAddressedHere, isForwarded } from '../host/bounded-server.ts';
import { demandSpeed, type LeastSpeed } from '../host/least-speed.ts';
import { openPageLogin, type PageLogin } from '../host/page-login.ts';
import { PATHS } from '../service-client/contract/paths.ts';
import { OwnerRequests } from './owner-requests.ts';
import { MAX_VENDOR_WEBHOOK_BYTES, VENDOR_WEBHOOKS } from '../service-client/contract/vendor-webhook-path.ts';
import { API, authentication, CONTROL, type Tokens } from './auth.ts';
import { serveFiles } from './routes/output-files.ts';
import { serveUploaded, serveUploads, serveUploadUrls } from './routes/upload-requests.ts';
import { serveLists } from './routes/lists.ts';
import { serveLogs } from './routes/run-logs.ts';
import { describeRoutes, serveDocument } from './routes/openapi.ts';
import { serveDashboard } from './dashboard/dashboard.ts';
import { refuseTheRest, notFound, route } from './routes/refusals.ts';
import { serveV1 } from './routes/v1.ts';
import { serveRuns } from './routes/v2.ts';
import type { Service } from './service.ts';
import { RunsheetError } from '../errors/error.ts';
import { z } from 'zod';

const BODY_LIMIT_BYTES = 16 * 1024 * 1024;

export type AppOptions = {
  readonly tokens: Tokens;
  /** `v1` behaves like a service that was not migrated and has no V2 base path. */
  readonly only?: 'v1' | undefined;
  /** Whether only this machine can connect (default: false). */
  readonly listensHere?: boolean;
  /** The access control of the dashboard. */
  readonly pageLogin?: PageLogin;
  /** For tests. */
  readonly limits?: ConnectionLimits | undefined;
};

/** How long a new connection may be idle before its first request. */
const HEADERS_MS = 5_000;

export type ConnectionLimits = { readonly most: number; readonly slow: LeastSpeed };
/** A bad line still carries 1 KiB/s. */
const LIMITS: ConnectionLimits = { most: 4_000, slow: { bytes: 64 * 1024, withinMs: 60_000 } };

/** `routes` lists all routes, such as `GET /api/run/:run_id`. */
export type App = { readonly app: FastifyInstance; readonly routes: readonly string[] };

export function createApp(
  service: Service,
  { tokens, only, listensHere = false, pageLogin = openPageLogin(), limits = LIMITS }: AppOptions,
): App {
  const app = Fastify({
    forceCloseConnections: true,
    http: { headersTimeout: HEADERS_MS, connectionsCheckingInterval: 1_000 },
    bodyLimit: BODY_LIMIT_BYTES,
    // File names appear in paths, and each of their letters can take twelve characters there.
    routerOptions: { maxParamLength: 2_000 },
    exposeHeadRoutes: false,
    frameworkErrors: (error, _request, reply: FastifyReply) =>
      void reply.code(400).send({ detail: error.message }),
  });
  // Behind a proxy, all clients share one address.
  boundConnections(app.server, { most: limits.most, perAddress: limits.most });
  demandSpeed(app.server, limits.slow);
  const requests = new OwnerRequests(limits.most);
  const routes = routesOf(app);
  app.decorateRequest('owner', '');
  if (listensHere)
    app.addHook('onRequest', async (request, reply) => {
      const why = isForwarded(request.raw) ? FORWARDED : isAddressedHere(request.raw) ? undefined : ELSEWHERE;
      if (why !== undefined) await reply.code(403).type('text/plain').send(why);
    });
  app.addHook('onRequest', authentication(tokens));
  app.addHook('onRequest', (request, reply, done) => {
    if (request.owner === '' || requests.enter(request.owner, reply, heldBytes(request))) done();
  });
  app.addHook('onRequest', readAnyType);
  // Bodies stay text, because each route decides which media types it reads and how it parses numbers.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  refuseTheRest(app, service.log);
  describeRoutes(app, service);
  if (only !== 'v1') serveV2(app, service);
  void app.register((files, _options, done) => {
    serveUploaded(files, service, requests);
    done();
  });
  serveVendorWebhooks(app, service, requests);
  serveUploadUrls(app, service);
  serveV1(app, service);
  serveFiles(app, service, requests);
  serveDashboard(app, service, { listensHere, pageLogin });
  // Control reads files and changes what all owners see. It belongs to whoever started the service, who uses
  // this machine and holds every key.
  if (listensHere && tokens.hasOneOwner) serveControl(app, service, tokens);
  return { app, routes };
}

const ELSEWHERE = 'This request was addressed to another host name, or comes from a page of another site.\n';
const FORWARDED =
  'This service is for its own machine, and a proxy has forwarded this request: start the service with --public-url <the address of the proxy>.\n';

/** How many bytes of a request body are held in memory. Uploaded files are streamed and count as 0. */
function heldBytes({ headers, routeOptions }: FastifyRequest): number {
  if (routeOptions.url === `${API}${PATHS.upload}`) return 0;
  const length =
    headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : BODY_LIMIT_BYTES;
  return Math.min(length, BODY_LIMIT_BYTES);
}

/** Collects the routes while they are registered, except those that only refuse. */
function routesOf(app: FastifyInstance): readonly string[] {
  const routes: string[] = [];
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.refuses !== true) routes.push(...[method].flat().map((verb) => `${verb} ${url}`));
  });
  return routes;
}

const MEDIA_TYPE = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/;

// Fastify itself would refuse an invalid media type, but our routes must treat it like any body that is not
// JSON.
function readAnyType({ headers }: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  const type = headers['content-type'];
  if (type !== undefined && !MEDIA_TYPE.test(type)) headers['content-type'] = 'application/octet-stream';
  done();
}

function serveV2(app: FastifyInstance, service: Service): void {
  void app.register(
    (api, _options, done) => {
      serveRuns(api, service);
      serveLists(api, service);
      serveLogs(api, service);
      serveDocument(api);
      done();
    },
    { prefix: API },
  );
  void app.register((api) => serveUploads(api, service), { prefix: API });
}

/** The address is the authentication, so it is checked before the body is read. */
function serveVendorWebhooks(app: FastifyInstance, service: Service, requests: OwnerRequests): void {
  const onRequest = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    if (!service.gpus.isVendorWebhook(request.url)) void reply.code(404).header('connection', 'close').send();
    else if (requests.enter('vendors', reply, heldBytes(request))) done();
  };
  app.post(
    `${VENDOR_WEBHOOKS}/*`,
    { bodyLimit: MAX_VENDOR_WEBHOOK_BYTES, onRequest },
    async (request, reply) => {
      const body = typeof request.body === 'string' ? request.body : '';
      return reply
        .code(await service.gpus.takeVendorWebhook(request.url, { headers: request.headers, body }))
        .send();
    },
  );
}

function serveControl(app: FastifyInstance, service: Service, tokens: Tokens): void {
  route(app, ['GET', 'PUT'], `${CONTROL}/faults`, (request, reply) => {
    if (request.method === 'PUT') {
      const refused = setFaults(service, request.body);
      if (refused !== undefined) return reply.code(422).send({ detail: refused });
    }
    return reply.send({ rates: service.faults.rates(), struck: service.faults.counts() });
  });

  route(app, ['POST'], `${CONTROL}/gpus`, async (request, reply) => {
    try {
      const added = await service.gpus.add(JSON.parse(typeof request.body === 'string' ? request.body : ''));
      const deployments = added.deployments.map(({ id, name, notes }) => ({ id, name, notes }));
      return await reply.send({ deployments, servers: added.servers });
    } catch (error) {
      return refusedControl(reply, error);
    }
  });

  route(app, ['GET', 'POST'], `${CONTROL}/servers`, async (request, reply) => {
    const { known: servers } = service.gpus;
    try {
      if (request.method === 'POST') {
        const { forget, instead } = forgottenSchema.parse(JSON.parse(String(request.body)));
        await servers.forget(forget, instead);
      }
      return await reply.send(servers.list());
    } catch (error) {
      return refusedControl(reply, error);
    }
  });

  route(app, ['POST'], `${CONTROL}/tokens/:token/revoke`, (request, reply) => {
    const { token } = request.params as { readonly token: string };
    return tokens.revoke(token) ? reply.send({ revoked: true }) : notFound(reply, 'Token not found');
  });

  route(app, ['GET'], `${CONTROL}/ledger`, (_request, reply): FastifyReply =>
    reply.send({ ...service.stats(), sold: service.database.sold(), runs: service.database.byStatus() }),
  );
}

const forgottenSchema = z.strictObject({ forget: z.string(), instead: z.string().optional() });

function refusedControl(reply: FastifyReply, error: unknown): FastifyReply {
  if (error instanceof RunsheetError) {
    const { code, message, hint } = error;
    return reply.code(422).send({ detail: message, code, hint });
  }
  if (error instanceof SyntaxError || error instanceof z.ZodError)
    return reply.code(422).send({ detail: error.message });
  throw error;
}

/** Sets the rates. Returns the reason of a refusal, undefined on success. */
function setFaults({ faults }: Service, body: unknown): string | undefined {
  try {
    const rates = JSON.parse(typeof body === 'string' ? body : '') as Record<string, number>;
    faults.set(rates);
    return undefined;
  } catch (error) {
    if (error instanceof RunsheetError || error instanceof SyntaxError) return error.message;
    throw error;
  }
}
