// A file that is written in pieces: text is gathered until it is worth a write, so that no string grows with the file.

import type { Draft } from './store.ts';

/** Characters that are gathered: enough to be quick, and few enough to keep memory flat. */
const PIECE = 1 << 20;

export class Pieces {
  readonly #open: () => Promise<Draft>;
  #draft: Draft | undefined;
  #text = '';

  /** The draft is opened with its first piece. */
  constructor(open: () => Promise<Draft>) {
    this.#open = open;
  }

  /** A promise where the caller has to wait before the next text. */
  add(text: string): Promise<void> | undefined {
    this.#text += text;
    return this.#text.length > PIECE ? this.#write() : undefined;
  }

  /** Writes the rest; the file is whole then. Where that fails the draft is given up. */
  async commit(): Promise<void> {
    try {
      await this.#write();
      await this.#draft?.commit();
    } finally {
      await this.discard();
    }
  }

  /** Gives an unfinished file up; harmless after {@link commit}. */
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
