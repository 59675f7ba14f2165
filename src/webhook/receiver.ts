// The HTTP server for the run service's webhooks. Their addresses contain tokens that only the holder of the secret
// can create. The receiver uses Node's own server, because frameworks drop the body of a GET, and the service's
// second and third delivery are GETs.

import { jsonIn } from '../errors/outside-text.ts';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import {
  openServer,
  readBody,
  type Connections,
  type Listen,
  isAddressedHere,
} from '../host/bounded-server.ts';
import { errorMessage } from '../errors/error.ts';
import { webhookSchema } from '../service-client/contract/run.ts';
import { WebhookHandler, type HandlerDeps } from './handler.ts';
import { isVendorWebhook, openVendorWebhooks, type ServiceOrigins } from './forwarded-webhooks.ts';
import { isGenuine, isOldToken, readToken } from './webhook-token.ts';

export type ReceiverDeps = HandlerDeps & {
  readonly secret: string;
  /** Whether only programs of this machine send webhooks. */
  readonly onlyHere?: boolean;
  /** The run services that vendors may tell something. */
  readonly serviceOrigins?: ServiceOrigins | undefined;
  /** Called with the status of each answer. */
  readonly answered?: ((status: number) => void) | undefined;
};

export type Receiver = Awaited<ReturnType<typeof openReceiver>>;

const MAX_BODY_BYTES = 1 << 20;
/** Node checks these timeouts only once per interval (default: 30 s). */
const LIMITS = {
  // Behind a proxy all webhooks come from one address, so one address may use nearly all connections.
  connections: { most: 2_000, perAddress: 1_500 },
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 30_000,
  connectionsCheckingInterval: 1_000,
};
type State = { isDraining: boolean; readonly vendorWebhook: ReturnType<typeof openVendorWebhooks> };

/** Starts listening; port 0 takes any free port, and so does a port in use with `orAny`. */
export async function openReceiver(deps: ReceiverDeps, listen: Listen, orAny = false) {
  const handler = new WebhookHandler(deps);
  const state: State = {
    isDraining: false,
    vendorWebhook: openVendorWebhooks(deps.serviceOrigins ?? (() => [])),
  };
  const requests = new Set<IncomingMessage>();
  const { server, connections, port } = await openServer(
    { ...LIMITS, orAny },
    listen,
    (request, response) => {
      requests.add(request);
      response.once('close', () => requests.delete(request));
      void respond(handler, deps, state, request, response);
    },
  );
  return {
    /** `http://host:port` of the listening server. */
    url: `http://${listen.host}:${port}`,
    port,
    /** Whether a balancer should send webhooks here. */
    isReady: () => server.listening && !state.isDraining,
    /** Stops being ready, but answers every webhook until the server is closed. */
    drain: () => void (state.isDraining = true),
    close: async (): Promise<void> => {
      // Each answer closes its connection, which would otherwise stay open for seconds.
      state.isDraining = true;
      await closing(server, { connections, requests, handler });
    },
  };
}

type Open = {
  readonly connections: Connections;
  readonly requests: ReadonlySet<IncomingMessage>;
  readonly handler: WebhookHandler;
};

/** Handles webhooks that have arrived completely; waits for the remaining bytes of others as long as usual. */
async function closing(server: Server, { connections, requests, handler }: Open): Promise<void> {
  // Node no longer checks its timeouts.
  const late = setTimeout(() => {
    for (const request of requests) if (!request.complete) request.destroy();
  }, LIMITS.requestTimeout);
  const closed = new Promise<void>((done) => {
    server.close(() => done());
    connections.closeIdle();
  });
  await Promise.all([closed, handler.close()]);
  clearTimeout(late);
}

async function respond(
  handler: WebhookHandler,
  deps: ReceiverDeps,
  state: State,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const status = await handle(handler, deps, state, request).catch((error: unknown) => {
    deps.log.warn(
      { reason: errorMessage(error) },
      'a webhook could not be processed; the service may send it again',
    );
    return 503;
  });
  if (!CHECKS.has(request.url ?? '')) deps.answered?.(status);
  // Closes the connection of a rejected sender, and in time the connections that this receiver would lose when it
  // closes.
  const isKept = (status === 200 || status === 503) && !state.isDraining;
  // Senders read only the status, and a body costs time with every webhook.
  response.writeHead(status, { 'content-length': 0, ...(isKept ? {} : { connection: 'close' }) }).end();
}

/** The path that answers while the process lives. */
const HEALTH = '/healthz';
/** The path that tells a balancer whether to send webhooks here. */
const READY = '/readyz';
const CHECKS: ReadonlySet<string> = new Set([HEALTH, READY]);

/** Returns the status of the response. */
async function handle(
  handler: WebhookHandler,
  { secret, onlyHere = false }: ReceiverDeps,
  { isDraining, vendorWebhook }: State,
  request: IncomingMessage,
): Promise<number> {
  if (onlyHere && !isAddressedHere(request)) return 403;
  if (request.url === HEALTH) return 200;
  if (request.url === READY) return isDraining ? 503 : 200;
  if (isVendorWebhook(request.url ?? '')) return vendorWebhook(request);
  if (isOldToken(request.url)) return 410;
  const token = readToken(request.url);
  if (token === undefined || !isGenuine(token, secret)) return 404;
  const body = await readBody(request, MAX_BODY_BYTES);
  if (body === undefined) return 413;
  const hint = webhookSchema.safeParse(jsonIn(body));
  if (!hint.success) return 400;
  await handler.handle(token, hint.data);
  return 200;
}
