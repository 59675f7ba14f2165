// A server of bare TCP that answers honestly until it is told to do wrong, and knows of the order that it did wrong to
// how much of it arrived: nothing, a part, or the whole.

import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { answer } from './scripted.ts';

export const RUN = '3f1c9f0e-6a56-4d0b-9f9e-0d5f3f6d1a11';
export const OTHER_RUN = '9a1d51c2-24a5-4f6f-8f0e-6f2d7c1b7b22';

/** What a server does wrong, and when. */
export type Wrong = {
  /** As soon as somebody has connected. */
  readonly atAccept?: (socket: Socket) => void;
  /** On a connection that is kept, before the order; the order is sent when this is done, in the same moment. */
  readonly whileIdle?: (socket: Socket, order: () => void) => void;
  /** The server stops reading; this happens once the order is on the wire. */
  readonly unread?: (socket: Socket) => void;
  /** Once the head of the order is read; nothing more is. */
  readonly atHead?: (socket: Socket) => void;
  /** Once the whole order is read. */
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

  /** `isKept`: the first request is answered honestly, so that its connection is there for the order. */
  static async open(wrong: Wrong, isKept: boolean): Promise<Wire> {
    // A side that was told good-bye may still listen.
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
    // A connection that is cut is what this is about.
    socket.on('error', () => undefined);
    let order = NO_ORDER;
    socket.on('data', (chunk: Buffer) => {
      order = readOn(order, chunk);
      const got = gotOf(order);
      if (got === 'whole' && this.#isHonest) {
        order = NO_ORDER;
        this.#answer(socket);
      } else if (!this.#isHonest) this.#wrongTo(socket, order, got);
    });
    if (!this.#isHonest) this.#wrong.atAccept?.(socket);
  }

  #wrongTo(socket: Socket, order: Order, got: Got): void {
    if (got !== 'nothing') this.#got = got;
    if (order.body >= 0 && this.#wrong.atHead !== undefined) {
      socket.pause();
      this.#wrong.atHead(socket);
    } else if (got === 'whole') this.#wrong.atEnd?.(socket);
  }

  #answer(socket: Socket): void {
    this.#isHonest = false;
    if (this.#wrong.unread !== undefined) socket.pause();
    socket.write(answer(200, `{"run_id":"${RUN}"}`));
  }

  /** Does `order` when the server has done what it does to an idle connection. */
  beforeOrder(order: () => void): void {
    const [socket] = this.#sockets;
    if (socket === undefined || this.#wrong.whileIdle === undefined) order();
    else this.#wrong.whileIdle(socket, order);
  }

  /** To be told when the first byte of the order is being written. */
  readonly begun = (): void => {
    if (this.#wrong.unread !== undefined)
      setImmediate(() => this.#sockets.forEach((one) => this.#wrong.unread?.(one)));
  };

  /** How much of the order the server has read; to be asked when the client's connections are gone. */
  async close(): Promise<Got> {
    const isOver = [...this.#sockets].map(async (socket) => {
      if (socket.isPaused()) socket.destroy();
      // Whatever arrived before the end is read before it.
      else if (!socket.destroyed && !socket.readableEnded) await once(socket, 'end').catch(() => undefined);
      socket.destroy();
    });
    await Promise.all(isOver);
    this.#server.close();
    return this.#got;
  }
}

/** As far as an order was read; `body` counts its bytes, -1 while the head goes on. */
type Order = { readonly head: string; readonly body: number };
const NO_ORDER: Order = { head: '', body: -1 };

function readOn({ head, body }: Order, chunk: Buffer): Order {
  if (body >= 0) return { head, body: body + chunk.length };
  const text = head + chunk.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  return end < 0 ? { head: text, body } : { head: text.slice(0, end), body: text.length - end - 4 };
}

function gotOf({ head, body }: Order): Got {
  if (!head.startsWith('POST ')) return 'nothing';
  return body === Number(/content-length: (\d+)/i.exec(head)?.[1]) ? 'whole' : 'part';
}

/** Writes bytes one at a time until they are over or nobody is there any more. */
export async function trickle(socket: Socket, text: string, everyMs: number): Promise<void> {
  for (const byte of text) {
    if (socket.destroyed || !socket.writable) return;
    socket.write(byte);
    await wait(everyMs);
  }
}

const ACCEPTS_NOBODY = `
  const { createServer } = require('node:net');
  const { parentPort, workerData } = require('node:worker_threads');
  const server = createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(new Int32Array(workerData), 0, 0));
  });
`;

/** A port at which connecting never comes to an end: somebody listens, accepts nobody, and the queue is full. */
export async function openFullPort(): Promise<{
  readonly port: number;
  readonly close: () => Promise<unknown>;
}> {
  const worker = new Worker(ACCEPTS_NOBODY, { eval: true, workerData: new SharedArrayBuffer(4) });
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
