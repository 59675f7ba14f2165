// A TCP server that responds correctly until it injects its fault, and records how much of the affected request it received:
// nothing, a part, or the whole.

import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { answer } from './scripted.ts';

export const RUN = '3f1c9f0e-6a56-4d0b-9f9e-0d5f3f6d1a11';
export const OTHER_RUN = '9a1d51c2-24a5-4f6f-8f0e-6f2d7c1b7b22';

/** The faults of a server, and their moments. */
export type Wrong = {
  /** When a client has connected. */
  readonly atAccept?: (socket: Socket) => void;
  /** On a kept connection before the request; call `request` to send it in the same tick. */
  readonly whileIdle?: (socket: Socket, request: () => void) => void;
  /** The server stops reading and does this when the client starts to write the request. */
  readonly unread?: (socket: Socket) => void;
  /** When the server has read the headers; it reads nothing more. */
  readonly atHead?: (socket: Socket) => void;
  /** When the server has read the whole request. */
  readonly atEnd?: (socket: Socket) => unknown;
};

export type Got = 'nothing' | 'part' | 'whole';

export class Wire {
  readonly port: number;
  readonly #server: Server;
  readonly #wrong: Wrong;
  readonly #sockets = new Set<Socket>();
  #isHonest: boolean;
  #got: Got = 'nothing';

  /** `isKept`: the server answers a first request correctly, so that its connection is kept for the faulty one. */
  static async open(wrong: Wrong, isKept: boolean): Promise<Wire> {
    // A socket that has received FIN may still read.
    const server = createServer({
      allowHalfOpen: true,
      pauseOnConnect: wrong.unread !== undefined && !isKept,
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return new Wire(server, wrong, isKept);
  }

  private constructor(server: Server, wrong: Wrong, isKept: boolean) {
    this.port = (server.address() as AddressInfo).port;
    this.#server = server;
    this.#wrong = wrong;
    this.#isHonest = isKept;
    server.on('connection', (socket) => this.#take(socket));
  }

  #take(socket: Socket): void {
    this.#sockets.add(socket);
    // Cut connections are expected here.
    socket.on('error', () => undefined);
    let request = NO_REQUEST;
    socket.on('data', (chunk: Buffer) => {
      request = readOn(request, chunk);
      const got = gotOf(request);
      if (got === 'whole' && this.#isHonest) {
        request = NO_REQUEST;
        this.#answer(socket);
      } else if (!this.#isHonest) this.#wrongTo(socket, request, got);
    });
    if (!this.#isHonest) this.#wrong.atAccept?.(socket);
  }

  #wrongTo(socket: Socket, request: RequestRead, got: Got): void {
    if (got !== 'nothing') this.#got = got;
    if (request.body >= 0 && this.#wrong.atHead !== undefined) {
      socket.pause();
      this.#wrong.atHead(socket);
    } else if (got === 'whole') this.#wrong.atEnd?.(socket);
  }

  #answer(socket: Socket): void {
    this.#isHonest = false;
    if (this.#wrong.unread !== undefined) socket.pause();
    socket.write(answer(200, `{"run_id":"${RUN}"}`));
  }

  /** Calls `request` after the server's fault on the idle connection. */
  beforeRequest(request: () => void): void {
    const [socket] = this.#sockets;
    if (socket === undefined || this.#wrong.whileIdle === undefined) request();
    else this.#wrong.whileIdle(socket, request);
  }

  /** Must be called when the first byte of the request is being written. */
  readonly begun = (): void => {
    if (this.#wrong.unread !== undefined)
      setImmediate(() => this.#sockets.forEach((socket) => this.#wrong.unread?.(socket)));
  };

  /** Returns how much of the request the server has read. Call it after the client has closed its connections. */
  async close(): Promise<Got> {
    const isOver = [...this.#sockets].map(async (socket) => {
      if (socket.isPaused()) socket.destroy();
      // Data that arrived before the end is read first.
      else if (!socket.destroyed && !socket.readableEnded) await once(socket, 'end').catch(() => undefined);
      socket.destroy();
    });
    await Promise.all(isOver);
    this.#server.close();
    return this.#got;
  }
}

/** How much of a request was read; `body` counts its bytes, -1 until the headers are complete. */
type RequestRead = { readonly head: string; readonly body: number };
const NO_REQUEST: RequestRead = { head: '', body: -1 };

function readOn({ head, body }: RequestRead, chunk: Buffer): RequestRead {
  if (body >= 0) return { head, body: body + chunk.length };
  const text = head + chunk.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  return end < 0 ? { head: text, body } : { head: text.slice(0, end), body: text.length - end - 4 };
}

function gotOf({ head, body }: RequestRead): Got {
  if (!head.startsWith('POST ')) return 'nothing';
  return body === Number(/content-length: (\d+)/i.exec(head)?.[1]) ? 'whole' : 'part';
}

/** Writes one byte at a time until all are written or the client has disconnected. */
export async function trickle(socket: Socket, text: string, everyMs: number): Promise<void> {
  for (const byte of text) {
    if (socket.destroyed || !socket.writable) return;
    socket.write(byte);
    await wait(everyMs);
  }
}

const NEVER_ACCEPTS = `
  const { createServer } = require('node:net');
  const { parentPort, workerData } = require('node:worker_threads');
  const server = createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(new Int32Array(workerData), 0, 0));
  });
`;

/** A port at which connecting never ends: the server listens but accepts no connection, and its queue is full. */
export async function openFullPort(): Promise<{
  readonly port: number;
  readonly close: () => Promise<unknown>;
}> {
  const worker = new Worker(NEVER_ACCEPTS, { eval: true, workerData: new SharedArrayBuffer(4) });
  const [port] = (await once(worker, 'message')) as [number];
  const fillers: Socket[] = [];
  for (let isFull = false; !isFull;) {
    const filler = connect(port, '127.0.0.1').on('error', () => undefined);
    fillers.push(filler);
    isFull = await Promise.race([once(filler, 'connect').then(() => false), wait(300, true)]);
  }
  return {
    port,
    close: () => {
      for (const filler of fillers) filler.destroy();
      return worker.terminate();
    },
  };
}
