// Checks the disk of a folder. A server whose disk is full still answers but stores nothing, so its batches stop silently. Every
// command that follows the embedded servers therefore checks their disk.

import { statfsSync } from 'node:fs';
import { access, constants, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { problem } from '../errors/error.ts';
import { fileFault } from '../errors/file-fault.ts';

/** SQLite's write-ahead log needs this much before a checkpoint. */
const ROOM_BYTES = 5 << 20;

type Disk = { readonly free: number; readonly size: number };
type DiskStats = { readonly bavail: number; readonly blocks: number; readonly bsize: number };

const bytesOf = ({ bavail, blocks, bsize }: DiskStats): Disk => ({
  free: bavail * bsize,
  size: blocks * bsize,
});

/** Some file systems do not report their size. Quotas are not detected. */
const isFull = ({ free, size }: Disk): boolean => size > 0 && free < ROOM_BYTES;

/** Free and total bytes of the disk of a folder, which need not exist yet. Asynchronous, because a network disk may hang. */
export const diskOf = async (folder: string): Promise<Disk> => bytesOf(await statfs(await existing(folder)));

/** Throws E604 if the disk of the state folder is nearly full. */
export function assertDiskSpace(home: string): void {
  const disk = bytesOf(statfsSync(home));
  if (isFull(disk)) throw problem('E604', { home, bytes: disk.free });
}

/** Throws E606 if this user cannot write to the folder, E607 if its disk is nearly full. */
export async function assertWritable(folder: string): Promise<void> {
  const place = await existing(folder);
  try {
    await access(place, constants.W_OK);
  } catch (error) {
    throw fileFault(error, { path: place }) ?? error;
  }
  const disk = await diskOf(place);
  if (isFull(disk)) throw problem('E607', { path: folder, reason: `${disk.free} bytes are left` });
}

/** A folder is created with its first file; until then, its parent counts. */
async function existing(folder: string): Promise<string> {
  const isThere = await access(folder).then(
    () => true,
    () => false,
  );
  return isThere || dirname(folder) === folder ? folder : existing(dirname(folder));
}
