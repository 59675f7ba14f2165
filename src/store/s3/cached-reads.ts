// Reads files of a batch; those that never change come from this machine if it has read them before.

import { BATCH_FILE } from '../batch-file.ts';
import { fileBytes } from './answer-body.ts';
import { read } from './objects.ts';
import { PageCache } from './page-cache.ts';
import type { S3Client } from './s3-client.ts';

type Read = (name: string, key: string) => Promise<Buffer | undefined>;

/** `folder`: the place of the cache; without one, every file is read from S3. `batchKey`: the key of batch.json. */
export function cachedReads(client: S3Client, folder: string | undefined, batchKey: string): Read {
  if (folder === undefined) return (name, key) => read(client, key, fileBytes(name));
  const pages = new PageCache(folder);
  let mark: string | undefined;
  /** What tells the file from one of the same name in another batch; undefined if it may change. */
  const identityOf = async (name: string): Promise<string | undefined> => {
    // The name has the mark of the batch.
    if (/^layout\/[0-9a-f]{16}\//.test(name)) return 'page';
    // After a removal, another batch may have the same name.
    if (name.startsWith('parts/'))
      return (mark ??= markIn(await read(client, batchKey, fileBytes(BATCH_FILE))));
    return undefined;
  };
  return async (name, key) => {
    const identity = await identityOf(name);
    const fresh = async () => read(client, key, fileBytes(name));
    if (identity === undefined) return fresh();
    return pages.get(`${client.server}${key} ${identity}`, fresh);
  };
}

const markIn = (batchFile: Buffer | undefined): string | undefined =>
  batchFile && /"mark":\s*"([0-9a-f]{16})"/.exec(batchFile.toString())?.[1];
