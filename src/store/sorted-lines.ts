// Sorts lines that arrive in any order. SQLite sorts them in a temporary database, so memory does not grow with their
// number.

import { DatabaseSync } from 'node:sqlite';

type NumberedLine = { readonly number: number; readonly line: string };

export class SortedLines implements Disposable {
  // With an empty name SQLite uses a temporary file and removes it.
  readonly #database = new DatabaseSync('');
  readonly #insert;
  #sorted: Iterator<NumberedLine> | undefined;
  #next: NumberedLine | undefined;

  constructor() {
    this.#database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16000');
    this.#database.exec('CREATE TABLE line (number INTEGER, line TEXT); BEGIN');
    this.#insert = this.#database.prepare('INSERT INTO line VALUES (?, ?)');
  }

  add(number: number, line: string): void {
    this.#insert.run(number, line);
  }

  /**
   * The lines of a number, in the order of their arrival. Numbers are requested in ascending order, after all lines
   * were added.
   */
  of(number: number): readonly string[] {
    if (this.#sorted === undefined) {
      const sorted = this.#database.prepare('SELECT number, line FROM line ORDER BY number, rowid');
      this.#sorted = sorted.iterate() as unknown as Iterator<NumberedLine>;
      this.#next = this.#take();
    }
    while (this.#next !== undefined && this.#next.number < number) this.#next = this.#take();
    const lines: string[] = [];
    for (; this.#next?.number === number; this.#next = this.#take()) lines.push(this.#next.line);
    return lines;
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  #take(): NumberedLine | undefined {
    const next = this.#sorted?.next();
    return next?.done ? undefined : next?.value;
  }
}
