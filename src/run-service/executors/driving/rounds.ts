// Runs the work of a server in rounds; an event only starts the next round earlier.

export class Rounds {
  #isClosed = false;
  #wake = Promise.withResolvers<void>();
  #ended: Promise<void> = Promise.resolve();

  isClosed = (): boolean => this.#isClosed;

  start(round: () => Promise<void>, restMs: () => number): void {
    this.#ended = this.#go(round, restMs);
  }

  async #go(round: () => Promise<void>, restMs: () => number): Promise<void> {
    while (!this.#isClosed) {
      this.#wake = Promise.withResolvers<void>();
      await round();
      const timer = setTimeout(() => this.wake(), restMs());
      await this.#wake.promise;
      clearTimeout(timer);
    }
  }

  wake(): void {
    this.#wake.resolve();
  }

  /** No further round begins. */
  close(): void {
    this.#isClosed = true;
    this.wake();
  }

  ended = (): Promise<void> => this.#ended;
}
