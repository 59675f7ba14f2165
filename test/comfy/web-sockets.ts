// The websockets of the stand-in. A client has an id, and the events of its prompts go to the last socket that came
// with it.

import { hash, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

const TEXT = 1;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
const KEY_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

type Hello = (client: string) => readonly (readonly [event: string, data: object])[];

export class WebSockets {
  readonly #byClient = new Map<string, Duplex>();
  readonly #hello: Hello;
  #thawed: Promise<void>;

  /** `hello` are the events that a new socket gets. */
  constructor(hello: Hello, thawed: Promise<void>) {
    this.#hello = hello;
    this.#thawed = thawed;
  }

  /** Nothing is sent until then; what is sent meanwhile comes later. */
  holdUntil(thawed: Promise<void>): void {
    this.#thawed = thawed;
  }

  async accept({ url = '', headers }: IncomingMessage, socket: Duplex): Promise<void> {
    // A reset by the client is an end like any other.
    socket.on('error', () => undefined);
    await this.#thawed;
    const client =
      new URL(url, 'http://any').searchParams.get('clientId') || randomUUID().replaceAll('-', '');
    const accepted = hash('sha1', `${headers['sec-websocket-key']}${KEY_SUFFIX}`, 'base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accepted}\r\n\r\n`,
    );
    this.#byClient.set(client, socket);
    // Like in ComfyUI, the end of an older socket with this id takes away the newer socket's events.
    socket.on('close', () => this.#byClient.delete(client));
    listenTo(socket, (kind, payload) => void this.#heard(socket, kind, payload));
    for (const [event, data] of this.#hello(client)) this.send(event, data, client);
  }

  send(event: string, data: object, client?: string): void {
    const message = Buffer.from(JSON.stringify({ type: event, data }));
    const sockets = client === undefined ? [...this.#byClient.values()] : [this.#byClient.get(client)];
    void this.#thawed.then(() => sockets.forEach((socket) => socket?.write(frame(TEXT, message))));
  }

  async #heard(socket: Duplex, kind: number, payload: Buffer): Promise<void> {
    await this.#thawed;
    if (kind === PING) socket.write(frame(PONG, payload));
    if (kind === CLOSE) socket.end(frame(CLOSE, payload));
  }
}

function frame(kind: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head.writeUInt8(0x80 | kind);
  head.writeUInt8(head.length === 2 ? length : head.length === 4 ? 126 : 127, 1);
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

/** Client frames are masked; those of a client of ComfyUI are short and whole. */
function listenTo(socket: Duplex, heard: (kind: number, payload: Buffer) => void): void {
  let left = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    left = Buffer.concat([left, bytes]);
    for (;;) {
      const isLong = (left.at(1) ?? 0) === (0x80 | 126);
      const start = isLong ? 8 : 6;
      if (left.length < start) return;
      const end = start + (isLong ? left.readUInt16BE(2) : left.readUInt8(1) & 0x7f);
      if (left.length < end) return;
      const mask = left.subarray(start - 4, start);
      const payload = Buffer.from(left.subarray(start, end).map((byte, at) => byte ^ (mask[at % 4] ?? 0)));
      heard(left.readUInt8(0) & 0x0f, payload);
      left = left.subarray(end);
    }
  });
}
