// Partial files that a later attempt can continue. Each has a hidden name next to its final one, made of its id and a hash of
// its mark. Two writers with the same id and mark write the same bytes at the same offsets, so neither harms the other.

import { hash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { undefinedIfAbsent } from './absent.ts';
import type { ResumableDraft, Resumption } from './store.ts';

/** Continues the partial file of this id and mark in an existing folder; removes those of other marks, whose content is outdated. */
export async function openResumable(path: string, { id, mark }: Resumption): Promise<ResumableDraft> {
  const folder = dirname(path);
  const beside = join(folder, `${prefixOf(id)}.${hash('sha256', mark, 'hex').slice(0, 16)}.part`);
  await dropAll(folder, `${prefixOf(id)}.`, beside);
  const file = await open(beside, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW);
  const { size: kept } = await file.stat();
  let at = kept;
  let closed = false;
  /** False if another attempt started over: its partial file must be neither completed nor removed here. */
  const isOurs = async (): Promise<boolean> => {
    const there = await stat(beside).catch(undefinedIfAbsent);
    return (await file.stat()).ino === there?.ino;
  };
  const close = async (): Promise<void> => {
    if (!closed) await file.close();
    closed = true;
  };
  return {
    kept,
    read: () =>
      kept === 0
        ? Readable.from([])
        : file.createReadStream({ start: 0, end: kept - 1, autoClose: false, highWaterMark: 1 << 18 }),
    restart: () => (at = 0),
    write: async (content) => {
      const bytes = typeof content === 'string' ? Buffer.from(content) : content;
      await writeAll(file, bytes, at);
      at += bytes.byteLength;
    },
    commit: async () => {
      await file.truncate(at);
      await file.sync();
      if (!(await isOurs())) throw new Error(`${beside} belongs to another attempt, which started over`);
      await close();
      await rename(beside, path);
    },
    leave: close,
    discard: async () => {
      if (closed) return;
      const isThere = await isOurs().catch(() => false);
      await close();
      if (isThere) await rm(beside, { force: true });
    },
  };
}

/** Removes the partial files in `folder` whose ids begin with `ids`. */
export const dropResumable = (folder: string, ids: string): Promise<void> => dropAll(folder, prefixOf(ids));

const prefixOf = (id: string): string => `.${id}`;

async function dropAll(folder: string, prefix: string, except?: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const halves = names.filter((name) => name.startsWith(prefix) && name.endsWith('.part'));
  const paths = halves.map((name) => join(folder, name)).filter((path) => path !== except);
  await Promise.all(paths.map((path) => rm(path, { force: true })));
}

async function writeAll(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.byteLength;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.byteLength - done, at + done);
    done += bytesWritten;
  }
}
