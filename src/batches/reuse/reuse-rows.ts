// Writes the records of rows whose outcome is known before the batch starts: rows that have a result of an earlier batch, and rows
// that could not be read and end as refused. These rows are in no lane, so the batch buys no runs for them. Their
// records and files stay in the layout until batch.json exists: of two commands that create the same batch only one may write into
// its folder, and a killed command must leave nothing there. Before the workflow starts, `placeReused` moves them to where results
// are read. Every command that starts the batch does this first, so a kill between any two steps loses nothing.
//
//   layout/<mark>/reused/parts/0000-….jsonl   →   parts/0000-….jsonl   pass 0: before the first pass of the workflow
//   layout/<mark>/reused/outputs/<key>.png    →   outputs/<key>.png
//
// Where files cannot be linked, the layout lists them in reused/copies.jsonl, and `copyReused` copies them once the layout is in place.

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
import { type BatchFolder, isBatchName, locationOf } from '../../store/batch-folders.ts';
import { jsonLines, Pieces, linesOf } from '../../store/pieces.ts';
import type { ReusableRow } from './matched-rows.ts';
import { rewriteQueue } from '../queue-pages.ts';
import pMap from 'p-map';
import { z } from 'zod';
import { problem } from '../../errors/error.ts';
import { jsonIn, shortened } from '../../errors/outside-text.ts';
import { openStore } from '../../store/open-store.ts';

type Draft = { readonly file: BatchFile; readonly laidOut: LaidOut; readonly layout: Store };

/** The results that the new batch keeps. */
export type KeptResults = { readonly resultOf: (row: number) => ReusableRow | undefined };

const PART_ROWS = 100;

/** The batch with the records of these results and of its refused rows. Throws E504 if a file of an earlier batch is missing. */
export async function settleRows<D extends Draft>(draft: D, overlap: KeptResults | undefined): Promise<D> {
  const { file, laidOut } = draft;
  if (overlap === undefined && file.sheet.refused === undefined) return draft;
  const { isReused, reused, gpus } = await writeResults(draft, overlap);
  if (overlap === undefined) return draft;
  const lanes = await rewriteQueue(draft, (rows) => without(rows, isReused));
  const sheet = { ...file.sheet, lanes: [...lanes], isQueued: true, reused };
  return { ...draft, file: { ...file, sheet }, laidOut: { ...laidOut, lanes, isQueued: true, gpus } };
}

/** The folder of a layout that holds the results of reused rows. */
const REUSED = 'reused';

const COPIES = `${REUSED}/copies.jsonl`;

/** Whether rows have an outcome before the batch starts. */
export const hasSettled = ({ sheet: { reused, refused } }: Pick<BatchFile, 'sheet'>): boolean =>
  (reused ?? refused) !== undefined;

/** Removes the records from a layout that is not in place yet. */
export const dropReused = (layout: Store): Promise<void> => layout.clear(REUSED);

/** Copies the listed files into a layout that is in place in `out`, before its batch exists. Throws E504 if a file of an earlier batch is missing. */
export const copyReused = (layout: Store, out: string): Promise<void> =>
  copyListed({ store: layout, out }, COPIES);

/** Moves the records, and the files of reused rows, to where results are read. Idempotent. */
export async function placeReused({ store, file }: BatchFolder): Promise<void> {
  if (!hasSettled(file)) return;
  const { localPath } = store;
  if (localPath === undefined) return placeCopies(store, file);
  const from = localPath(`${LAYOUT}/${file.mark}/${REUSED}`);
  // Records move last, so that every file they name is already in place.
  for (const name of [OUTPUTS, PARTS])
    await rename(join(from, name), localPath(name)).catch(undefinedIfAbsent);
}

/** `placeReused` for stores without rename: copies the files of a part, then writes the part. */
async function placeCopies(store: Store, file: BatchFile): Promise<void> {
  const from = `${LAYOUT}/${file.mark}/${REUSED}`;
  const layout = layoutOf(store, file);
  for (const name of await layout.list(`${REUSED}/${PARTS}`)) {
    const part = `${PARTS}/${name}`;
    if (await store.exists(part)) continue;
    const text = await store.read(`${from}/${part}`);
    // A concurrent command placed this part first and cleared the layout.
    if (text === undefined && (await store.exists(part))) continue;
    if (text === undefined) throw new Error(`${from}/${part} is gone before it was copied`);
    const paths = parsePart(text).flatMap(({ files }) => files.map(({ path }) => path));
    const copies = paths.map((path) => ({ from: `${from}/${path}`, to: path }));
    try {
      await copyAll(store, copies);
      await store.create(part, text);
    } catch (error) {
      // A concurrent command placed this part while its files were being copied.
      if (!(await store.exists(part))) throw error;
    }
  }
  await layout.clear(REUSED);
}

type WrittenResults = {
  /** Indexed by row number; 1 for a row with a result. */
  readonly isReused: Uint8Array;
  readonly reused: number;
  /** The number of other rows by GPU; '' for rows that name no GPU. */
  readonly gpus: LaidOut['gpus'];
};

