// Creates random secrets once per state folder: the webhook secret, the local service's token, the stack's name.

import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
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
