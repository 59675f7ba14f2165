// Writes files whose name only ever leads to all of their bytes, even after a power loss:
//
//      writePart ─▶ <part>, synced ──keepPart──▶ <target>, and its folder synced

import { constants, createWriteStream, linkSync, lstatSync, renameSync, rmSync } from 'node:fs';
import { copyFile, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

type PartLimits = {
  readonly signal?: AbortSignal;
  /** Called with the length of each chunk; an exception ends the file early. */
  readonly count: (bytes: number) => void;
};

/** Removes its part if it throws. */
export async function writePart(
  content: Readable,
  part: string,
  { signal, count }: PartLimits,
): Promise<void> {
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        count(chunk.length);
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
  });
  try {
    const written = createWriteStream(part, { mode: 0o600, flush: true });
    await pipeline(content, counted, written, { ...(signal && { signal }) });
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

/** The name exists on return, and survives a power loss once the promise resolves. */
export function keepPart(part: string, target: string): Promise<void> {
  renameSync(part, target);
  return synced(dirname(target));
}

/**
 * Gives a whole file of this machine a second name, so that its bytes are not written again; copies it where a
 * disk cannot do that. Returns its size, undefined if there is none.
 */
export async function linkFile(from: string, target: string): Promise<number | undefined> {
  const stats = lstatSync(from, { throwIfNoEntry: false });
  if (stats?.isFile() !== true) return undefined;
  await synced(from);
  const part = `${target}.part`;
  rmSync(part, { force: true });
  // A file with a second name may go on being written under it.
  if (stats.nlink > 1 || !tryLink(from, part)) {
    await copyFile(from, part, constants.COPYFILE_FICLONE);
    await synced(part);
  }
  await keepPart(part, target);
  return stats.size;
}

/** False on a disk that gives a file one name only, and across disks. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch {
    return false;
  }
}

async function synced(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
