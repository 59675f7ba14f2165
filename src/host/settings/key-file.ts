// Reads a secret from the file that a setting names.

import { readFileSync, realpathSync, statSync } from 'node:fs';
import { errorMessage } from '../../errors/error.ts';
import { meaningOf } from '../../errors/file-fault.ts';
import { isBelow } from '../below.ts';
import { readPlainFile } from '../plain-file.ts';

/** A larger file is not a key file. */
const MAX_BYTES = 64 * 1024;

/**
 * The file's content without surrounding white space. `within`: the folder that must contain the file, even behind links. Throws
 * an Error with the reason why there is no secret.
 */
export function secretIn(path: string, within?: string): string {
  const secret = contentOf(path, within).trim();
  if (secret === '') throw new Error('it is empty');
  return secret;
}

function contentOf(path: string, within: string | undefined): string {
  try {
    if (within !== undefined) return readPlainFile(placedIn(path, within), { mostBytes: MAX_BYTES }).text;
    const stats = statSync(path);
    // A shell's process substitution gives a pipe.
    if (!stats.isFile() && !stats.isFIFO() && !stats.isDirectory()) throw new Error('it is not a file');
    if (stats.size > MAX_BYTES) throw new Error('it is larger than any key');
    return readFileSync(path, 'utf8');
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const why = isAbsent ? 'there is no such file' : (meaningOf(error) ?? errorMessage(error));
    throw new Error(why, { cause: error });
  }
}

function placedIn(path: string, folder: string): string {
  const real = realpathSync(path);
  if (!isBelow(real, realpathSync(folder))) throw new Error(`it leads out of ${folder}`);
  return real;
}
