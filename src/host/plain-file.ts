// Reads a small file that a person wrote and that may come from a stranger: settings, jobs, keys. A link to a device would fill
// the memory, and a pipe would wait for its writer forever.

import { closeSync, constants, fstatSync, openSync, readSync, statSync, type Stats } from 'node:fs';

/** The largest settings or job file. */
const WRITTEN_BYTES = 256 * 1024;

export type PlainFile = { readonly bytes: Buffer; readonly text: string; readonly stats: Stats };

// Windows has only the first flag; a missing one counts as 0.
const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants;

/** Recognises files by their first bytes; both ends of these suffice. */
export type Ends = { readonly begins: (start: Uint8Array) => boolean; readonly bytes: number };

type ReadOptions = {
  readonly mostBytes?: number;
  /** A larger file of this kind is read in two parts, its first and its last bytes; the middle is left out. */
  readonly ends?: Ends;
  /** Set for a file that the user names, because a shell's process substitution gives a pipe. */
  readonly mayBePipe?: boolean;
};

/** Throws the file system's error, or an Error with the reason why the file cannot be used. */
export function readPlainFile(path: string, reading: ReadOptions = {}): PlainFile {
  const { mostBytes = WRITTEN_BYTES, mayBePipe = false, ends } = reading;
  const waits = mayBePipe && statSync(path).isFIFO();
  // The file is checked after it was opened, so that the checked file is the one that is read.
  const file = openSync(path, waits ? O_RDONLY : O_RDONLY | O_NONBLOCK | O_NOCTTY);
  try {
    const stats = fstatSync(file);
    // Reading a folder gives the right error for it.
    if (!stats.isFile() && !stats.isDirectory() && !(waits && stats.isFIFO()))
      throw new Error('it is no plain file');
    const bytes =
      (stats.size > mostBytes && ends && endsOf(file, stats.size, ends)) || readAtMost(file, mostBytes);
    return { bytes, text: bytes.toString('utf8'), stats };
  } finally {
    closeSync(file);
  }
}

/** undefined for a file that does not begin like this kind. */
function endsOf(file: number, size: number, { begins, bytes }: Ends): Buffer | undefined {
  const part = (from: number, length: number): Buffer => {
    const buffer = Buffer.alloc(length);
    return buffer.subarray(0, readSync(file, buffer, 0, length, from));
  };
  return begins(part(0, START_BYTES))
    ? Buffer.concat([part(0, bytes), part(size - bytes, bytes)])
    : undefined;
}

const START_BYTES = 16;

/** Counts the bytes read, because the size of a file in /proc is 0. */
function readAtMost(file: number, most: number): Buffer {
  const chunks: Buffer[] = [];
  for (let bytes = 0; ;) {
    const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, most + 1 - bytes));
    const read = readSync(file, chunk);
    if (read === 0) return Buffer.concat(chunks);
    bytes += read;
    if (bytes > most) throw new Error(`it has more than ${most / 1024} KB`);
    chunks.push(chunk.subarray(0, read));
  }
}

const CHUNK_BYTES = 64 * 1024;
