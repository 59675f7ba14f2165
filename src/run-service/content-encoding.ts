// Bodies that come encoded although they were asked for as they are: some stores keep them so. The file is what is inside.

import { pipeline, Readable, type Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';

const DECODERS: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** Each makes a small body larger; nobody needs more of them. */
const ENCODINGS_MAX = 2;

export type Encodings = readonly string[];

/** In the order in which they were put on; none for a body that is the file itself. */
export function encodingsOf(header: string | string[] | undefined): Encodings {
  const names = String(header ?? '').split(',');
  return names.map((name) => name.trim().toLowerCase()).filter((name) => name !== '' && name !== 'identity');
}

export const canDecode = (encodings: Encodings): boolean =>
  encodings.length <= ENCODINGS_MAX && encodings.every((name) => Object.hasOwn(DECODERS, name));

/** What is inside. Errors where the body is not so encoded, or ends too early. */
export function decoded(body: AsyncIterable<Uint8Array>, encodings: Encodings): AsyncIterable<Uint8Array> {
  const decoders = encodings.toReversed().flatMap((name) => DECODERS[name]?.() ?? []);
  const last = decoders.at(-1);
  if (last === undefined) return body;
  // The last one errors with whatever went wrong before it, and tells those before it when nobody reads on.
  pipeline([Readable.from(body), ...decoders], () => undefined);
  return last as AsyncIterable<Uint8Array>;
}
