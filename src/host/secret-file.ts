// Creates random secrets once per state folder: the webhook secret, the local service's token, the stack's name.

import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorMessage } from '../errors/error.ts';
import { meaningOf } from '../errors/file-fault.ts';
import { takeStateFolder } from './state-folder.ts';

/** The secret in a file that only its owner can read. The first process creates it atomically for all. Throws E606. */
export function readOrCreateSecret(path: string): string {
  takeStateFolder(dirname(path));
  if (!existsSync(path)) make(path);
  return readFileSync(path, 'utf8').trim();
}

function make(path: string): void {
  // Not the process id, which two containers that share the folder have in common.
  const beside = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(beside, randomBytes(32).toString('hex'), { mode: 0o600 });
  try {
    // Creating a link is atomic, and fails if another process was first.
    linkSync(beside, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(beside, { force: true });
  }
}

// Reads a secret from the file that a setting names.

/** A larger file is not a key file. */
const MOST_BYTES = 64 * 1024;

/** The file's content without surrounding white space. Throws an Error that says why there is no secret. */
export function secretIn(path: string): string {
  const secret = contentOf(path).trim();
  if (secret === '') throw new Error('it is empty');
  return secret;
}

function contentOf(path: string): string {
  try {
    const stats = statSync(path);
    // A shell's process substitution gives a pipe.
    if (!stats.isFile() && !stats.isFIFO() && !stats.isDirectory()) throw new Error('it is not a file');
    if (stats.size > MOST_BYTES) throw new Error('it is larger than any key');
    return readFileSync(path, 'utf8');
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const why = isAbsent ? 'there is no such file' : (meaningOf(error) ?? errorMessage(error));
    throw new Error(why, { cause: error });
  }
}
