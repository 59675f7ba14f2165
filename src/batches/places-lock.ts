// The lock that a command holds while it looks at the batches of this user in other folders and makes its own. The kernel frees it when
// the process ends, however it ends.
//
// Nothing else may open, copy or read the file: POSIX drops the locks of a process when it closes any descriptor of their file.

import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { problem } from '../errors/error.ts';
import { waitInCall } from '../host/call-signal.ts';

const POLL_MS = 50;
/** A holder reads what is new and creates a file. One that takes longer was stopped. */
const MAX_HELD_MS = 60_000;
/** The lower byte of the code; the upper ones say why. */
const SQLITE_BUSY = 5;

/** Takes the lock of a deployment; unrelated schedules do not wait for each other. Throws E602 if another command does not release it. */
export async function lockPlaces(places: string, deploymentId: string): Promise<Disposable> {
  const name = createHash('sha256').update(deploymentId).digest('hex').slice(0, 16);
  const path = join(places, `${name}.lock`);
  const database = openedAt(places, path);
  // A file system without locks: batches in other folders are seen as soon as they exist.
  if (database === undefined) return { [Symbol.dispose]: () => undefined };
  const holding = { [Symbol.dispose]: () => database.close() };
  try {
    for (const since = performance.now(); isHeld(database);) {
      if (performance.now() - since > MAX_HELD_MS)
        throw problem('E602', {
          what: `another command that makes a batch of this deployment has stopped while it held ${path}`,
          hint: 'end that command, or let it go on, then repeat this one',
        });
      await waitInCall(POLL_MS);
    }
    return holding;
  } catch (error) {
    holding[Symbol.dispose]();
    throw error;
  }
}

function openedAt(places: string, path: string): DatabaseSync | undefined {
  try {
    mkdirSync(places, { recursive: true, mode: 0o700 });
    return new DatabaseSync(path);
  } catch {
    return undefined;
  }
}

/** Whether another command has the lock; this one has it otherwise, as far as the file system has locks. */
function isHeld(database: DatabaseSync): boolean {
  try {
    database.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return false;
  } catch (error) {
    return (((error as { readonly errcode?: number }).errcode ?? 0) & 0xff) === SQLITE_BUSY;
  }
}
