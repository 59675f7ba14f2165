// The files of a batch as objects of a bucket.

import { readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import { join, relative, sep } from 'node:path';
import pMap from 'p-map';
import { machineS3, s3Address, s3PlaceOf } from '../../host/s3-keys.ts';
import { BATCH_FILE, SUMMARY_FILE } from '../batch-file.ts';
import type { Store } from '../store.ts';
import { S3Client, type Patience } from './s3-client.ts';
import { openDraft, abortUploads } from './multipart.ts';
import { LetterCount, pagesOf, removeAll } from './listing.ts';
import { copy, create, look, put, remove, update, stream, read } from './objects.ts';
import { dropResumable, openResumable } from './part-files.ts';
import { hash, randomBytes } from 'node:crypto';
import { takeOwnFolder } from '../../host/state-folder.ts';

type BucketStore = Omit<Store, 'localPath'> &
  Required<Pick<Store, 'resumable' | 'dropResumable' | 'copyFrom' | 'link'>>;

const UPLOADS_AT_ONCE = 16;
/** What S3 accepts. */
const LINK_MAX_SECONDS = 7 * 24 * 3_600;

export function bucketStore(location: string, patience?: Patience): BucketStore {
  const place = s3PlaceOf(location);
  if (place === undefined) throw new Error(`${location} names no place in S3`);
  const settings = machineS3(place.bucket);
  const client = new S3Client(place, settings, patience);
  const keyOf = (name: string): string => {
    const key = place.key === '' ? name : `${place.key}/${name}`;
    if (s3PlaceOf(s3Address({ ...place, key }))?.key !== key)
      throw new Error(`${name} lies outside the batch folder ${location}`);
    return key;
  };
  /** With a slash at its end; empty for the whole bucket. */
  const prefixOf = (folder: string): string => {
    const key = folder === '' ? place.key : keyOf(folder);
    return key === '' ? '' : `${key}/`;
  };
  const readCached = cachedReads(client, settings.cache, keyOf(BATCH_FILE));
  const draft: Store['draft'] = async (name, of) => openDraft(client, keyOf(name), of);
  return {
    location,
    read: async (name) => (await readCached(name, keyOf(name)))?.toString(),
    open: (name) => stream(client, keyOf(name)),
    exists: async (name) => (await look(client, keyOf(name))) !== undefined,
    facts: async (name) => {
      const found = await look(client, keyOf(name));
      return found && { bytes: found.bytes, modifiedAt: found.modifiedAt };
    },
    list: (folder) => namesIn(client, prefixOf(folder), 'keys'),
    folders: (folder) => namesIn(client, prefixOf(folder), 'prefixes'),
    write: async (name, content) => void (await put(client, keyOf(name), bytesOf(content))),
    create: (name, content) => create(client, keyOf(name), bytesOf(content)),
    update: (name, next) => update(client, keyOf(name), next, sizeOf(name)),
    draft,
    remove: (name) => remove(client, keyOf(name)),
    clear: async (folder) => clear(client, prefixOf(folder)),
    bring: async (folder, path) => {
      await bringFiles(draft, folder, path);
      return path;
    },
    resumable: (name, as) => openResumable(client, keyOf(name), as),
    dropResumable: (folder, ids) => dropResumable(client, prefixOf(folder), ids),
    copyFrom: async (other, from, name) => {
      const source = s3PlaceOf(`${other}/${from}`);
      return source !== undefined && copy(client, source, keyOf(name));
    },
    link: async (name, validMs) => {
      const seconds = Math.min(LINK_MAX_SECONDS, Math.ceil(validMs / 1_000));
      return (await client.link(keyOf(name), seconds)).href;
    },
  };
}

async function bringFiles(open: Store['draft'], folder: string, path: string): Promise<void> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const bringOne = async (file: string): Promise<void> => {
    const to = await open(`${folder}/${relative(path, file).split(sep).join('/')}`);
    try {
      for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 }))
        await to.write(chunk as Uint8Array);
      await to.commit();
    } finally {
      await to.discard();
    }
  };
  await pMap(files, bringOne, { concurrency: UPLOADS_AT_ONCE });
}

const bytesOf = (content: string | Uint8Array): Uint8Array =>
  typeof content === 'string' ? Buffer.from(content) : content;

/** The visible names directly behind `prefix`, sorted. */
async function namesIn(client: S3Client, prefix: string, kind: 'keys' | 'prefixes') {
  const names: string[] = [];
  const letters = new LetterCount(client);
  for await (const page of pagesOf(client, prefix, '/'))
    for (const key of page[kind]) {
      const name = key.slice(prefix.length).replace(/\/$/, '');
      if (!isVisibleName(name)) continue;
      letters.add(name);
      names.push(name);
    }
  return names.sort();
}

/** No batch has another name; such an object is only removed, with its folder. */
const isVisibleName = (name: string): boolean => name !== '' && !/^\.|[/\p{Cc}]/u.test(name);

/** These stay to the end, so that an interrupted removal finds the batch again. */
const LAST = [SUMMARY_FILE, BATCH_FILE];

async function clear(client: S3Client, prefix: string): Promise<void> {
  await abortUploads(client, prefix);
  const last = LAST.map((name) => `${prefix}${name}`);
  const found = new Set<string>();
  for await (const { keys } of pagesOf(client, prefix)) {
    for (const key of last) if (keys.includes(key)) found.add(key);
    await removeAll(
      client,
      keys.filter((key) => !last.includes(key)),
    );
  }
  for (const key of last) if (found.has(key)) await remove(client, key);
}

// Keeps files of batches in S3 on this machine, if they never change: pages and parts, which several commands read one after
// another. A file is named after its batch and its own name, and begins with a hash of its content, because a power cut may leave
// only half of it. A folder to which other users may have written is not used. The cache is no more than a help: whatever fails, the file is read from S3.

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
