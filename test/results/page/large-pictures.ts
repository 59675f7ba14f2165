// A report whose pictures are as large as those of real runs.

import { link } from 'node:fs/promises';
import { join } from 'node:path';
import { numbersFrom } from '../../../src/run-service/chance.ts';
import { encodePng } from '../../../src/run-service/executors/rehearsal/pictures/pictures.ts';
import { copyLarge, type FirstFile, type SmallCopies } from '../../../src/results/page/small-copies.ts';
import { folderStore } from '../../../src/store/folder.ts';
import { writeScene } from './scene.ts';

/** Different pictures; rows share them under names of their own. */
const DIFFERENT = 20;

/** A PNG of about `side` × `side` bytes: noise cannot be compressed. */
export function noisePng(side: number, seed: number): Buffer {
  const draw = numbersFrom(seed);
  const palette = Uint8Array.from({ length: 256 * 3 }, (_, at) => at * 7);
  const pixels = Uint8Array.from({ length: side * side }, () => draw() * 256);
  return encodePng({ width: side, height: side, pixels }, palette, '');
}

export type LargeScene = {
  readonly path: string;
  /** Makes small copies until `until`. */
  copy(until: number): Promise<SmallCopies | undefined>;
};

/** The rows succeeded, each with one picture of about `side` × `side` bytes. */
export async function writeLargeScene(folder: string, rows: number, side: number): Promise<LargeScene> {
  const store = folderStore(folder);
  const sizes: number[] = [];
  for (let index = 0; index < DIFFERENT; index += 1) {
    const bytes = noisePng(side, index + 1);
    sizes.push(bytes.length);
    await store.write(`outputs/source-${index}.png`, bytes, 'cached');
  }
  const fileOf = (row: number): FirstFile => ({
    row,
    path: `outputs/picture-${row}.png`,
    bytes: sizes[row % DIFFERENT] ?? 0,
  });
  for (let row = 1; row <= rows; row += 1)
    await link(join(folder, `outputs/source-${row % DIFFERENT}.png`), join(folder, fileOf(row).path));
  const path = await writeScene(folder, {
    rows,
    pictures: 1,
    failing: 0,
    change: (record) => {
      const { path: name, bytes } = fileOf(record.row);
      return { ...record, files: [{ path: name, bytes, sha256: `${record.row}`.padStart(64, '0'), name }] };
    },
  });
  const files = async function* (): AsyncGenerator<FirstFile> {
    for (let row = 1; row <= rows; row += 1) yield fileOf(row);
  };
  return { path, copy: (until) => copyLarge(store, { rows, files: files() }, until) };
}
