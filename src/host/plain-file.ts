// Reads a small file that a person wrote, and that may come from a stranger: settings, jobs, keys. A link to a device would fill the
// memory, and a pipe would wait for its writer for ever.

import { closeSync, constants, fstatSync, openSync, readSync, statSync, type Stats } from 'node:fs';

/** The most that settings and job files may have. */
const WRITTEN_BYTES = 256 * 1024;

export type PlainFile = { readonly bytes: Buffer; readonly text: string; readonly stats: Stats };

// Windows has only the first; nothing counts as 0.
const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants;

/** Files of which both ends are enough, told by their first bytes. */
export type Ends = { readonly begins: (start: Uint8Array) => boolean; readonly bytes: number };

type ReadOptions = {
  readonly mostBytes?: number;
  /** A larger file of these is read in two parts, its first and its last bytes; what lies between is left out. */
  readonly ends?: Ends;
  /** For a file that the user names: a shell's process substitution gives a pipe. */
  readonly mayBePipe?: boolean;
};

/** Throws the error of the file system, or an Error that says why the file cannot be used. */
export function readPlainFile(path: string, reading: ReadOptions = {}): PlainFile {
  const { mostBytes = WRITTEN_BYTES, mayBePipe = false, ends } = reading;
  const waits = mayBePipe && statSync(path).isFIFO();
  // The same file is checked and read, whatever the name stands for meanwhile.
  const file = openSync(path, waits ? O_RDONLY : O_RDONLY | O_NONBLOCK | O_NOCTTY);
  try {
    const stats = fstatSync(file);
    // The error of a folder comes from reading it.
    if (!stats.isFile() && !stats.isDirectory() && !(waits && stats.isFIFO()))
      throw new Error('it is no plain file');
    const bytes =
      (stats.size > mostBytes && ends && endsOf(file, stats.size, ends)) || readAtMost(file, mostBytes);
    return { bytes, text: bytes.toString('utf8'), stats };
  } finally {
    closeSync(file);
  }
}

/** undefined for a file that does not begin like those. */
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

/** Counts what is read: the size of a file in /proc is 0. */
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
