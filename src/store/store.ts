// The interface to a batch's files, and to the folder of all batches. Every write is atomic, and a file's name determines its
// content, so writing a file twice is harmless. `folder.ts` implements it for a local folder, `s3/` for S3.

import type { Readable } from 'node:stream';
import { definedOnly } from '../options/defined-only.ts';
import { problem, type RunsheetError, isRunsheetError } from '../errors/error.ts';

/** A file that is written piece by piece and invisible until `commit`. */
export interface Draft {
  write(content: string | Uint8Array): Promise<void>;
  commit(): Promise<void>;
  /** Discards the draft; does nothing after `commit`. */
  discard(): Promise<void>;
}

/** Called between reading a file and replacing it. */
export type NextContent = (current: string | undefined) => string | undefined | Promise<string | undefined>;

type FileFacts = {
  readonly bytes: number;
  /** In milliseconds since 1970. */ readonly modifiedAt: number;
};

/** Names are relative to the batch, with forward slashes: `rows/00001.jsonl`. The folder '' is the whole batch. */
export interface Store {
  /** The location, for messages. */
  readonly location: string;
  /** The whole file as text; undefined if there is none. */
  read(name: string): Promise<string | undefined>;
  /** The file as a stream of bytes; errors with ENOENT if there is none. */
  open(name: string): Readable;
  exists(name: string): Promise<boolean>;
  /** undefined if there is no such file. */
  facts(name: string): Promise<FileFacts | undefined>;
  /** Names of the files directly in `folder`, sorted, without hidden ones; empty if the folder does not exist. */
  list(folder: string): Promise<readonly string[]>;
  /** Names of the folders directly in `folder`, sorted, without hidden ones; empty if it does not exist. */
  folders(folder: string): Promise<readonly string[]>;
  /**
   * Writes a whole file. A `synced` file survives a power cut. A `cached` file may not; a synced file has its checksum.
   */
  write(name: string, content: string | Uint8Array, as?: 'synced' | 'cached'): Promise<void>;
  /** Writes a whole file unless it exists; returns false and changes nothing if it does. */
  create(name: string, content: string | Uint8Array): Promise<boolean>;
  /**
   * Replaces a file by the result of `next` for its content (undefined: no file), or leaves it if the result is
   * undefined. If another writer was faster, `next` is called again. A late write never restores old content, so
   * content has to differ from all earlier content of the file.
   */
  update(name: string, next: NextContent): Promise<void>;
  /**
   * A `view` is derived from other files: its draft is refused with E612 if another writer has replaced the file
   * since it was opened.
   */
  draft(name: string, of?: 'view'): Promise<Draft>;
  /** Does nothing if there is no such file. */
  remove(name: string): Promise<void>;
  /** Removes `folder` and everything in it, hidden and partial files too. An interrupted removal of a batch can be repeated. */
  clear(folder: string): Promise<void>;
  /**
   * Brings a folder of this machine into the store as `folder`, which does not exist yet. Returns its location on
   * this machine afterwards: a local folder was moved, any other store has copied it.
   */
  bring(folder: string, path: string): Promise<string>;
  /** The path by which programs of this machine can open a file or folder; absent if the files are elsewhere. */
  readonly localPath?: (name: string) => string;
  /**
   * Copies the file `from` of the store at `location` without reading it here. False if that is impossible; errors
   * with ENOENT if there is none. Absent for a local folder.
   */
  readonly copyFrom?: (location: string, from: string, name: string) => Promise<boolean>;
  /** An address by which anyone can read the file for `validMs`; absent for a local folder. */
  readonly link?: (name: string, validMs: number) => Promise<string>;
}

/** The cause of an E612 that concerns only one object of the bucket. */
export class ObjectFault extends Error {
  override readonly name = 'ObjectFault';
}

export const isOfOneObject = (error: unknown): boolean =>
  isRunsheetError(error, 'E612') && error.cause instanceof ObjectFault;

/** The error for a file that another process replaced while this one worked on it. */
export const replacedMeanwhile = (place: string): RunsheetError =>
  problem('E612', {
    place,
    reason: 'another process has replaced it meanwhile',
    hint: 'nothing is lost: repeat the same command',
  });

/** The first bytes of a file, as Latin-1 text; a store may deliver them in smaller pieces. */
export async function startOf(store: Pick<Store, 'open'>, name: string, bytes: number): Promise<string> {
  let start = Buffer.alloc(0);
  for await (const piece of store.open(name) as AsyncIterable<Uint8Array>) {
    start = Buffer.concat([start, piece]);
    if (start.length >= bytes) break;
  }
  return start.toString('latin1', 0, bytes);
}

/** Returns undefined if a file or folder does not exist, and rethrows every other error. */
export function undefinedIfAbsent(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  throw error;
}

/** The folder `prefix` of a store, as a store of its own. Each member is passed on, even those that not every store has. */
export function within(store: Store, prefix: string): Store {
  const at = (name: string): string => (name === '' ? prefix : `${prefix}/${name}`);
  const { localPath, link, copyFrom } = store;
  return definedOnly({
    location: `${store.location}/${prefix}`,
    read: (name) => store.read(at(name)),
    open: (name) => store.open(at(name)),
    exists: (name) => store.exists(at(name)),
    list: (folder) => store.list(at(folder)),
    write: (name, content, as) => store.write(at(name), content, as),
    create: (name, content) => store.create(at(name), content),
    update: (name, next) => store.update(at(name), next),
    draft: (name, of) => store.draft(at(name), of),
    facts: (name) => store.facts(at(name)),
    folders: (folder) => store.folders(at(folder)),
    remove: (name) => store.remove(at(name)),
    clear: (folder) => store.clear(at(folder)),
    bring: (folder, path) => store.bring(at(folder), path),
    localPath: localPath && ((name) => localPath(at(name))),
    copyFrom: copyFrom && ((location, from, name) => copyFrom(location, from, at(name))),
    link: link && ((name, validMs) => link(at(name), validMs)),
  } satisfies { [Name in keyof Required<Store>]: Store[Name] | undefined });
}
