// Gives rows of a new batch the results of earlier batches. These rows are in no lane, so the batch buys no runs for them. Their
// records and files are part of the layout until batch.json exists: of two commands that make the same batch only one may write
// into its folder, and a killed command must leave nothing there. Before the workflow starts, `placeReused` moves them to where
// results are read. Every command that starts the batch does this first, so a kill between any two steps loses nothing.
//
//   layout/<mark>/reused/parts/0000-….jsonl   →   parts/0000-….jsonl   pass 0: before the first pass of the workflow
//   layout/<mark>/reused/outputs/<key>.png    →   outputs/<key>.png
//
// Where files cannot be linked, the layout lists them (reused/copies.jsonl), and they are copied when it is in its place.

import { constants } from 'node:fs';
import { copyFile, link, mkdir, rename } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { outputNames, OUTPUTS, outputStem } from '../../results/output-paths.ts';
import { parsePart, PARTS, partName, REUSED_PASS } from '../../results/parts.ts';
import type { FileRecord, PartRecord } from '../../results/row-record.ts';
import { readPage, type SheetRow } from '../../sheet/pages.ts';
import type { Queued } from '../../sheet/placed-rows.ts';
import type { LaidOut } from '../../sheet/sheet.ts';
import { undefinedIfAbsent, type Store } from '../../store/store.ts';
import { LAYOUT, layoutOf, type BatchFile } from '../../store/batch-file.ts';
import type { BatchFolder } from '../../store/batch-folders.ts';
import { jsonLines, Pieces } from '../../store/pieces.ts';
import { copyAll, copyListed, REUSED, removedMeanwhile, type FileCopy } from './file-copies.ts';
import type { Overlap, ReusableRow } from './overlap.ts';
import { rewriteQueue } from '../queue-pages.ts';

type Draft = { readonly file: BatchFile; readonly laidOut: LaidOut; readonly layout: Store };

const PART_ROWS = 100;

/** The batch with these results. Throws E504 if a file of an earlier batch is missing. */
export async function reuseRows<D extends Draft>(draft: D, overlap: Overlap): Promise<D> {
  const { file, laidOut } = draft;
  const { isReused, reused, gpus } = await writeResults(draft, overlap);
  const lanes = await rewriteQueue(draft, (rows) => without(rows, isReused));
  const sheet = { ...file.sheet, lanes: [...lanes], isQueued: true, reused };
  return { ...draft, file: { ...file, sheet }, laidOut: { ...laidOut, lanes, isQueued: true, gpus } };
}

const COPIES = `${REUSED}/copies.jsonl`;

/** Completes the layout, which is in its place in `out`: its batch exists only afterwards. Throws E504 if a file of an earlier batch is missing. */
export const copyReused = (layout: Store, out: string): Promise<void> =>
  copyListed({ store: layout, out }, COPIES);

/** Moves the results of reused rows to where results are read; does nothing if that was done. */
export async function placeReused({ store, file }: BatchFolder): Promise<void> {
  if (file.sheet.reused === undefined) return;
  const { localPath } = store;
  if (localPath === undefined) return placeCopies(store, file);
  const from = localPath(`${LAYOUT}/${file.mark}/${REUSED}`);
  // The records come last, so that each file that they name is there.
  for (const name of [OUTPUTS, PARTS])
    await rename(join(from, name), localPath(name)).catch(undefinedIfAbsent);
}

/** The same where files cannot be moved: a part is written when its files are there. */
async function placeCopies(store: Store, file: BatchFile): Promise<void> {
  const from = `${LAYOUT}/${file.mark}/${REUSED}`;
  const layout = layoutOf(store, file);
  for (const name of await layout.list(`${REUSED}/${PARTS}`)) {
    const part = `${PARTS}/${name}`;
    if (await store.exists(part)) continue;
    const text = await store.read(`${from}/${part}`);
    // Another command was faster and has removed what it copied.
    if (text === undefined && (await store.exists(part))) continue;
    if (text === undefined) throw new Error(`${from}/${part} is gone before it was copied`);
    const paths = parsePart(text).flatMap(({ files }) => files.map(({ path }) => path));
    const copies = paths.map((path) => ({ from: `${from}/${path}`, to: path }));
    try {
      await copyAll(store, copies);
      await store.create(part, text);
    } catch (error) {
      // The same, while its files were copied.
      if (!(await store.exists(part))) throw error;
    }
  }
  await layout.clear(REUSED);
}

