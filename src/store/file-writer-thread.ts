// The thread of `file-writer.ts`: writes the files of each message, and answers with their errors in the same order.

import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import type { FileError, FileOrder } from './file-writer.ts';

parentPort?.on('message', (orders: readonly FileOrder[]) => parentPort?.postMessage(orders.map(write)));

function write({ beside, path, content }: FileOrder): FileError {
  try {
    writeFileSync(beside, content, { flag: 'wx' });
    renameSync(beside, path);
    return undefined;
  } catch (error) {
    rmSync(beside, { force: true });
    const { message, code } = error as NodeJS.ErrnoException;
    return { message, code };
  }
}
