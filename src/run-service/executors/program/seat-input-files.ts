// The input files of the runs of a seat.

import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Input files are written again for each run; no run of a program takes this long. */
const KEEPS_MS = 7 * 86_400_000;

export class InputFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      if (Date.now() - statSync(path).mtimeMs > KEEPS_MS) rmSync(path, { force: true });
    }
  }

  /** Returns the path by which a program reads the file. */
  async put({ name, content }: { readonly name: string; readonly content: Blob }): Promise<string> {
    const path = join(this.#folder, name);
    await writeFile(`${path}.part`, content.stream(), { mode: 0o600 });
    await rename(`${path}.part`, path);
    return path;
  }
}
