// Decodes bodies that arrive compressed although `identity` was requested, because some stores keep them compressed.

import { pipeline, Readable, type Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';

const DECODERS: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** Limits decompression bombs: each encoding multiplies the size. */
const ENCODINGS_MAX = 2;

export type Encodings = readonly string[];

/** In the order in which they were applied; empty for an unencoded body. */
export function encodingsOf(header: string | string[] | undefined): Encodings {
  const names = String(header ?? '').split(',');
  return names.map((name) => name.trim().toLowerCase()).filter((name) => name !== '' && name !== 'identity');
}

export const canDecode = (encodings: Encodings): boolean =>
  encodings.length <= ENCODINGS_MAX && encodings.every((name) => Object.hasOwn(DECODERS, name));

/** The decoded body. Fails if the body is not encoded like this, or ends too early. */
export function decoded(body: AsyncIterable<Uint8Array>, encodings: Encodings): AsyncIterable<Uint8Array> {
  const decoders = encodings.toReversed().flatMap((name) => DECODERS[name]?.() ?? []);
  const last = decoders.at(-1);
  if (last === undefined) return body;
  // The last stream fails with any earlier error, and destroys the earlier ones if it is not read to its end.
  pipeline([Readable.from(body), ...decoders], () => undefined);
  return last as AsyncIterable<Uint8Array>;
}
