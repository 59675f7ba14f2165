// Keeps files of batches in S3 on this machine, if they never change: pages and parts, which several commands read one after
// another. A file is named after its batch and its own name, and begins with a hash of its content, because a power cut may leave
// only half of it. A folder to which other users may have written is not used. The cache is no more than a help: whatever fails, the file is read from S3.

import { hash, randomBytes } from 'node:crypto';
import { readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { read } from './objects.ts';
import type { S3Client } from './s3-client.ts';
import { takeOwnFolder } from '../../host/state-folder.ts';

const HASH_BYTES = 32;
/** Larger files are few, and would push out many others. */
const FILE_BYTES = 8 << 20;
const CACHE_BYTES = 2 ** 30;
/** After so many bytes of new files, the oldest ones are removed. */
const CHECK_BYTES = CACHE_BYTES / 16;

export class PageCache {
  readonly #folder: string;
  readonly #mostBytes: number;
  #added: number;

  constructor(folder: string, mostBytes = CACHE_BYTES) {
    this.#folder = folder;
    this.#mostBytes = mostBytes;
    // Earlier processes may have left too much.
    this.#added = Math.min(CHECK_BYTES, mostBytes);
  }

  /** The content of the file that `identity` names; `load` is called if it is not here. */
  async get(identity: string, load: () => Promise<Buffer | undefined>): Promise<Buffer | undefined> {
    if (!this.#isOwn()) return load();
    const path = join(this.#folder, hash('sha256', identity, 'hex'));
    const kept = await this.#kept(path).catch(() => undefined);
    if (kept !== undefined) return kept;
    const content = await load();
    if (content !== undefined && content.byteLength <= FILE_BYTES)
      await this.#keep(path, content).catch(() => undefined);
    return content;
  }

  /** Looked at each time: pages have prompts, and what is read here counts as the content of the bucket. */
  #isOwn(): boolean {
    try {
      return takeOwnFolder(this.#folder) === undefined;
    } catch {
      return false;
    }
  }

  async #kept(path: string): Promise<Buffer | undefined> {
    const whole = await readFile(path);
    const content = whole.subarray(HASH_BYTES);
    if (!whole.subarray(0, HASH_BYTES).equals(hash('sha256', content, 'buffer'))) return undefined;
    const now = new Date();
    await utimes(path, now, now).catch(() => undefined);
    return content;
  }

  async #keep(path: string, content: Buffer): Promise<void> {
    const beside = `${path}.${randomBytes(6).toString('hex')}`;
    await writeFile(beside, Buffer.concat([hash('sha256', content, 'buffer'), content]), { mode: 0o600 });
    await rename(beside, path);
    this.#added += content.byteLength;
    if (this.#added < Math.min(CHECK_BYTES, this.#mostBytes)) return;
    this.#added = 0;
    await this.#shrink();
  }

  /** Removes the files that were used least recently, until a quarter of the room is free. */
  async #shrink(): Promise<void> {
    const names = await readdir(this.#folder);
    const files = await Promise.all(
      names.map(async (name) => {
        const path = join(this.#folder, name);
        const facts = await stat(path).catch(() => undefined);
        return { path, bytes: facts?.size ?? 0, at: facts?.mtimeMs ?? 0 };
      }),
    );
    let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    if (bytes <= this.#mostBytes) return;
    for (const file of files.toSorted((a, b) => a.at - b.at)) {
      if (bytes <= 0.75 * this.#mostBytes) return;
      await rm(file.path, { force: true });
      bytes -= file.bytes;
    }
  }
}

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
