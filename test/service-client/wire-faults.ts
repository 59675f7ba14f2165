// Lists every fault that can happen on the wire between a request and its response.

import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { answer } from './scripted.ts';
import { OTHER_RUN, RUN, trickle, type Wrong } from './wire.ts';

export type WireFault = Wrong & {
  readonly what: string;
  /** Default: both. A connection opened for the request, or one kept open by an earlier request. */
  readonly connections?: readonly ('new' | 'kept')[];
  /** Default: both. The size matters only while the request is being sent. */
  readonly bodies?: readonly ('small' | '8 MB')[];
  /** Where the request goes instead of the server's own port. */
  readonly base?: 'closed port' | 'no name' | 'full' | 'https';
  /** Whether all connections are busy with other requests. */
  readonly isBusy?: true;
  /** The whole call may take this long. */
  readonly deadlineMs?: number;
  /** `beforeSend` throws. */
  readonly isShut?: true;
};

const HONEST = answer(200, `{"run_id":"${RUN}"}`);
const OK = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
/** Long enough to read 8 MB on a busy machine. */
export const PATIENCE_MS = 1_500;
const SLOWLY_MS = 100;

const says =
  (text: string | Buffer) =>
  (socket: Socket): void =>
    void socket.write(text);
const resets = (socket: Socket): void => void socket.resetAndDestroy();
const ends = (socket: Socket): void => void socket.end();
const json = (text: string): { atEnd: (socket: Socket) => void } => ({ atEnd: says(answer(200, text)) });

const bomb = (): Buffer => gzipSync(Buffer.alloc(32 << 20, ' '));
const zipped = (bytes: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`${OK}content-encoding: gzip\r\ncontent-length: ${bytes.length}\r\n\r\n`),
    bytes,
  ]);

const CONNECTING: readonly WireFault[] = [
  { what: 'the last check before sending fails', isShut: true },
  { what: 'no server listens', connections: ['new'], base: 'closed port' },
  { what: 'the host name is unknown', connections: ['new'], base: 'no name' },
  { what: 'connecting stalls', connections: ['new'], base: 'full', deadlineMs: 60_000 },
  {
    what: 'connecting stalls beyond the deadline',
    connections: ['new'],
    base: 'full',
    deadlineMs: PATIENCE_MS,
  },
  { what: 'TLS stalls', connections: ['new'], base: 'https', deadlineMs: 60_000 },
  { what: 'TLS stalls beyond the deadline', connections: ['new'], base: 'https', deadlineMs: PATIENCE_MS },
  {
    what: 'the server answers TLS with plain HTTP',
    connections: ['new'],
    base: 'https',
    atAccept: says('HTTP/1.1 400 Bad Request\r\n\r\n'),
  },
  {
    what: 'no connection is free before the deadline',
    connections: ['kept'],
    isBusy: true,
    deadlineMs: PATIENCE_MS,
  },
  { what: 'RST at accept', connections: ['new'], atAccept: resets },
];

const CUT: readonly WireFault[] = [
  { what: 'RST later, without reading the request', unread: resets },
  { what: 'RST after the server read the whole request', atEnd: resets },
  { what: 'FIN after accept', connections: ['new'], atAccept: ends },
  { what: 'FIN after the server read the whole request', atEnd: ends },
  {
    what: 'the server has ended the kept connection with FIN',
    connections: ['kept'],
    whileIdle: (socket, request) => void socket.end(request),
  },
  {
    what: 'the server has reset the kept connection with RST',
    connections: ['kept'],
    whileIdle: (socket, request) => {
      socket.resetAndDestroy();
      request();
    },
  },
  {
    what: 'the server has closed the kept connection',
    connections: ['kept'],
    whileIdle: (socket, request) => {
      socket.destroy();
      request();
    },
  },
  {
    what: 'an unsolicited response arrives while the request is sent',
    connections: ['kept'],
    whileIdle: (socket, request) => {
      socket.write(answer(200, `{"run_id":"${OTHER_RUN}"}`));
      request();
    },
  },
  {
    what: 'an unsolicited response arrives before the request is sent',
    connections: ['kept'],
    whileIdle: (socket, request) =>
      void socket.write(answer(200, `{"run_id":"${OTHER_RUN}"}`), () => setImmediate(request)),
    ...json(`{"run_id":"${RUN}"}`),
  },
];

