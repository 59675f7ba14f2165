// Half files in a batch folder: each lies hidden beside where it will be, under a name made of its id and of a hash of its
// mark. Two writers of one id and mark write the same bytes to the same places, so that neither harms the other.

import { hash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { ResumableDraft, Resumption } from './store.ts';

/** In a folder that is there. Goes on from the half file of this id and mark; those of other marks are of content that is no more, and go. */
export async function openResumable(path: string, { id, mark }: Resumption): Promise<ResumableDraft> {
  const folder = dirname(path);
  const beside = join(folder, `${prefixOf(id)}.${hash('sha256', mark, 'hex').slice(0, 16)}.part`);
  await dropAll(folder, `${prefixOf(id)}.`, beside);
  const file = await open(beside, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW);
  const { size: kept } = await file.stat();
  let at = kept;
  let closed = false;
  /** Another try may have begun anew: its half is neither ours to put in place nor to take away. */
  const isOurs = async (): Promise<boolean> => (await file.stat()).ino === (await stat(beside)).ino;
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
      if (!(await isOurs())) throw new Error(`${beside} is of another try, which began anew`);
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

/** Takes away the half files in `folder` whose ids begin with `ids`. */
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
