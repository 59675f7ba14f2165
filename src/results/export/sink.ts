// Writes an export to its destination.

import type { Draft } from '../../store/store.ts';

/** A file that appears only when it is complete, or a stream. */
export type Sink = Pick<Draft, 'write'>;

const PIECE = 1 << 18;

/** Joins short texts, so that a sink gets few, large writes. */
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

export async function writeAll(sink: Sink, texts: AsyncIterable<string>): Promise<readonly string[]> {
  for await (const piece of inPieces(texts)) await sink.write(piece);
  return [];
}
