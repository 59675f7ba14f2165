// Writes a file in pieces, and reads one line by line, so that memory does not grow with the file. Node's readline also ends lines at
// U+2028 and at a carriage return, which JSON may contain.

import { problem } from '../errors/error.ts';
import type { Store, Draft } from './store.ts';

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

/** The longest line in characters. A record of a row has the size of its cells and texts; others may have written the file. */
const MOST_LINE = 64 << 20;

/** The lines between line feeds, without them. An empty last line is left out. Throws E504 for a line above the limit. */
export async function* linesOf(
  store: Pick<Store, 'location' | 'open'>,
  name: string,
): AsyncGenerator<string> {
  const input = store.open(name).setEncoding('utf8');
  let rest = '';
  for await (const chunk of input as AsyncIterable<string>) {
    // Joined once, however many chunks a line has.
    const lines = chunk.includes('\n') ? (rest + chunk).split('\n') : [rest + chunk];
    rest = lines.pop() ?? '';
    if (rest.length > MOST_LINE)
      throw problem('E504', {
        what: `${store.location}/${name} has a line of more than ${MOST_LINE >> 20} MiB`,
      });
    yield* lines;
  }
  if (rest !== '') yield rest;
}
