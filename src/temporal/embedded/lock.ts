import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Ensures that at most one stack runs in a state folder. SQLite locks a file, and the operating system releases the lock however
 * the process ends. Returns a function that releases it; undefined if another process holds it.
 */
export function takeLock(home: string): (() => void) | undefined {
  const database = new DatabaseSync(join(home, 'embedded.lock'));
  try {
    database.exec('BEGIN EXCLUSIVE');
    return () => database.close();
  } catch (error) {
    database.close();
    if (/locked/.test((error as Error).message)) return undefined;
    throw error;
  }
}
