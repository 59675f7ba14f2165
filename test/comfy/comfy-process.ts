// The state of the stand-in that a kill erases. A single worker executes the prompts of the queue in their order.

import { setTimeout as wait } from 'node:timers/promises';
import { Execution } from './execution.ts';
import type { Graph, Made, Stock } from './node-classes.ts';
import { PromptQueue, type Item } from './prompt-queue.ts';
import { WebSockets } from './web-sockets.ts';

/** A prompt that the worker took. `end` is undefined while it executes, and for ever if the server was killed then. */
export type Executed = {
  readonly prompt_id: string;
  readonly graph: Graph;
  /** The nodes that were computed, not taken from the cache. */
  readonly nodes: readonly string[];
  /** The files that its history names, also those of an earlier prompt. */
  readonly files: readonly string[];
  readonly end: 'success' | 'error' | 'interrupted' | undefined;
};

export type Owner = Stock & {
  readonly historyLimit: number;
  readonly slowness: number;
  readonly thawed: Promise<void>;
  /** Aborted to end what sleeps at this moment. */
  readonly awake: AbortSignal;
  /** Called when the worker takes a prompt, and again at its end. */
  readonly executes: (executed: Executed, replaces: Executed | undefined) => void;
};

/** The delay between `execution_success` and the entry in the history, long enough for a client that relies on it to fail. */
const HISTORY_LAG_MS = 5;

export class ComfyProcess {
  readonly queue = new PromptQueue(() => this.sockets.send('status', { status: this.queue.info() }));
  readonly sockets: WebSockets;
  readonly #owner: Owner;
  readonly #life = new AbortController();
  readonly #cache = new Map<string, Made>();
  #isWorking = false;
  #wasInterrupted = false;
  /** The client of the last prompt, and the node that it last heard of. */
  #client: string | undefined;
  #node: unknown;

  constructor(owner: Owner) {
    this.#owner = owner;
    const hello = (client: string): (readonly [string, object])[] => [
      ['status', { status: this.queue.info(), sid: client }],
      ...(client === this.#client && this.#node != null
        ? [['executing', { node: this.#node }] as const]
        : []),
    ];
    this.sockets = new WebSockets(hello, owner.thawed);
  }

  /** Queues a prompt; false if that was an exception. */
  put(item: Item): boolean {
    const isPut = this.queue.put(item);
    if (!this.#isWorking) void this.#work();
    return isPut;
  }

  interrupt(id: string | undefined): void {
    if (id === undefined || this.queue.isRunning(id)) this.#wasInterrupted = true;
  }

  kill(): void {
    this.#life.abort();
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    try {
      // Not at once: the answer of the prompt goes out first.
      await this.#pause(0);
      for (let item = this.queue.take(); item; item = this.queue.take()) await this.#execute(item);
    } catch (error) {
      if (!this.#life.signal.aborted) throw error;
    }
    this.#isWorking = false;
  }

  async #execute(item: Item): Promise<void> {
    const [, id, graph, { client_id }] = item;
    this.#client = client_id;
    this.#wasInterrupted = false;
    const begun: Executed = { prompt_id: id, graph, nodes: [], files: [], end: undefined };
    this.#owner.executes(begun, undefined);
    const execution = new Execution(item, {
      files: this.#owner.files,
      checkpoints: this.#owner.checkpoints,
      breaks: this.#owner.breaks,
      cache: this.#cache,
      talk: (event, data, client) => this.#talk(event, data, client),
      pause: (ms) => this.#pause(ms * this.#owner.slowness),
      wasInterrupted: () => {
        const was = this.#wasInterrupted;
        this.#wasInterrupted = false;
        return was;
      },
    });
    const result = await execution.run();
    await this.#pause(HISTORY_LAG_MS);
    this.queue.done(item, result, this.#owner.historyLimit);
    const { status_str, messages } = result.status;
    const isInterrupted = messages.some(([event]) => event === 'execution_interrupted');
    const files = Object.values(result.outputs).flatMap(
      ({ images = [] }: { images?: { filename: string }[] }) => images.map(({ filename }) => filename),
    );
    const end = isInterrupted ? 'interrupted' : status_str;
    this.#owner.executes({ ...begun, nodes: execution.executed, files, end }, begun);
    if (client_id !== undefined) this.#talk('executing', { node: null, prompt_id: id }, client_id);
  }

  #talk(event: string, data: object, client: string | undefined): void {
    if (event === 'executing') this.#node = (data as { node: unknown }).node;
    this.sockets.send(event, data, client);
  }

  /** Throws if the process was killed meanwhile. */
  async #pause(ms: number): Promise<void> {
    const { awake, thawed } = this.#owner;
    const ends = AbortSignal.any([this.#life.signal, awake]);
    await wait(ms, undefined, { signal: ends }).catch(() => undefined);
    await thawed;
    this.#life.signal.throwIfAborted();
  }
}
