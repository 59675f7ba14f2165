// Makes small copies of large pictures for the cards of a report: a browser takes half a second for a window of originals of 2 MB, and
// keeps all of their bytes. They lie in `report/small`, and `report/small.js` tells the page which rows have one.

import pMap from 'p-map';
import type { BatchFile } from '../../store/batch-file.ts';
import type { Store } from '../../store/store.ts';
import { countRows, rowsOf } from '../batch-rows.ts';
import { isPicture, openDecoder, thumbnailOf, THUMBNAIL_BYTES, type Decode } from '../thumbnails.ts';
import { Deflated } from './deflated.ts';

/** Smaller files are shown as they are. */
const LARGE_BYTES = 300_000;
/** The page shows the original where a card has more pixels. */
const KIND = { side: 320, format: 'webp' } as const;
const AT_A_TIME = 4;

export const SMALL_FILE = 'report/small.js';

/** `outputs/SKU-0017.png` has `report/small/SKU-0017.png.webp`, which the page computes too. */
const smallCopyOf = (path: string): string => `report/small/${path.replace(/^outputs\//, '')}.webp`;

/** The script that the page loads when no row has a small copy. */
export const NO_SMALL_COPIES = 'runsheetSmall("")\n';

export type FirstFile = { readonly row: number; readonly path: string; readonly bytes: number };

/** `made`: copies of this call; `missing`: copies left to a later call. */
export type SmallCopies = { readonly made: number; readonly missing: number };

export async function makeSmallCopies(
  store: Store,
  file: BatchFile,
  until: number,
): Promise<SmallCopies | undefined> {
  return copyLarge(store, { rows: await countRows(store, file), files: firstFiles(store, file) }, until);
}

/** undefined: the optional package that decodes pictures is not installed. Makes none after `until`, a time of `performance.now`. */
export async function copyLarge(
  store: Store,
  { rows, files }: { readonly rows: number; readonly files: AsyncIterable<FirstFile> },
  until: number,
): Promise<SmallCopies | undefined> {
  const decode = await openDecoder(KIND);
  if (decode === undefined) return undefined;
  const has = new Uint8Array(rows);
  const count = { made: 0, missing: 0 };
  const copy = async ({ row, path, bytes }: FirstFile): Promise<void> => {
    if (!isPicture(path) || bytes <= LARGE_BYTES || bytes > THUMBNAIL_BYTES) return;
    const isThere = await store.exists(smallCopyOf(path));
    const isLate = performance.now() > until;
    const isMade = !isThere && !isLate && (await makeSmallCopy(store, path, decode));
    if (isMade) count.made += 1;
    if (!isThere && isLate) count.missing += 1;
    has[row - 1] = Number(isThere || isMade);
  };
  await pMap(files, copy, { concurrency: AT_A_TIME });
  const column = new Deflated();
  for (const flag of has) column.uint8(flag);
  const script = `runsheetSmall("${await column.base64()}")\n`;
  await store.update(SMALL_FILE, () => script);
  return count;
}

async function* firstFiles(store: Store, file: BatchFile): AsyncGenerator<FirstFile> {
  for await (const { row, record } of rowsOf(store, file)) {
    const [first] = record?.files ?? [];
    if (first !== undefined) yield { row: row.row, path: first.path, bytes: first.bytes };
  }
}

async function makeSmallCopy(store: Store, path: string, decode: Decode): Promise<boolean> {
  const small = await thumbnailOf(store.open(path), decode);
  if (small !== undefined) await store.write(smallCopyOf(path), small.bytes, 'cached');
  return small !== undefined;
}
