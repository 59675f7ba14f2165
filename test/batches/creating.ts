// A fresh folder with sheets, and the batches that tests create from them.

import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MADE } from '../../src/batches/batch-log.ts';
import type { CreatedBatch } from '../../src/batches/make-batch.ts';
import { NAMES } from '../../src/batches/reuse/reuse.ts';
import { BATCH_FILE, LAYOUT, type BatchFile } from '../../src/store/batch-file.ts';
import { ASKED, create, type CreationParams } from './create.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

export { ASKED, type CreationParams };

/** A fresh folder with sheets and batches. */
export class Place {
  readonly folder = freshFolder();
  readonly out = join(this.folder, 'batches');

  write(name: string, content: string | Uint8Array): string {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  create(name: string, params?: CreationParams): Promise<CreatedBatch> {
    return create(join(this.folder, name), this.out, params);
  }

  /** Whether there is a batch. */
  hasBatch(): boolean {
    return existsSync(this.out) && this.names().some((name) => existsSync(join(this.out, name, BATCH_FILE)));
  }

  /** The entries of the log of created batches. */
  entries(): readonly string[] {
    const folder = join(this.out, MADE);
    return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
  }

  /** The entries of the batch folder, except the log and the names of contents. */
  names(): readonly string[] {
    return readdirSync(this.out)
      .filter((name) => name !== NAMES && name !== MADE)
      .sort();
  }
}

/** Every path in the folder of a batch right after its creation. */
export const wholeBatch = ({
  mark,
  sheet,
}: Pick<BatchFile, 'mark'> & {
  readonly sheet: Pick<BatchFile['sheet'], 'file' | 'pages' | 'lanes' | 'isQueued'>;
}): readonly string[] => [
  BATCH_FILE,
  LAYOUT,
  `${LAYOUT}/${mark}`,
  ...queueOf(sheet.isQueued ? sheet.lanes.length : 0).map((name) => `${LAYOUT}/${mark}/queue${name}`),
  `${LAYOUT}/${mark}/rows`,
  ...Array.from(
    { length: sheet.pages },
    (_, at) => `${LAYOUT}/${mark}/rows/${String(at + 1).padStart(5, '0')}.jsonl`,
  ),
  `${LAYOUT}/${mark}/${sheet.file}`,
];

/** The files and folders below `folder`. */
export const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true })
    .map((name) => String(name))
    .sort();

/** Small lanes have one file each. */
const queueOf = (lanes: number): readonly string[] =>
  lanes === 0
    ? []
    : ['', ...Array.from({ length: lanes }, (_, at) => [`/0${at}`, `/0${at}/00001.jsonl`]).flat()];
