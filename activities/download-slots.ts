// Shares the downloads of a worker between its batches. A batch takes as many slots as it likes while there are any;
// when none is left, every batch may still use a few of its own, so that slow hosts of other batches never stop it. A
// free slot goes to the batch with the fewest.

/**
 * Fewer than the connections to one host (src/worker/composition.ts), so that the few downloads of other batches
 * find one too.
 */
const SHARED = 192;
const OWN = 4;

type WaitingDownload = { readonly batch: string; readonly start: () => void };

export class DownloadSlots {
  readonly #shared: number;
  readonly #own: number;
  readonly #running = new Map<string, number>();
  #total = 0;
  #waiting: readonly WaitingDownload[] = [];

  constructor(shared = SHARED, own = OWN) {
    this.#shared = shared;
    this.#own = own;
  }

  /** Runs `work` as soon as the batch may have another download. Throws the reason of the signal if it aborts first. */
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
      this.#waiting = this.#waiting.filter((queued) => queued !== own);
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
      .filter((queued) => this.#mayStart(queued.batch))
      .reduce<WaitingDownload | undefined>(
        (least, queued) => (least && this.#of(least.batch) <= this.#of(queued.batch) ? least : queued),
        undefined,
      );
    if (next === undefined) return;
    this.#waiting = this.#waiting.filter((queued) => queued !== next);
    this.#take(next.batch);
    next.start();
  }
}
