// The queue and the history of one life of the stand-in. A prompt moves forward only: pending, running, history.

import { isDeepStrictEqual } from 'node:util';
import type { Graph } from './node-classes.ts';

/** An item in the form of `GET /queue`. */
export type Item = readonly [
  number: number,
  id: string,
  graph: Graph,
  extra: { readonly client_id?: string },
  outputs: readonly string[],
];

export type Message = readonly [event: string, data: object];
export type Result = {
  readonly outputs: Record<string, object>;
  readonly meta: Record<string, object>;
  readonly status: { status_str: 'success' | 'error'; completed: boolean; messages: readonly Message[] };
};

export class PromptQueue {
  #pending: Item[] = [];
  #running: Item | undefined;
  readonly #history = new Map<string, { readonly prompt: Item } & Result>();
  #count = 0;
  /** Called at each change, as the status that clients hear of. */
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  nextNumber(): number {
    return this.#count++;
  }

  /** False if ComfyUI's heap compares two graphs, which is an exception, although the prompt is in the queue. */
  put(item: Item): boolean {
    const [number, id, ...content] = item;
    const isTwin = this.#pending.some(
      ([otherNumber, otherId, ...otherContent]) =>
        otherNumber === number && otherId === id && !isDeepStrictEqual(otherContent, content),
    );
    this.#pending.push(item);
    this.#pending.sort(([a], [b]) => a - b);
    if (!isTwin) this.#changed();
    return !isTwin;
  }

  take(): Item | undefined {
    this.#running = this.#pending.shift();
    if (this.#running) this.#changed();
    return this.#running;
  }

  done(item: Item, result: Result, limit: number): void {
    this.#running = undefined;
    if (this.#history.size > limit) this.#history.delete([...this.#history.keys()][0] ?? '');
    this.#history.set(item[1], { prompt: item, ...result });
    this.#changed();
  }

  isRunning(id: string): boolean {
    return this.#running?.[1] === id;
  }

  /** Removes one pending prompt for each id. */
  delete(ids: readonly string[]): void {
    for (const id of ids) {
      const at = this.#pending.findIndex((item) => item[1] === id);
      if (at >= 0) this.#pending.splice(at, 1);
    }
    this.#changed();
  }

  clear(): void {
    this.#pending = [];
    this.#changed();
  }

  forget(ids: readonly string[] = [...this.#history.keys()]): void {
    for (const id of ids) this.#history.delete(id);
  }

  queue(): object {
    return { queue_running: this.#running ? [this.#running] : [], queue_pending: this.#pending };
  }

  history(id?: string): object {
    return Object.fromEntries([...this.#history].filter(([promptId]) => id === undefined || promptId === id));
  }

  info(): object {
    return { exec_info: { queue_remaining: this.#pending.length + Number(this.#running !== undefined) } };
  }
}
