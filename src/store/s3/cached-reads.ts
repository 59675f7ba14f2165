// Reads files of a batch; those that never change come from this machine if it has read them before.

import { read } from './objects.ts';
import { PageCache } from './page-cache.ts';
import type { S3Client } from './s3-client.ts';

type Read = (name: string, key: string) => Promise<Buffer | undefined>;

/** `folder`: the place of the cache; without one, every file is read from S3. `batchKey`: the key of batch.json. */
export function cachedReads(client: S3Client, folder: string | undefined, batchKey: string): Read {
  if (folder === undefined) return (name, key) => read(client, key, sizeOf(name));
  const pages = new PageCache(folder);
  let mark: string | undefined;
  /** What tells the file from one of the same name in another batch; undefined if it may change. */
  const identityOf = async (name: string): Promise<string | undefined> => {
    // The name has the mark of the batch.
    if (/^layout\/[0-9a-f]{16}\//.test(name)) return 'page';
    // After a removal, another batch may have the same name.
    if (name.startsWith('parts/')) return (mark ??= markIn(await read(client, batchKey, 'small')));
    return undefined;
  };
  return async (name, key) => {
    const identity = await identityOf(name);
    if (identity === undefined) return read(client, key, sizeOf(name));
    return pages.get(`${client.server}${key} ${identity}`, () => read(client, key));
  };
}

/** Files that grow with the rows of a batch; of all others, such as batch.json, those of many batches are in memory together. */
const LARGE = /^(?:layout|parts|passes|snapshots|events|evidence)\/|^watched\.json$/;

export const sizeOf = (name: string): 'page' | 'small' => (LARGE.test(name) ? 'page' : 'small');

const markIn = (batchFile: Buffer | undefined): string | undefined =>
  batchFile && /"mark":\s*"([0-9a-f]{16})"/.exec(batchFile.toString())?.[1];
