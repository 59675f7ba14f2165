// Sends malformed responses like those of faulty proxies and failing services.

import { pipeline } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import type { MalformedResponse } from '../faults.ts';

const FLOOD_BYTES = 64 << 20;
const HEADERS_BYTES = 64 << 10;
const DEPTH = 100_000;
const TRICKLE_MS = 1_000;

type Send = (reply: FastifyReply, honest: string) => FastifyReply;
type RawReply = FastifyReply['raw'];

const ID = /"(run_id|id)": ?"([^"]*)"/;
const OK = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

/** Sends another body instead of the correct JSON. */
const json =
  (text: (honest: string) => string | Buffer): Send =>
  (reply, honest) =>
    reply.type('application/json').send(text(honest));

const page =
  (status: number, type: string, text: string): Send =>
  (reply) =>
    reply.code(status).type(type).send(text);

/** Sends raw bytes that no framework would send. */
const raw =
  (act: (answer: RawReply, honest: string) => unknown): Send =>
  (reply, honest) => {
    reply.hijack();
    void act(reply.raw, honest);
    return reply;
  };

/** Sends a malformed response instead of `honest`, the correct JSON text. */
export const malform = (kind: MalformedResponse, reply: FastifyReply, honest: string): FastifyReply =>
  SEND[kind](reply, honest);

const SEND: Readonly<Record<MalformedResponse, Send>> = {
  drop: raw((answer) => answer.destroy()),
  reset: raw((answer) => answer.socket?.resetAndDestroy()),
  // The connection ends when the client gives up.
  silence: raw(() => undefined),
  interim: raw((answer) => answer.writeEarlyHints({ link: '</nothing>; rel=preload' })),
  head: raw((answer) => answer.socket?.end('HTTP/1.1 200 OK\r\nContent-Le')),
  short: raw((answer, honest) =>
    answer.socket?.end(`${OK}Content-Length: ${honest.length + 1_000}\r\n\r\n${honest}`),
  ),
  trickle: raw(trickle),
  flood: raw(flood),
  error: page(500, 'text/plain; charset=utf-8', 'Internal Server Error'),
  gateway: page(502, 'text/html', '<html><h1>502 Bad Gateway</h1></html>'),
  garbage: page(200, 'text/html', '<html>It works!</html>'),
  truncated: json((honest) => honest.slice(0, honest.length / 2)),
  nan: json((honest) => honest.replace(ID, '"$1": NaN')),
  twice: json((honest) => honest.replace(ID, '"$1": "other", "$1": "$2"')),
  deep: json(() => `${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`),
  headers: (reply, honest) =>
    reply.header('x-long', 'x'.repeat(HEADERS_BYTES)).type('application/json').send(honest),
  bomb: (reply) => reply.header('content-encoding', 'gzip').type('application/json').send(bomb()),
};

async function trickle(answer: RawReply, honest: string): Promise<void> {
  answer.writeHead(200, { 'content-type': 'application/json' });
  for (const letter of honest) {
    answer.write(letter);
    await new Promise((resolve) => setTimeout(resolve, TRICKLE_MS).unref());
    if (answer.destroyed) return;
  }
  answer.end();
}

function flood(answer: RawReply): void {
  answer.writeHead(200, { 'content-type': 'application/json' });
  // Ends early if the client disconnects.
  pipeline(spaces, answer, () => undefined);
}

function* spaces(): Generator<Buffer> {
  const chunk = Buffer.alloc(1 << 16, ' ');
  for (let sent = 0; sent < FLOOD_BYTES; sent += chunk.length) yield chunk;
}

const BOMB_PARTS = 64;

/** A decompression bomb: one compressed mebibyte, repeated, because gzip files may be concatenated. */
const bomb = (): Buffer => {
  const part = gzipSync(Buffer.alloc(FLOOD_BYTES / BOMB_PARTS, ' '));
  return Buffer.concat(Array.from({ length: BOMB_PARTS }, () => part));
};
