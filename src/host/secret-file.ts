// Words that are drawn once for a place and stay: the webhook secret, the local service's token, the stack's own name.

import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { takeStateFolder } from './state-folder.ts';

/** The word in a file that only its user reads; whoever comes first has drawn it for all, and nobody reads half of it. Throws E606. */
export function readOrCreateSecret(path: string): string {
  takeStateFolder(dirname(path));
  if (!existsSync(path)) make(path);
  return readFileSync(path, 'utf8').trim();
}

function make(path: string): void {
  const beside = `${path}.${process.pid}`;
  writeFileSync(beside, randomBytes(32).toString('hex'), { mode: 0o600 });
  try {
    // A link is there whole or not at all, and fails where another one was first.
    linkSync(beside, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(beside, { force: true });
  }
}
