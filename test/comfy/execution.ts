// Executes one prompt: the nodes that its outputs need and that the last prompt did not leave in the cache.

import { hash } from 'node:crypto';
import {
  digitsOf,
  NODE_CLASSES,
  NodeException,
  type Graph,
  type Made,
  type NodeClass,
  type Stock,
} from './node-classes.ts';
import type { Item, Message, Result } from './prompt-queue.ts';

/** Sends an event to one client, or to all. */
type Talk = (event: string, data: object, client: string | undefined) => void;

export type Worker = Stock & {
  readonly talk: Talk;
  /** The results of the last prompt, by the signatures of its nodes. */
  readonly cache: Map<string, Made>;
  readonly pause: (ms: number) => Promise<void>;
  /** Whether there was an interrupt since the last time. */
  readonly wasInterrupted: () => boolean;
};

class Interrupted extends Error {}

export class Execution {
  readonly #worker: Worker;
  readonly #id: string;
  readonly #graph: Graph;
  readonly #outputs: readonly string[];
  readonly #client: string | undefined;
  readonly #messages: Message[] = [];
  readonly #progress: Record<string, { readonly max: number; readonly [more: string]: unknown }> = {};
  readonly #signatures = new Map<string, string>();
  /** The nodes that were computed, in their order. */
  readonly executed: string[] = [];

  constructor([, id, graph, extra, outputs]: Item, worker: Worker) {
    this.#worker = worker;
    this.#id = id;
    this.#graph = graph;
    this.#outputs = outputs;
    this.#client = extra.client_id;
  }

  async run(): Promise<Result> {
    this.#note('execution_start', {});
    const ids = Object.keys(this.#graph);
    const used = new Set(ids.map((id) => this.#signatureOf(id)));
    const { cache } = this.#worker;
    for (const signature of cache.keys()) if (!used.has(signature)) cache.delete(signature);
    const before = ids.filter((id) => this.#made(id));
    this.#note('execution_cached', { nodes: before });

    let current = '';
    try {
      for (current of this.#order()) await this.#runNode(current);
      this.#note('execution_success', {});
      return this.#result('success');
    } catch (error) {
      this.#noteFailure(current, error);
      return this.#result('error');
    }
  }

  #result(status_str: 'success' | 'error'): Result {
    const shown = Object.keys(this.#graph).flatMap((id) => {
      const ui = this.#made(id)?.ui;
      return ui ? [[id, ui] as const] : [];
    });
    return {
      outputs: Object.fromEntries(shown),
      meta: Object.fromEntries(
        shown.map(([id]) => [id, { node_id: id, display_node: id, parent_node: null, real_node_id: id }]),
      ),
      status: { status_str, completed: status_str === 'success', messages: this.#messages },
    };
  }

  /** Each node after those that feed it; what is in the cache feeds at once. */
  #order(): ReadonlySet<string> {
    const order = new Set<string>();
    const add = (id: string): void => {
      for (const value of Object.values(this.#graph[id]?.inputs ?? {}))
        if (Array.isArray(value) && !this.#made(String(value[0]))) add(String(value[0]));
      order.add(id);
    };
    this.#outputs.forEach(add);
    return order;
  }

  async #runNode(id: string): Promise<void> {
    const cached = this.#made(id);
    if (cached) {
      this.#tell('executed', { node: id, display_node: id, output: cached.ui ?? null });
      return this.#finished(id);
    }
    this.#progressed(id, 0, 1, 'running');
    this.#tell('executing', { node: id, display_node: id });
    if (this.#worker.wasInterrupted()) throw new Interrupted();
    const made = await this.#classOf(id).run(this.#inputsOf(id), {
      ...this.#worker,
      graph: this.#graph,
      step: (value, max) => {
        if (this.#worker.wasInterrupted()) throw new Interrupted();
        this.#progressed(id, value, max, 'running');
        this.#worker.talk('progress', { value, max, prompt_id: this.#id, node: id }, this.#client);
      },
    });
    this.#worker.cache.set(this.#signatureOf(id), made);
    if (made.ui) this.#tell('executed', { node: id, display_node: id, output: made.ui });
    this.#finished(id);
    this.executed.push(id);
  }

  #noteFailure(id: string, error: unknown): void {
    const where = {
      node_id: id,
      node_type: this.#graph[id]?.class_type,
      executed: this.executed,
    };
    if (error instanceof Interrupted) return this.#note('execution_interrupted', where, true);
    if (!(error instanceof NodeException)) throw error;
    this.#note('execution_error', {
      ...where,
      exception_message: `${error.message}\n`,
      exception_type: error.type,
      traceback: [`  File "execution.py", in execute\n`],
      current_inputs: Object.fromEntries(
        Object.entries(this.#inputsOf(id)).map(([name, value]) => [
          name,
          [Array.isArray(value) ? 'tensor(…)' : value],
        ]),
      ),
      current_outputs: Object.keys(this.#graph),
    });
  }

  #classOf(id: string): NodeClass {
    return NODE_CLASSES[this.#graph[id]?.class_type ?? ''] as NodeClass;
  }

  #made(id: string): Made | undefined {
    return this.#worker.cache.get(this.#signatureOf(id));
  }

  /** The inputs with the results of other nodes in place of links. */
  #inputsOf(id: string): Record<string, unknown> {
    return this.#mapInputs(id, ([from, slot]) => this.#made(from)?.results[slot]);
  }

  /** Equal for nodes that make the same: class and inputs, all the way up. */
  #signatureOf(id: string): string {
    const cached = this.#signatures.get(id);
    if (cached !== undefined) return cached;
    // A node that is not executed may name one that is not there.
    if (this.#graph[id] === undefined) return 'absent';
    const inputs = this.#mapInputs(id, ([from, slot]) => [this.#signatureOf(from), slot]);
    const changed = this.#classOf(id).changed?.(inputs, this.#worker);
    const fields = Object.entries(inputs).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const signature = hash('sha1', JSON.stringify([this.#graph[id]?.class_type, fields, changed]));
    this.#signatures.set(id, signature);
    return signature;
  }

  #mapInputs(id: string, linked: (link: [from: string, slot: number]) => unknown): Record<string, unknown> {
    return Object.fromEntries(
      Object.entries(this.#graph[id]?.inputs ?? {}).map(([name, value]) => [
        name,
        Array.isArray(value) ? linked([String(value[0]), Number(digitsOf(value[1]))]) : value,
      ]),
    );
  }

  /** Into the history, and to the client if there is one. */
  #note(event: string, data: object, toAll = false): void {
    const whole = { prompt_id: this.#id, ...data, timestamp: Date.now() };
    this.#messages.push([event, whole]);
    if (this.#client !== undefined || toAll) this.#worker.talk(event, whole, this.#client);
  }

  #tell(event: string, data: object): void {
    if (this.#client !== undefined) this.#worker.talk(event, { ...data, prompt_id: this.#id }, this.#client);
  }

  #finished(id: string): void {
    const { max = 1 } = this.#progress[id] ?? {};
    this.#progressed(id, max, max, 'finished');
  }

  #progressed(id: string, value: number, max: number, state: 'running' | 'finished'): void {
    const names = { node_id: id, display_node_id: id, parent_node_id: null, real_node_id: id };
    this.#progress[id] = { value, max, state, prompt_id: this.#id, ...names };
    const nodes = { ...this.#progress };
    this.#worker.talk('progress_state', { prompt_id: this.#id, nodes }, this.#client);
  }
}
