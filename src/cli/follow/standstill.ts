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

type Tagged = { readonly file: Pick<FoundBatch['file'], 'workerTag'> };

export const noWorkerText = ({ file: { workerTag } }: Tagged): string =>
  `no worker${workerTag === undefined ? '' : ` with the tag ${workerTag}`} takes this batch's tasks`;

export const workerCommand = ({ file: { workerTag } }: Tagged): string =>
  workerTag === undefined ? 'runsheet worker' : `RUNSHEET_WORKER_TAGS=${workerTag} runsheet worker`;
