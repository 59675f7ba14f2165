// The sheet as given, into the place where batches lie, and its fingerprint. What was hashed is what is laid out, even
// when the file changes meanwhile or came from a pipe.

import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { basename, extname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { formatOf, type SheetFormat } from '../sheet/options.ts';
import { sheetNotFound } from '../sheet/source.ts';

export type SheetCopy = {
  /** As the user named it. */
  readonly name: string;
  /** A folder that holds nothing but the copy. */
  readonly folder: string;
  /** The copy's name in the batch folder: `sheet.csv`. */
  readonly file: string;
  readonly format: SheetFormat;
  readonly sha256: string;
  readonly bytes: number;
};

export type CopyOrder = { readonly out: string; readonly stdin: Readable; readonly format?: SheetFormat };

/** `path` is `-` for `stdin`. What `use` leaves of the copy is removed. Throws E101. */
export async function withCopy<T>(
  path: string,
  order: CopyOrder,
  use: (copy: SheetCopy) => Promise<T>,
): Promise<T> {
  await mkdir(order.out, { recursive: true });
  const folder = await mkdtemp(join(order.out, '.incoming-'));
  try {
    return await use(await copySheet(path, order, folder));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function copySheet(path: string, order: CopyOrder, folder: string): Promise<SheetCopy> {
  const name = path === '-' ? 'stdin' : basename(path);
  const source = path === '-' ? order.stdin : createReadStream(resolve(path));
  const hash = createHash('sha256');
  let bytes = 0;
  let head: Uint8Array = new Uint8Array();
  const measured = async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      if (bytes === 0) head = chunk;
      bytes += chunk.byteLength;
      hash.update(chunk);
      yield chunk;
    }
  };
  try {
    await pipeline(source, measured, createWriteStream(join(folder, COPY)));
  } catch (error) {
    const isMissing = ['ENOENT', 'EISDIR', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
    throw isMissing ? await sheetNotFound(path) : error;
  }
  const format = order.format ?? formatOf(name, head);
  const file = `sheet${extname(name).toLowerCase() || `.${format}`}`;
  return { name, folder, file, format, sha256: hash.digest('hex'), bytes };
}

/** The copy's name until its batch is made. */
export const COPY = 'sheet';

/** The sheet's name without its ending, as part of a batch id. */
export function stemOf(name: string): string {
  const stem = basename(name, extname(name)).toLowerCase();
  return (
    stem
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '')
      .slice(0, 40) || 'sheet'
  );
}
