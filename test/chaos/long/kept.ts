// Restarts a process whenever it ends, like a supervisor or a user.

import { setTimeout as wait } from 'node:timers/promises';

export type Life = { readonly pids: () => readonly number[]; readonly ended: Promise<unknown> };

const MIN_AGAIN_MS = 200;
const AGAIN_MORE_MS = 2_000;

export class Kept {
  readonly #start: () => Promise<Life>;
  readonly #isOver: () => boolean;
  #life: Life | undefined;
  #isClosed = false;
  #keeping: Promise<void> = Promise.resolve();
  /** How often it was started. */
  starts = 0;

  /** `isOver`: whether the process has finished its work and needs no restart. */
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

  /** The ids of its current processes. */
  pids(): readonly number[] {
    return this.#life?.pids() ?? [];
  }

  /** Stops restarting; the caller must end the processes. */
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
      await wait(MIN_AGAIN_MS + Math.random() * AGAIN_MORE_MS);
      // A server that it depends on may be down itself.
      if (!this.#isClosed) await this.#begin().catch(() => undefined);
    }
  }

  async #untilClosed(): Promise<void> {
    while (!this.#isClosed && this.#life !== undefined) await wait(50);
  }
}
