// Where an export goes: a file that appears only when it is complete, or a stream.

import type { Draft } from '../../store/store.ts';

export type Sink = Pick<Draft, 'write'>;

/** Counts the bytes of an export. */
export class CountedSink implements Sink {
  readonly #to: Sink;
  bytes = 0;

  constructor(to: Sink) {
    this.#to = to;
  }

  async write(content: string | Uint8Array): Promise<void> {
    this.bytes += typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength;
    await this.#to.write(content);
  }
}

/** Characters that are collected before they are written. */
const PIECE = 1 << 18;

/** Joins short texts, so that each write is worthwhile. */
export async function* inPieces(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = '';
  for await (const text of texts) {
    piece += text;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

export async function writeAll(sink: Sink, texts: AsyncIterable<string>): Promise<void> {
  for await (const piece of inPieces(texts)) await sink.write(piece);
}
