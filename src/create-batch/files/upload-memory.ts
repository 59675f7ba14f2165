// Remembers the addresses of uploaded files by their content, so that the same picture is the same input: a file is uploaded once for
// each service, and rows that were bought with it are found again.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const UPLOADS = '.uploads.sqlite';

/** Other commands may use it at the same time. */
const BUSY_MS = 10_000;

export class UploadMemory implements Disposable {
  readonly #database;
  readonly #find;
  readonly #insert;
  readonly #base: string;

  /** `folder`: that of the batches, or the state folder if they are not on this machine. `base`: the address of the service. */
  constructor(folder: string, base: string) {
    this.#base = base;
    this.#database = new DatabaseSync(join(folder, UPLOADS), { timeout: BUSY_MS });
    this.#database.exec(
      'CREATE TABLE IF NOT EXISTS upload (base TEXT, sha256 TEXT, address TEXT, PRIMARY KEY (base, sha256)) WITHOUT ROWID',
    );
    this.#find = this.#database.prepare('SELECT address FROM upload WHERE base = ? AND sha256 = ?');
    this.#insert = this.#database.prepare(
      'INSERT INTO upload VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET address = excluded.address WHERE address = ?',
    );
  }

  get(sha256: string): string | undefined {
    return this.#find.get(this.#base, sha256)?.['address'] as string | undefined;
  }

  /** The address that counts: of two commands at the same time, both use the first one. `instead`: an address of no use. */
  add(sha256: string, address: string, instead: string | undefined): string {
    this.#insert.run(this.#base, sha256, address, instead ?? '');
    return this.get(sha256) ?? address;
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
