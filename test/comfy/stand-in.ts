// A ComfyUI without models, for tests: real HTTP and websockets on loopback, real files, and faults on demand. It
// behaves as the recordings of a real one do; `kill` and `start` are the death and the new start of its process.

import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { ComfyProcess, type Executed, type Owner } from './comfy-process.ts';
import { ImageFiles } from './image-files.ts';
import { NODE_CLASSES } from './node-classes.ts';
import { answer, type Answer } from './routes.ts';

export type StandInOptions = {
  /** Gets `output`, `input` and `temp`. Several servers may share it. */
  readonly folder: string;
  /** A free one unless it is given; the same after each start. */
  readonly port?: number;
  readonly device?: string;
  /** How many times as long as asked its Sleep takes (default: 1). */
  readonly slowness?: number;
  /** The options of CheckpointLoaderSimple. */
  readonly checkpoints?: readonly string[];
  /** Node classes that this server lacks. */
  readonly without?: readonly string[];
  /** Requests without this header are refused with 401, as by a proxy in front of it. */
  readonly authorization?: string;
};

/** How a request is answered instead, `done` or not done before: with a status, half of the answer, a reset or never. */
export type Fault = { readonly done: boolean; readonly with: number | 'half' | 'reset' | 'silence' };

type Life = { readonly process: ComfyProcess; readonly server: Server; readonly connections: Set<Socket> };

export class ComfyStandIn
  extends EventEmitter<{ began: [Executed]; ended: [Executed]; faulty: [path: string] }>
  implements Owner
{
  /** All that was ever executed, in all lives. */
  readonly executions: Executed[] = [];
  /** The folder of results. */
  readonly output: string;
  historyLimit = 10_000;
  checkpoints: readonly string[];
  breaks = (_text: string): boolean => false;
  /** Replaces answers, so that it lies. */
  alters = (_request: IncomingMessage, truth: Answer): Answer => truth;
  /** The names of its node classes. */
  readonly classes: Set<string>;
  files: ImageFiles;
  thawed: Promise<void> = Promise.resolve();
  readonly slowness: number;
  readonly #options: StandInOptions;
  readonly #faults: { readonly path: string; readonly fault: Fault }[] = [];
  #isFrozen = false;
  #port: number;
  #life: Life | undefined;
  #thaw: () => void = () => undefined;
  #alarm = new AbortController();

  constructor(options: StandInOptions) {
    super();
    this.#options = options;
    this.slowness = options.slowness ?? 1;
    this.#port = options.port ?? 0;
    this.checkpoints = options.checkpoints ?? ['sd15.safetensors'];
    this.classes = new Set(Object.keys(NODE_CLASSES).filter((name) => !options.without?.includes(name)));
    this.output = join(options.folder, 'output');
    this.files = new ImageFiles(options.folder);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get awake(): AbortSignal {
    return this.#alarm.signal;
  }

  async start(): Promise<void> {
    this.files = new ImageFiles(this.#options.folder);
    const process = new ComfyProcess(this);
    const life: Life = { process, server: createServer(), connections: new Set() };
    this.#life = life;
    life.server.on('connection', (socket) => {
      life.connections.add(socket);
      socket.on('close', () => life.connections.delete(socket));
    });
    life.server.on('request', (incoming, response) => void this.#serve(life, incoming, response));
    life.server.on('upgrade', (incoming, socket) =>
      this.#refuses(incoming) ? socket.destroy() : void process.sockets.accept(incoming, socket),
    );
    life.server.listen(this.#port, '127.0.0.1');
    await once(life.server, 'listening');
    this.#port = (life.server.address() as AddressInfo).port;
  }

  /** Queue, history, cache and connections are gone; files stay. */
  async kill(): Promise<void> {
    const life = this.#life;
    if (!life) return;
    this.#life = undefined;
    life.process.kill();
    this.thaw();
    const closed = once(life.server, 'close');
    life.server.close();
    for (const socket of life.connections) socket.resetAndDestroy();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  /** Connections are accepted, and nothing else happens until `thaw`. */
  freeze(): void {
    // Requests that wait for the thaw must not wait forever.
    if (this.#isFrozen) return;
    this.#isFrozen = true;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.thawed = promise;
    this.#thaw = resolve;
    this.#life?.process.sockets.holdUntil(promise);
  }

  thaw(): void {
    this.#isFrozen = false;
    this.#thaw();
  }

  /** Ends the current step of a Sleep at once, so that a test can make it last as long as it likes. */
  wake(): void {
    // Not before a prompt that has just begun comes to its Sleep.
    setImmediate(() => {
      const alarm = this.#alarm;
      this.#alarm = new AbortController();
      alarm.abort();
    });
  }

  /** Spoils the answer to the next request to this path (`POST /queue`: only so), or to one below it; emits `faulty` when that has happened. */
  answerNext(path: string, fault: Fault): void {
    this.#faults.push({ path, fault });
  }

  async #serve(life: Life, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', this.url);
    const body = await buffer(incoming).catch(() => undefined);
    await this.thawed;
    // The client went away before its body was complete, or the process died.
    if (body === undefined || life !== this.#life) return;
    const refused = this.#refuses(incoming);
    if (refused) return void response.writeHead(refused).end();
    const { method = 'GET', headers } = incoming;
    const fault = this.#takeFault(method, url.pathname);
    if (fault?.done === false) return this.#spoil(fault, url, incoming, response);
    const { files, checkpoints, classes, breaks } = this;
    const device = this.#options.device ?? 'cpu';
    const request = { method, url, type: headers['content-type'] ?? '', body };
    const at = { files, checkpoints, classes, breaks, process: life.process, device };
    const made = this.alters(incoming, await answer(at, request));
    if (fault) return this.#spoil(fault, url, incoming, response, made.body);
    response
      .writeHead(made.status, { ...made.headers, 'content-length': made.body?.length ?? 0 })
      .end(made.body);
  }

  #spoil(
    { with: how }: Fault,
    { pathname }: URL,
    { socket }: IncomingMessage,
    response: ServerResponse,
    body: Uint8Array = new Uint8Array(),
  ): void {
    this.emit('faulty', pathname);
    if (typeof how === 'number') response.writeHead(how).end('spoilt');
    else if (how === 'reset') socket.resetAndDestroy();
    else if (how === 'half')
      response
        .writeHead(200, { 'content-length': body.length })
        .write(body.subarray(0, body.length / 2), () => socket.destroy());
  }

  #takeFault(method: string, path: string): Fault | undefined {
    const at = this.#faults.findIndex(
      (fault) => [path, `${method} ${path}`].includes(fault.path) || path.startsWith(`${fault.path}/`),
    );
    return at < 0 ? undefined : this.#faults.splice(at, 1)[0]?.fault;
  }

  /** The status that refuses a request before ComfyUI looks at it: a page of another origin, or no key. */
  #refuses({ headers }: IncomingMessage): 401 | 403 | undefined {
    const { authorization } = this.#options;
    if (authorization !== undefined && headers.authorization !== authorization) return 401;
    return headers.origin !== undefined && new URL(headers.origin).host !== headers.host ? 403 : undefined;
  }

  executes(executed: Executed, replaces: Executed | undefined): void {
    if (replaces === undefined) this.executions.push(executed);
    else this.executions[this.executions.indexOf(replaces)] = executed;
    this.emit(replaces === undefined ? 'began' : 'ended', executed);
  }
}
