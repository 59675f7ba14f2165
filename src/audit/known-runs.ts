// The set of run ids that a batch's rows name. It uses a temporary SQLite database, because a set of a million strings would
// take ten times the memory.

import { DatabaseSync } from 'node:sqlite';

export class KnownRuns implements Disposable {
  // With an empty name SQLite uses a temporary file and removes it.
  readonly #database = new DatabaseSync('');
  readonly #insert;
  readonly #find;
  size = 0;

  constructor() {
    this.#database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16000');
    this.#database.exec('CREATE TABLE run (id TEXT PRIMARY KEY) WITHOUT ROWID');
    this.#insert = this.#database.prepare('INSERT OR IGNORE INTO run VALUES (?)');
    this.#find = this.#database.prepare('SELECT 1 FROM run WHERE id = ?');
    this.#database.exec('BEGIN');
  }

  add(runId: string): void {
    this.size += Number(this.#insert.run(runId).changes);
  }

  has(runId: string): boolean {
    return this.#find.get(runId) !== undefined;
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
