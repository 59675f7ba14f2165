// The thread of `file-writer.ts`: writes the files of each message, and answers with the errors.

import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import type { FileBatch, FileError } from './file-writer.ts';

parentPort?.on('message', (files: FileBatch) => parentPort?.postMessage([...errorsOf(files)]));

function* errorsOf({ paths, ends, contents }: FileBatch): Generator<FileError> {
  for (const [at, end] of ends.entries()) {
    const [beside = '', path = ''] = paths.slice(2 * at, 2 * at + 2);
    try {
      writeFileSync(beside, contents.subarray(ends[at - 1] ?? 0, end), { flag: 'wx' });
      renameSync(beside, path);
    } catch (error) {
      removeQuietly(beside);
      const { message, code } = error as NodeJS.ErrnoException;
      yield { at, message, code };
    }
  }
}

/** The first error says why; a leftover file has a hidden name, and `clean` finds it. */
function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    return;
  }
}
