// Tries a server's first run alone. The answer says whether other runs may follow, or whether a person must
// change something first. Without the trial, one run for each slot of a batch would be accepted and wait, and
// the batch would never learn why.
//
//      new ──the first run──▶ begun ──an answer, or trialMs──▶ over

import type { Backend } from '../backend.ts';

export class Trial {
  isBegun = false;
  isOver: boolean;
  readonly #ended = Promise.withResolvers<void>();

  constructor({ mayBlock }: Pick<Backend, 'mayBlock'>) {
    this.isOver = mayBlock !== true;
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  begin(mostMs: number): void {
    this.isBegun = true;
    setTimeout(() => this.end(), mostMs).unref();
  }

  end(): void {
    this.isOver = true;
    this.#ended.resolve();
  }
}
