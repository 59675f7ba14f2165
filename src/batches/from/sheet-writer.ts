// Writes a new sheet, one JSON object a line, and its checksum.

import { createHash } from 'node:crypto';
import { Pieces } from '../../store/pieces.ts';
import type { Store } from '../../store/store.ts';

export type WrittenRows = { readonly written: number; readonly sha256: string; readonly bytes: number };

export class SheetWriter {
  readonly #pieces;
  readonly #hash = createHash('sha256');
  #bytes = 0;
  rows = 0;

  constructor(to: Store, name: string) {
    this.#pieces = new Pieces(() => to.draft(name));
  }

  /** Returns a promise if the caller has to wait for the disk. */
  add(columns: readonly string[], values: readonly unknown[]): Promise<void> | undefined {
    const members = columns.map(
      (name, at) => `${JSON.stringify(name)}:${JSON.stringify(values[at] ?? null)}`,
    );
    // JSON allows this control character, a sheet does not.
    const line = `{${members.join(',')}}\n`.replaceAll('\u007F', String.raw`\u007f`);
    this.rows += 1;
    this.#bytes += Buffer.byteLength(line);
    this.#hash.update(line);
    return this.#pieces.add(line);
  }

  async end(): Promise<WrittenRows> {
    await this.#pieces.commit();
    return { written: this.rows, sha256: this.#hash.digest('hex'), bytes: this.#bytes };
  }

  discard(): Promise<void> {
    return this.#pieces.discard();
  }
}
