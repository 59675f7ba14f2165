// Writes a file in pieces, and reads a file line by line, so that memory does not grow with the file. Node's readline
// also ends lines at U+2028 and at a carriage return, which JSON may contain.

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

  /** Returns a promise if the caller has to wait before the next text. */
  add(text: string): Promise<void> | undefined {
    this.#text += text;
    return this.#text.length > PIECE ? this.#write() : undefined;
  }

  /** Writes the remaining text and completes the file, if it has any text; discards the draft on failure. */
  async commit(): Promise<void> {
    try {
      if (this.#text !== '') await this.#write();
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

export const jsonLines = (values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');

/**
 * The longest line in characters. A row's record is as large as its cells and texts, and a stranger may have written
 * the file.
 */
const MAX_LINE = 64 << 20;

/**
 * The lines between line feeds, without the line feeds. An empty last line is left out. Throws E504 for a line above
 * the limit.
 */
export async function* linesOf(
  store: Pick<Store, 'location' | 'open'>,
  name: string,
): AsyncGenerator<string> {
  const input = store.open(name).setEncoding('utf8');
  let partial = '';
  for await (const chunk of input as AsyncIterable<string>) {
    // A line is split off once, however many chunks it has.
    const lines = chunk.includes('\n') ? (partial + chunk).split('\n') : [partial + chunk];
    partial = lines.pop() ?? '';
    if (partial.length > MAX_LINE)
      throw problem('E504', {
        what: `${store.location}/${name} has a line of more than ${MAX_LINE >> 20} MiB`,
      });
    yield* lines;
  }
  if (partial !== '') yield partial;
}

// Reads files one after another, and the next ones meanwhile: in S3 each of them takes a round trip, and on a disk some turns of the
// event loop.
/**
 * How many files are read ahead: large ones, and small ones. When the first large file comes, no more than these are
 * in memory.
 */
const AHEAD = { least: 1, most: 16 };
const AHEAD_ON_DISK = { least: 0, most: 1 };
const LARGE = 1 << 20;

/**
 * The texts of these files, in their order, reading the next files meanwhile: in S3 each file takes a round trip, and
 * on a disk some turns of the event loop. '' for a file that does not exist.
 */
export async function* readAhead(store: Store, names: readonly string[]): AsyncGenerator<string> {
  const { least, most } = store.localPath === undefined ? AHEAD : AHEAD_ON_DISK;
  const reading: Promise<string>[] = [];
  let ahead = least;
  for (let next = 0, at = 0; at < names.length; at += 1) {
    for (; next < names.length && next <= at + ahead; next += 1) reading.push(textOf(store, names[next]));
    const text = (await reading.shift()) ?? '';
    yield text;
    ahead = text.length > LARGE ? least : Math.min(most, Math.max(1, 2 * ahead));
  }
}

function textOf(store: Store, name = ''): Promise<string> {
  const text = store.read(name).then((content) => content ?? '');
  // A caller that stops early leaves the remaining texts behind; otherwise, the error is thrown in turn.
  text.catch(() => undefined);
  return text;
}