const SLOW: readonly WireFault[] = [
  {
    what: 'silence after the server read the whole request',
    deadlineMs: PATIENCE_MS,
    atEnd: () => undefined,
  },
  { what: 'silence, without reading the request', deadlineMs: PATIENCE_MS, unread: () => undefined },
  {
    what: '103 Early Hints, then silence',
    deadlineMs: PATIENCE_MS,
    atEnd: says('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'),
  },
  {
    what: 'the headers arrive one byte at a time, beyond the deadline',
    deadlineMs: PATIENCE_MS,
    atEnd: (socket) => trickle(socket, HONEST, SLOWLY_MS),
  },
  {
    what: 'the body stalls',
    deadlineMs: PATIENCE_MS,
    atEnd: says(`${OK}content-length: 49\r\n\r\n{"run_id":`),
  },
  {
    what: 'the body arrives one byte at a time, beyond the deadline',
    deadlineMs: PATIENCE_MS,
    atEnd: (socket) => {
      socket.write(`${OK}content-length: 49\r\n\r\n`);
      return trickle(socket, `{"run_id":"${RUN}"}`, SLOWLY_MS);
    },
  },
  {
    what: 'the response arrives one byte at a time, within the deadline',
    atEnd: (socket) => trickle(socket, HONEST, 2),
  },
];

const NONSENSE: readonly WireFault[] = [
  {
    what: 'the headers are cut with FIN',
    atEnd: (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Le'),
  },
  {
    what: 'the body is cut with FIN',
    atEnd: (socket) => void socket.end(`${OK}content-length: 49\r\n\r\n{"run_id":`),
  },
  {
    what: 'the body is cut with RST',
    atEnd: (socket) =>
      void socket.write(`${OK}content-length: 49\r\n\r\n{"run_id":`, () => setTimeout(resets, 50, socket)),
  },
  {
    what: 'Content-Length is larger than the body, then FIN',
    atEnd: (socket) => void socket.end(`${OK}content-length: 1049\r\n\r\n{"run_id":"${RUN}"}`),
  },
  {
    what: 'Content-Length is smaller than the body',
    atEnd: says(`${OK}content-length: 20\r\n\r\n{"run_id":"${RUN}"}`),
  },
  {
    what: 'two Content-Lengths',
    atEnd: says(`${OK}content-length: 49\r\ncontent-length: 20\r\n\r\n{"run_id":"${RUN}"}`),
  },
  { what: 'not HTTP', atEnd: says('hello\r\n\r\n') },
  {
    what: '101 Switching Protocols',
    atEnd: says('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  },
  {
    what: '64 KiB of headers',
    atEnd: says(`${OK}x-long: ${'x'.repeat(64 << 10)}\r\ncontent-length: 2\r\n\r\n{}`),
  },
  { what: '17 MiB of body', atEnd: (socket) => void socket.write(answer(200, ' '.repeat(17 << 20))) },
  { what: '32 MiB of body in 32 KiB of gzip', atEnd: (socket) => void socket.write(zipped(bomb())) },
  {
    what: '200 with a page',
    atEnd: says(answer(200, '<html>It works!</html>', 'content-type: text/html\r\n')),
  },
  { what: '204', atEnd: says('HTTP/1.1 204 No Content\r\n\r\n') },
  { what: '302', atEnd: says(answer(302, '', 'location: /login\r\n')) },
  { what: '200 without an id', ...json('{}') },
  { what: '200 with NaN instead of the id', ...json('{"run_id": NaN}') },
  { what: '200 with an invalid id', ...json('{"run_id":"1"}') },
  { what: '200 with the id key twice', ...json(`{"run_id":"other","run_id":"${RUN}"}`) },
  { what: '200 with JSON that ends too early', ...json(`{"run_id":"${RUN}"`) },
  { what: '200 with JSON nested 100,000 deep', ...json(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) },
];

const STATUSES: readonly WireFault[] = [
  { what: '200 with an id', ...json(`{"run_id":"${RUN}"}`) },
  { what: '503 before the server read the request', atHead: says(answer(503, '{"detail":"busy"}')) },
  { what: '413 before the server read the request', atHead: says(answer(413, '{"detail":"too large"}')) },
  { what: '429', atEnd: says(answer(429, '{"detail":"slow down"}', 'retry-after: 1\r\n')) },
  { what: '500', atEnd: says(answer(500, 'Internal Server Error', 'content-type: text/plain\r\n')) },
  {
    what: "502 with a gateway's page",
    atEnd: says(answer(502, '<h1>502</h1>', 'content-type: text/html\r\n')),
  },
];

export const WIRE_FAULTS: readonly WireFault[] = [
  ...CONNECTING,
  ...CUT,
  ...SLOW,
  ...NONSENSE.map((fault): WireFault => ({ ...fault, bodies: ['small'] })),
  ...STATUSES,
];
