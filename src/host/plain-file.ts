// Reads a small file that a person wrote, and that may come from a stranger: settings, jobs, keys. A link to a device would fill the
// memory, and a pipe would wait for its writer for ever.

import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';

/** The most that settings and job files may have. */
export const WRITTEN_BYTES = 256 * 1024;

export type PlainFile = { readonly text: string; readonly stats: Stats };

// Windows has only the first; nothing counts as 0.
const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants;

/** Throws the error of the file system, or an Error that says why the file cannot be used. */
export function readPlainFile(path: string, mostBytes = WRITTEN_BYTES): PlainFile {
  // The same file is checked and read, whatever the name stands for meanwhile.
  const file = openSync(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  try {
    const stats = fstatSync(file);
    // The error of a folder comes from reading it.
    if (!stats.isFile() && !stats.isDirectory()) throw new Error('it is no plain file');
    return { text: readAtMost(file, mostBytes), stats };
  } finally {
    closeSync(file);
  }
}

/** Counts what is read: the size of a file in /proc is 0. */
function readAtMost(file: number, most: number): string {
  const content = Buffer.alloc(most + 1);
  let bytes = 0;
  for (let read = -1; read !== 0 && bytes <= most; bytes += read)
    read = readSync(file, content, bytes, content.length - bytes, null);
  if (bytes > most) throw new Error(`it has more than ${most / 1024} KB`);
  return content.toString('utf8', 0, bytes);
}
