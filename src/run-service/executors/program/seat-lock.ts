// The lock of a GPU for all run services of a user, because two state folders have one machine.
//
//      free ──take──▶ held by a try ──no process of it is left──▶ free
//
// Nothing releases a lock, since a service may die at any moment: whether it is held is read from its holder.

import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { takeOwnFolder } from '../../../host/own-folder.ts';
import { processesOf } from './marked-processes.ts';
import { TryFolder } from './try-folder.ts';

/** How long a service may take from the lock to the first process of the try. */
const STARTS_MS = 10_000;
const WAIT_MS = 5_000;
/** How long a wish for the seat counts; whoever waits repeats it more often. */
const WISH_MS = 5_000;

export class SeatLock {
  readonly #database: DatabaseSync;
  readonly #gpu: string;

  constructor(folder: string, gpu: string) {
    const fault = takeOwnFolder(folder);
    if (fault !== undefined) throw new Error(`the folder ${folder} may belong to others: ${fault}`);
    this.#gpu = gpu;
    this.#database = new DatabaseSync(join(folder, 'seats.db'), { timeout: WAIT_MS });
    this.#database.exec('CREATE TABLE IF NOT EXISTS seat (gpu TEXT PRIMARY KEY, holder TEXT NOT NULL)');
    this.#database.exec('CREATE TABLE IF NOT EXISTS wish (gpu TEXT PRIMARY KEY, atMs INTEGER NOT NULL)');
  }

  /** Takes the lock for the folder of a try. Returns the folder of the try that holds it instead. */
  async take(path: string): Promise<string | undefined> {
    const holder = this.#holder();
    if (holder === path) return undefined;
    if (holder !== undefined && (await isHeld(holder))) {
      this.#database.prepare('INSERT OR REPLACE INTO wish VALUES (?, ?)').run(this.#gpu, Date.now());
      return holder;
    }
    // A second service may have taken the lock meanwhile.
    const { changes } =
      holder === undefined
        ? this.#database.prepare('INSERT OR IGNORE INTO seat VALUES (?, ?)').run(this.#gpu, path)
        : this.#database
            .prepare('UPDATE seat SET holder = ? WHERE gpu = ? AND holder = ?')
            .run(path, this.#gpu, holder);
    return changes === 1 ? undefined : this.#holder();
  }

  /** Whether somebody waits for the seat: a program that only stays gives way. */
  isWished(): boolean {
    const row = this.#database.prepare('SELECT atMs FROM wish WHERE gpu = ?').get(this.#gpu);
    return row !== undefined && Math.abs(Date.now() - Number(row['atMs'])) < WISH_MS;
  }

  close = (): void => this.#database.close();

  #holder(): string | undefined {
    const row = this.#database.prepare('SELECT holder FROM seat WHERE gpu = ?').get(this.#gpu);
    return row === undefined ? undefined : String(row['holder']);
  }
}

async function isHeld(path: string): Promise<boolean> {
  const holder = new TryFolder(dirname(path), basename(path));
  if ((await processesOf(holder.mark)).length > 0) return true;
  const created = statSync(join(path, 'open'), { throwIfNoEntry: false })?.mtimeMs;
  return created !== undefined && !holder.isClaimed && Date.now() - created < STARTS_MS;
}
