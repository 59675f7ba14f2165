// Shares the downloads of a worker between its batches. A batch takes as many as it likes while there are slots; when none is left,
// every batch may still have a few, so that slow hosts of other batches never stop it. A slot that becomes free goes to the batch
// that has the fewest.

/** Below the connections to one host (src/worker/worker-parts.ts), so that the few of other batches find one too. */
const SHARED = 192;
const OWN = 4;

type Waiting = { readonly batch: string; readonly start: () => void };

export class DownloadSlots {
  readonly #shared: number;
  readonly #own: number;
  readonly #running = new Map<string, number>();
  #total = 0;
  #waiting: readonly Waiting[] = [];

  constructor(shared = SHARED, own = OWN) {
    this.#shared = shared;
    this.#own = own;
  }

  /** Runs `work` as soon as the batch may have another download. Throws the reason of the signal if that aborts before. */
  async run<T>(batch: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#mayStart(batch)) this.#take(batch);
    else await this.#wait(batch, signal);
    try {
      return await work();
    } finally {
      this.#release(batch);
    }
  }

  #of(batch: string): number {
    return this.#running.get(batch) ?? 0;
  }

  #mayStart(batch: string): boolean {
    return this.#total < this.#shared || this.#of(batch) < this.#own;
  }

  #take(batch: string): void {
    this.#running.set(batch, this.#of(batch) + 1);
    this.#total += 1;
  }

  async #wait(batch: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const turn = Promise.withResolvers<void>();
    const own = { batch, start: turn.resolve };
    const leave = (): void => {
      if (!this.#waiting.includes(own)) return;
      this.#waiting = this.#waiting.filter((one) => one !== own);
      turn.reject(signal.reason as Error);
    };
    this.#waiting = [...this.#waiting, own];
    signal.addEventListener('abort', leave);
    try {
      await turn.promise;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  #release(batch: string): void {
    const left = this.#of(batch) - 1;
    if (left === 0) this.#running.delete(batch);
    else this.#running.set(batch, left);
    this.#total -= 1;
    const next = this.#waiting
      .filter((one) => this.#mayStart(one.batch))
      .reduce<Waiting | undefined>(
        (least, one) => (least && this.#of(least.batch) <= this.#of(one.batch) ? least : one),
        undefined,
      );
    if (next === undefined) return;
    this.#waiting = this.#waiting.filter((one) => one !== next);
    this.#take(next.batch);
    next.start();
  }
}