type Written = {
  /** By row number; 1 for a row with a result. */
  readonly isReused: Uint8Array;
  readonly reused: number;
  /** The other rows by GPU; '' for rows that name none. */
  readonly gpus: LaidOut['gpus'];
};

async function writeResults({ file, layout }: Draft, overlap: Overlap): Promise<Written> {
  const isReused = new Uint8Array(file.sheet.rows + 1);
  const gpus: Record<string, number> = {};
  let waiting: Reused[] = [];
  let [reused, part] = [0, 0];
  const copies = new Pieces(() => layout.draft(COPIES));
  const writePart = async (): Promise<void> => {
    part += 1;
    const kept = await Promise.all(waiting.map((one) => keptRecord({ file, layout }, one)));
    await layout.write(
      `${REUSED}/${partName(REUSED_PASS, part)}`,
      jsonLines(kept.map(({ record }) => record)),
    );
    await copies.add(jsonLines(kept.flatMap((one) => one.copies)));
    waiting = [];
  };
  for (let page = 1; page <= file.sheet.pages; page += 1)
    for (const row of await readPage(layout, page)) {
      const result = overlap.resultOf(row.row);
      if (result === undefined) {
        gpus[row.gpu ?? ''] = (gpus[row.gpu ?? ''] ?? 0) + 1;
        continue;
      }
      isReused[row.row] = 1;
      reused += 1;
      if (waiting.push({ row, result }) === PART_ROWS) await writePart();
    }
  if (waiting.length > 0) await writePart();
  await copies.commit();
  return { isReused, reused, gpus };
}

type Reused = { readonly row: SheetRow; readonly result: ReusableRow };

type Kept = { readonly record: PartRecord; readonly copies: readonly FileCopy[] };

/** The record of the new row, after its files were added to the layout, and what is still to be copied. */
async function keptRecord(
  { file, layout }: Pick<Draft, 'file' | 'layout'>,
  { row, result }: Reused,
): Promise<Kept> {
  const { batch, store, origin, record } = result;
  const { localPath } = store;
  const names = outputNames(file.sheet.rows, row);
  const files = record.files.map((one, at) => ({
    ...one,
    path: `${outputStem(names, at + 1)}${extname(one.path)}`,
  }));
  const copies: FileCopy[] = [];
  for (const [at, { path }] of record.files.entries()) {
    const to = `${REUSED}/${(files[at] as FileRecord).path}`;
    if (localPath) await addFile(localPath(path), join(layout.location, to));
    else copies.push({ batch, path, to });
  }
  const { reason, texts } = record;
  const kept: PartRecord = {
    row: row.row,
    outcome: 'succeeded',
    reason: `reused from ${origin}${reason === undefined || record.reused_from ? '' : `: ${reason}`}`,
    attempts: [],
    files,
    ...(texts === undefined ? {} : { texts }),
    reused_from: origin,
  };
  return { record: kept, copies };
}

/** A hard link, because the earlier batch may be removed; a copy where the file system has no links. */
async function addFile(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  try {
    await link(from, to).catch(() => copyFile(from, to, constants.COPYFILE_FICLONE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw removedMeanwhile(from, error);
  }
}

/** The rows without a result. */
async function* without(rows: AsyncIterable<Queued>, isReused: Uint8Array): AsyncGenerator<Queued> {
  for await (const queued of rows) if (isReused[queued.row] !== 1) yield queued;
}
