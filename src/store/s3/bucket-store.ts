// The files of a batch as objects of a bucket.

import { readdir } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import { join, relative, sep } from 'node:path';
import pMap from 'p-map';
import { s3Address, s3PlaceOf } from '../../host/s3-address.ts';
import { machineS3 } from '../../host/settings/s3-settings.ts';
import { BATCH_FILE, SUMMARY_FILE } from '../batch-file.ts';
import type { Store } from '../store.ts';
import { S3Client, type Patience } from './s3-client.ts';
import { openDraft, abortUploads } from './multipart.ts';
import { letterCount, pagesOf, removeAll } from './listing.ts';
import { copy, create, look, put, remove, update, stream, read } from './objects.ts';

type BucketStore = Omit<Store, 'localPath'> & Required<Pick<Store, 'copyFrom' | 'link'>>;

const UPLOADS_AT_ONCE = 16;
/** The longest validity of a link that S3 accepts. */
const MAX_LINK_SECONDS = 7 * 24 * 3_600;

export function bucketStore(location: string, patience?: Patience): BucketStore {
  const place = s3PlaceOf(location);
  if (place === undefined) throw new Error(`${location} names no place in S3`);
  const client = new S3Client(place, machineS3(place.bucket), patience);
  const keyOf = (name: string): string => {
    const key = place.key === '' ? name : `${place.key}/${name}`;
    if (s3PlaceOf(s3Address({ ...place, key }))?.key !== key)
      throw new Error(`${name} lies outside the batch folder ${location}`);
    return key;
  };
  /** The key of a folder with a slash at its end; empty for the whole bucket. */
  const prefixOf = (folder: string): string => {
    const key = folder === '' ? place.key : keyOf(folder);
    return key === '' ? '' : `${key}/`;
  };
  const draft: Store['draft'] = async (name, of) => openDraft(client, keyOf(name), of);
  return {
    location,
    read: async (name) => (await read(client, keyOf(name), sizeOf(name)))?.toString(),
    open: (name) => stream(client, keyOf(name)),
    exists: async (name) => (await look(client, keyOf(name))) !== undefined,
    facts: async (name) => {
      const object = await look(client, keyOf(name));
      return object && { bytes: object.bytes, modifiedAt: object.modifiedAt };
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
    copyFrom: async (sourceStore, from, name) => {
      const source = s3PlaceOf(`${sourceStore}/${from}`);
      return source !== undefined && copy(client, source, keyOf(name));
    },
    link: async (name, validMs) => {
      const seconds = Math.min(MAX_LINK_SECONDS, Math.ceil(validMs / 1_000));
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

/** The visible names directly after `prefix`, sorted. */
async function namesIn(client: S3Client, prefix: string, kind: 'keys' | 'prefixes') {
  const names: string[] = [];
  const count = letterCount(client);
  for await (const page of pagesOf(client, prefix, '/'))
    for (const key of page[kind]) {
      const name = key.slice(prefix.length).replace(/\/$/, '');
      if (!isVisibleName(name)) continue;
      count(name);
      names.push(name);
    }
  return names.sort();
}

/** No file of a batch has another name; such an object is only removed, with its folder. */
const isVisibleName = (name: string): boolean => name !== '' && !/^\.|[/\p{Cc}]/u.test(name);

/** The files that are removed last, so that an interrupted removal finds the batch again. */
const LAST = [SUMMARY_FILE, BATCH_FILE];

async function clear(client: S3Client, prefix: string): Promise<void> {
  await abortUploads(client, prefix);
  const last = LAST.map((name) => `${prefix}${name}`);
  const keptBack = new Set<string>();
  for await (const { keys } of pagesOf(client, prefix)) {
    for (const key of last) if (keys.includes(key)) keptBack.add(key);
    await removeAll(
      client,
      keys.filter((key) => !last.includes(key)),
    );
  }
  for (const key of last) if (keptBack.has(key)) await remove(client, key);
}

/**
 * Files that grow with the rows of a batch. Of all other files, such as batch.json, those of many batches are in
 * memory together.
 */
const LARGE = /^(?:layout|parts|passes|snapshots|events|evidence)\/|^watched\.json$/;

export const sizeOf = (name: string): 'page' | 'small' => (LARGE.test(name) ? 'page' : 'small');
