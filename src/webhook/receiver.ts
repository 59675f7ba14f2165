// Where the run service calls back. A webhook is a hint (D5): its token must be ours, the run is read with Get Run, and
// only what that says is told to the batch's workflow.
//
//   not ended: remembered; unless the end comes soon, the workflow is told which run this attempt became
//   ended:     told at once, together with the other ends of that moment; answered when Temporal has it
//
// Node's own server, because frameworks drop the body of a GET, and the service's second and third try are GETs.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { End, Seen } from '../batch/messages.ts';
import { boundConnections } from '../connections.ts';
import { reasonOf } from '../errors.ts';
import type { Run } from '../run-service/contract/run.ts';
import { webhookSchema } from '../run-service/contract/webhook.ts';
import { standingOf } from '../run-service/ending.ts';
import type { Delivered } from './outbox.ts';
import { isGenuine, readToken, type Token } from './token.ts';

export type ReceiverHands = {
  readonly secret: string;
  /** Reads a run of that batch; undefined where the service does not know it. */
  getRun(batch: string, runId: string): Promise<Run | undefined>;
  tellEnd(batch: string, end: End): Promise<Delivered>;
  tellSeen(batch: string, seen: Seen): Promise<Delivered>;
  readonly log: Logger;
};

export type Receiver = {
  /** `http://host:port` as it listens. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
};

const BODY_BYTES_MAX = 1 << 20;
const SEEN_AFTER_MS = 5_000;
/** Node looks for those that take longer once in an interval, half a minute unless told. */
const LIMITS = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 30_000,
  connectionsCheckingInterval: 1_000,
};
/** A proxy in front of the receiver has one address for all webhooks, so one address may have nearly all connections. */
const CONNECTIONS = { most: 2_000, perAddress: 1_500 };
const TOLD_MAX = 20_000;

/** Listens; port 0 takes any. Rejects where the port is taken. */
export async function openReceiver(
  hands: ReceiverHands,
  listen: { readonly host: string; readonly port: number },
): Promise<Receiver> {
  const desk = openDesk(hands);
  const server = createServer(LIMITS);
  const connections = boundConnections(server, CONNECTIONS);
  server.on('request', (request, response) => {
    connections.busy(request.socket);
    response.once('close', () => connections.idle(request.socket));
    void respond(desk, hands, request, response);
  });
  await listening(server, listen);
  const { port } = server.address() as AddressInfo;
  return { url: `http://${listen.host}:${port}`, port, close: () => closing(server, desk) };
}

function listening(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((done, failed) => {
    server.once('error', failed);
    server.listen(port, host, () => {
      server.off('error', failed);
      done();
    });
  });
}

function closing(server: Server, desk: Desk): Promise<void> {
  desk.close();
  return new Promise((done) => {
    server.close(() => done());
    server.closeIdleConnections();
  });
}

async function respond(
  desk: Desk,
  hands: ReceiverHands,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const status = await handle(desk, hands, request).catch((error: unknown) => {
    hands.log.warn({ reason: reasonOf(error) }, 'a webhook could not be passed on; its sender may try again');
    return 503;
  });
  // Whoever was turned away has nothing more to send.
  response
    .writeHead(status, {
      'content-type': 'application/json',
      ...(status === 200 || status === 503 ? {} : { connection: 'close' }),
    })
    .end(status === 200 ? '{"ok":true}' : undefined);
}

/** The status to answer with. */
async function handle(desk: Desk, { secret }: ReceiverHands, request: IncomingMessage): Promise<number> {
  if (request.url === '/healthz') return 200;
  const token = readToken(request.url);
  if (token === undefined || !isGenuine(token, secret)) return 404;
  const body = await readBody(request);
  if (body === undefined) return 413;
  const hint = webhookSchema.safeParse(jsonOf(body));
  if (!hint.success) return 400;
  await desk.take(token, hint.data);
  return 200;
}

/** undefined where it is too long; the rest of it is not waited for. */
function readBody(request: IncomingMessage): Promise<string | undefined> {
  return new Promise((done, failed) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.byteLength;
      if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
      else done(undefined);
    });
    request.on('end', () => done(Buffer.concat(chunks).toString('utf8')));
    request.on('error', failed);
  });
}

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    // What is not JSON fails the schema like any other wrong body.
    return reasonOf(error);
  }
}

type Hint = { readonly runId: string; readonly status: string };
type Desk = { take(token: Token, hint: Hint): Promise<void>; close(): void };

/** Remembers what was told, so that a repeated webhook costs nothing, and which attempts were seen but not yet told. */
function openDesk(hands: ReceiverHands): Desk {
  const told = new Set<string>();
  const seen = new Map<string, NodeJS.Timeout>();

  const remember = (name: string): void => {
    told.add(name);
    const [oldest] = told.size > TOLD_MAX ? told : [];
    if (oldest !== undefined) told.delete(oldest);
  };

  const see = (name: string, token: Token, hint: Hint): void => {
    if (seen.has(name) || told.has(`seen ${name}`)) return;
    const timer = setTimeout(() => void tellSeen(name, token, hint), SEEN_AFTER_MS).unref();
    seen.set(name, timer);
  };

  const tellSeen = async (name: string, token: Token, hint: Hint): Promise<void> => {
    seen.delete(name);
    try {
      const run = await ownRun(hands, token, hint);
      if (run) await hands.tellSeen(token.batch, { row: token.row, attempt: token.attempt, runId: run.id });
      remember(`seen ${name}`);
    } catch (error) {
      hands.log.warn(
        { batch: token.batch, row: token.row, reason: reasonOf(error) },
        'a seen run could not be told; the next webhook tries again',
      );
    }
  };

  return {
    take: async (token, hint) => {
      const name = `${token.batch}/${token.row}/${token.attempt}/${hint.runId}`;
      if (told.has(name)) return;
      const end = mayHaveEnded(hint) ? await confirmedEnd(hands, token, hint) : undefined;
      if (end === undefined) return see(name, token, hint);
      clearTimeout(seen.get(name));
      seen.delete(name);
      await hands.tellEnd(token.batch, end);
      remember(name);
    },
    close: () => {
      for (const timer of seen.values()) clearTimeout(timer);
      seen.clear();
    },
  };
}

/** Statuses that certainly do not end a run spare a Get Run; an unknown one is looked at. */
const mayHaveEnded = ({ status }: Hint): boolean =>
  !['not-started', 'queued', 'started', 'running', 'uploading'].includes(status);

async function confirmedEnd(hands: ReceiverHands, token: Token, hint: Hint): Promise<End | undefined> {
  const run = await ownRun(hands, token, hint);
  const standing = run && standingOf(run);
  if (run === undefined || standing?.kind !== 'ended') return undefined;
  const { row, attempt } = token;
  const { outcome, reason } = standing;
  return { row, attempt, runId: run.id, outcome, ...(reason === undefined ? {} : { reason }) };
}

/** R7: the run, if its own webhook names this attempt. */
async function ownRun(hands: ReceiverHands, token: Token, hint: Hint): Promise<Run | undefined> {
  const run = await hands.getRun(token.batch, hint.runId);
  const own = readToken(run?.webhook);
  const isOurs = own?.batch === token.batch && own.row === token.row && own.attempt === token.attempt;
  if (run !== undefined && !isOurs)
    hands.log.warn(
      { batch: token.batch, row: token.row, attempt: token.attempt, run: hint.runId },
      'a webhook named a run of another attempt',
    );
  return isOurs && run?.id === hint.runId ? run : undefined;
}
