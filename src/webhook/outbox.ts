// News for running batches. Each batch has at most one signal under way, and signals begin at least a gap apart; what
// comes meanwhile goes with the next one. A lone end gets through at once, and in a rush many ends share a signal, and
// with it a workflow task and the group that fills their slots.

import { setTimeout as wait } from 'node:timers/promises';

/** What became of a piece of news: the workflow has it, or is past needing it. */
export type Delivered = 'taken' | 'gone';

type Waiting<T> = {
  readonly news: T;
  readonly done: (delivered: Delivered) => void;
  readonly failed: (error: unknown) => void;
};

export class Outbox<T> {
  readonly #waiting = new Map<string, Waiting<T>[]>();
  readonly #send: (batch: string, news: readonly T[]) => Promise<Delivered>;
  readonly #most: number;
  readonly #gapMs: number;

  /** `send` signals a batch, with at most `most` pieces at once. */
  constructor(
    send: (batch: string, news: readonly T[]) => Promise<Delivered>,
    { most, gapMs }: { readonly most: number; readonly gapMs: number },
  ) {
    this.#send = send;
    this.#most = most;
    this.#gapMs = gapMs;
  }

  /** Resolves when the signal that carries it was answered; rejects when Temporal would not take it. */
  deliver(batch: string, news: T): Promise<Delivered> {
    return new Promise((done, failed) => {
      const queue = this.#waiting.get(batch);
      if (queue !== undefined) {
        queue.push({ news, done, failed });
        return;
      }
      this.#waiting.set(batch, [{ news, done, failed }]);
      void this.#empty(batch);
    });
  }

  async #empty(batch: string): Promise<void> {
    for (let queue = this.#waiting.get(batch) ?? []; queue.length > 0;) {
      await Promise.all([this.#signal(batch, queue.splice(0, this.#most)), wait(this.#gapMs)]);
    }
    this.#waiting.delete(batch);
  }

  async #signal(batch: string, sent: readonly Waiting<T>[]): Promise<void> {
    try {
      const delivered = await this.#send(
        batch,
        sent.map(({ news }) => news),
      );
      for (const { done } of sent) done(delivered);
    } catch (error) {
      for (const { failed } of sent) failed(error);
    }
  }
}
