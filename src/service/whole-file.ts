// A file whose name only ever leads to all of its bytes, also after a loss of power:
//
//      writePart ─▶ <part>, synced ──keepPart──▶ <target>, and its folder synced

import { createWriteStream, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

type Limits = {
  readonly signal?: AbortSignal;
  /** Called for each chunk with its length; throws what ends the file too early. */
  readonly count: (bytes: number) => void;
};

/** Leaves no part behind if it throws. */
export async function writePart(content: Readable, part: string, { signal, count }: Limits): Promise<void> {
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

/** The name exists when this returns, and survives a loss of power when the promise resolves. */
export function keepPart(part: string, target: string): Promise<void> {
  renameSync(part, target);
  return synced(dirname(target));
}

async function synced(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
