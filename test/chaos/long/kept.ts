// A process that is started again whenever it ends, as a supervisor or a user would do it.

import { setTimeout as wait } from 'node:timers/promises';

export type Life = { readonly pids: () => readonly number[]; readonly ended: Promise<unknown> };

const AGAIN_LEAST_MS = 200;
const AGAIN_MORE_MS = 2_000;

export class Kept {
  readonly #start: () => Promise<Life>;
  readonly #isOver: () => boolean;
  #life: Life | undefined;
  #isClosed = false;
  #keeping: Promise<void> = Promise.resolve();
  /** How often it was started. */
  starts = 0;

  /** `isOver`: it has done what it is for, and is not started again. */
  constructor(start: () => Promise<Life>, isOver: () => boolean = () => false) {
    this.#start = start;
    this.#isOver = isOver;
  }

  /** Resolves when it is up for the first time. */
  async open(): Promise<void> {
    await this.#begin();
    this.#keeping = this.#keep();
  }

  isUp(): boolean {
    return this.#life !== undefined;
  }

  /** Its processes at this moment. */
  pids(): readonly number[] {
    return this.#life?.pids() ?? [];
  }

  /** Nothing is started any more; whoever has the processes ends them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#keeping;
  }

  async #begin(): Promise<void> {
    this.#life = await this.#start();
    this.starts += 1;
  }

  async #keep(): Promise<void> {
    while (!this.#isClosed) {
      await Promise.race([this.#life?.ended, this.#untilClosed()]);
      this.#life = undefined;
      if (this.#isClosed || this.#isOver()) return;
      await wait(AGAIN_LEAST_MS + Math.random() * AGAIN_MORE_MS);
      // What it needs may be away itself.
      if (!this.#isClosed) await this.#begin().catch(() => undefined);
    }
  }

  async #untilClosed(): Promise<void> {
    while (!this.#isClosed && this.#life !== undefined) await wait(50);
  }
}
