import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * At most one stack lives in a place. The lock is SQLite's on a file, which the operating system takes back from a process
 * however it ends. Returns what releases it; undefined where another process holds it.
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
