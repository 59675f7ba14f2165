// Room for Temporal's database. A server whose disk is full goes on answering and remembers nothing new, so that its batches
// stand still without a word: whoever follows it looks at the disk.

import { statfsSync } from 'node:fs';
import { problem } from '../../errors/error.ts';

/** The log that SQLite writes ahead takes so much before it is folded in. */
const ROOM_BYTES = 5 << 20;

/** Throws E604 where the disk of the servers' state is as good as full. A quota is not seen. */
export function assertDiskSpace(home: string): void {
  const { blocks, bavail, bsize } = statfsSync(home);
  // Some file systems do not say how large they are.
  if (blocks > 0 && bavail * bsize < ROOM_BYTES) throw problem('E604', { home, bytes: bavail * bsize });
}
