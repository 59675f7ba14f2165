// Writes a file in pieces: collects text until a write is worthwhile, so that memory does not grow with the file.

import type { Draft } from './store.ts';

/** Characters per write: enough for speed, few enough for memory. */
const PIECE = 1 << 20;

export class Pieces {
  readonly #open: () => Promise<Draft>;
  #draft: Draft | undefined;
  #text = '';

  /** `open` is called with the first piece. */
  constructor(open: () => Promise<Draft>) {
    this.#open = open;
  }

  /** A promise if the caller has to wait before the next text. */
  add(text: string): Promise<void> | undefined {
    this.#text += text;
    return this.#text.length > PIECE ? this.#write() : undefined;
  }

  /** Writes the rest and completes the file; discards the draft on failure. */
  async commit(): Promise<void> {
    try {
      await this.#write();
      await this.#draft?.commit();
    } finally {
      await this.discard();
    }
  }

  /** Discards an unfinished file; does nothing after {@link commit}. */
  async discard(): Promise<void> {
    await this.#draft?.discard();
  }

  async #write(): Promise<void> {
    const text = this.#text;
    this.#text = '';
    this.#draft ??= await this.#open();
    await this.#draft.write(text);
  }
}
