// Tells the user once why a batch does not advance, with the command that helps.

import type { FoundBatch } from '../../library/handle/found-batch.ts';

/** After this long without a worker or Temporal. */
const SILENT_MS = 15_000;

export class Standstill {
  readonly #note: (text: string) => void;
  #attendedAt: number;
  #noted: string | undefined;

  constructor(note: (text: string) => void, now: number) {
    this.#note = note;
    this.#attendedAt = now;
  }

  /** A worker takes its tasks. */
  over(now: number): void {
    this.#attendedAt = now;
    if (this.#noted !== undefined) this.#note('the batch advances again');
    this.#noted = undefined;
  }

  goesOn(reason: string, now: number): void {
    if (now - this.#attendedAt < SILENT_MS || reason === this.#noted) return;
    this.#noted = reason;
    this.#note(`the batch does not advance: ${reason}`);
  }
}

export const noWorkerText = ({ file: { workerTag } }: FoundBatch): string =>
  `no worker${workerTag === undefined ? '' : ` with the tag ${workerTag}`} takes this batch's tasks`;
