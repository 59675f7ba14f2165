// Reads the files of a batch folder. A folder from a stranger may contain a pipe, or a link to a device, in place of
// any file: a pipe would wait for its writer for ever, and a device never ends.

import { close, constants, createReadStream, fstat, open as openFile, read, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';

// Windows has only the first flag; a missing flag counts as 0.
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;

type AbortableCall = { readonly signal?: AbortSignal };

const notPlain = (path: string, stats: Stats): Error | undefined =>
  // For a folder, the read itself reports the error.
  stats.isFile() || stats.isDirectory() ? undefined : new Error(`${path} is no plain file`);

export async function readPlain(path: string, call: AbortableCall = {}): Promise<string> {
  const file = await open(path, FLAGS);
  try {
    const fault = notPlain(path, await file.stat());
    if (fault !== undefined) throw fault;
    return await file.readFile({ encoding: 'utf8', ...call });
  } finally {
    await file.close();
  }
}

export const openPlain = (path: string, call: AbortableCall = {}): Readable =>
  createReadStream(path, { ...call, fs: { open: openChecked, read, close } });

type OpenCallback = (error: NodeJS.ErrnoException | null, file?: number) => void;

function openChecked(path: string, _flags: unknown, _mode: unknown, opened: OpenCallback): void {
  openFile(path, FLAGS, (error, file) => {
    if (error !== null) return opened(error);
    fstat(file, (fault, stats) => {
      const wrong = fault ?? notPlain(path, stats);
      if (wrong === undefined) return opened(null, file);
      close(file, () => opened(wrong));
    });
  });
}