async function writeResults(
  { file, layout }: Draft,
  overlap: KeptResults | undefined,
): Promise<WrittenResults> {
  const isReused = new Uint8Array(file.sheet.rows + 1);
  const gpus: Record<string, number> = {};
  let waiting: (ReusedRow | PartRecord)[] = [];
  let [reused, part] = [0, 0];
  const copies = new Pieces(() => layout.draft(COPIES));
  const writePart = async (): Promise<void> => {
    part += 1;
    const kept = await Promise.all(
      waiting.map(async (row) =>
        'outcome' in row ? { record: row, copies: [] } : keptRecord({ file, layout }, row),
      ),
    );
    await layout.write(
      `${REUSED}/${partName(REUSED_PASS, part)}`,
      jsonLines(kept.map(({ record }) => record)),
    );
    await copies.add(jsonLines(kept.flatMap((result) => result.copies)));
    waiting = [];
  };
  for (let page = 1; page <= file.sheet.pages; page += 1)
    for (const row of await readPage(layout, page)) {
      if (row.refused !== undefined) {
        if (waiting.push(refusedRecord(row)) === PART_ROWS) await writePart();
        continue;
      }
      const result = overlap?.resultOf(row.row);
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

const refusedRecord = ({ row, refused = '' }: SheetRow): PartRecord => ({
  row,
  outcome: 'refused',
  reason: refused,
  attempts: [],
  files: [],
});

type ReusedRow = { readonly row: SheetRow; readonly result: ReusableRow };

/** Links the files of a result into the layout; returns the record of the new row and the files that must be copied instead. */
async function keptRecord(
  { file, layout }: Pick<Draft, 'file' | 'layout'>,
  { row, result }: ReusedRow,
): Promise<{ readonly record: PartRecord; readonly copies: readonly FileCopy[] }> {
  const { batch, store, origin, record } = result;
  const { localPath } = store;
  const names = outputNames(file.sheet.rows, row);
  const files = record.files.map((output, at) => ({
    ...output,
    path: `${outputStem(names, at + 1)}${extname(output.path)}`,
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

/** Adds a hard link, because the earlier batch may be removed, or a copy where the file system has no links. */
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

type FileCopy = {
  /** The earlier batch in the same place, and the path of the file in it. */
  readonly batch: string;
  readonly path: string;
  readonly to: string;
};

/** The layout of the new batch, and the folder of all batches. */
type Target = { readonly store: Store; readonly out: string };

const AT_A_TIME = 16;

/**
 * Copies all files that `list` names; does nothing without a list. Throws E504 if one of them is missing, or if the list names
 * anything but outputs of batches in `out`: others may write to the bucket, and a list must not upload files of this machine.
 */
async function copyListed({ store, out }: Target, list: string): Promise<void> {
  if (!(await store.exists(list))) return;
  const copy = async (line: string): Promise<void> => {
    const { batch, path, to } = listedCopy(line, `${store.location}/${list}`);
    await copyInStore({ store: openStore(locationOf(out, batch)), name: path }, { store, name: to });
  };
  await pMap(linesOf(store, list), copy, { concurrency: AT_A_TIME });
}

/** The copy that a line of the list names. Throws E504. */
function listedCopy(line: string, list: string): FileCopy {
  const copy = schema.safeParse(jsonIn(line)).data;
  if (copy !== undefined) return copy;
  throw problem('E504', {
    what: `${list} names a file that is not an output of a batch in this place: ${shortened(line, 200)}`,
  });
}

const isIn = (folder: string, name: string): boolean =>
  name.startsWith(`${folder}/`) && !/\p{Cc}|\\/u.test(name) && name.split('/').every(isBatchName);

/** Allows only outputs of batches. */
const schema = z.object({
  batch: z.string().refine(isBatchName),
  path: z.string().refine((name) => isIn(OUTPUTS, name)),
  to: z.string().refine((name) => isIn(`${REUSED}/${OUTPUTS}`, name)),
});

const copyAll = async (
  store: Store,
  files: readonly { readonly from: string; readonly to: string }[],
): Promise<void> => {
  const copy = ({ from, to }: (typeof files)[number]) =>
    copyInStore({ store, name: from }, { store, name: to });
  await pMap(files, copy, { concurrency: AT_A_TIME });
};

type ReusePlace = { readonly store: Store; readonly name: string };

async function copyInStore(from: ReusePlace, to: ReusePlace): Promise<void> {
  try {
    const isCopied = await to.store.copyFrom?.(from.store.location, from.name, to.name);
    if (!isCopied) await readAndWrite(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw removedMeanwhile(`${from.store.location}/${from.name}`, error);
  }
}

async function readAndWrite(from: ReusePlace, to: ReusePlace): Promise<void> {
  const draft = await to.store.draft(to.name);
  try {
    for await (const chunk of from.store.open(from.name) as AsyncIterable<Uint8Array>)
      await draft.write(chunk);
    await draft.commit();
  } finally {
    await draft.discard();
  }
}

const removedMeanwhile = (path: string, cause: unknown) =>
  problem('E504', { what: `${path} was removed while its batch was read` }, { cause });
