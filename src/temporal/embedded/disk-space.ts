// Checks the free disk space for Temporal's database. A server whose disk is full still answers but stores nothing, so its
// batches silently stop. Every command that follows the stack therefore checks the disk.

import { statfsSync } from 'node:fs';
import { problem } from '../../errors/error.ts';

/** SQLite's write-ahead log needs this much before a checkpoint. */
const ROOM_BYTES = 5 << 20;

/** Throws E604 if the disk of the state folder is nearly full. Does not detect quotas. */
export function assertDiskSpace(home: string): void {
  const { blocks, bavail, bsize } = statfsSync(home);
  // Some file systems do not report their size.
  if (blocks > 0 && bavail * bsize < ROOM_BYTES) throw problem('E604', { home, bytes: bavail * bsize });
}
