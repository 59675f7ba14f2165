// The runs that a batch's rows name as theirs, as whole ids. A million of them lie in a temporary SQLite database, because a
// set of strings would take ten times the memory.

import { DatabaseSync } from 'node:sqlite';

export class KnownRuns implements Disposable {
  // An empty name is a temporary file, which SQLite removes.
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
