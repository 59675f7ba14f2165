// Gives rows of a new batch the results of earlier batches. These rows are in no lane, so the batch buys no runs for them. Their
// records and files are part of the layout until batch.json exists: of two commands that make the same batch only one may write
// into its folder, and a killed command must leave nothing there. Before the workflow starts, `placeReused` moves them to where
// results are read. Every command that starts the batch does this first, so a kill between any two steps loses nothing.
//
//   layout/<mark>/reused/parts/0000-….jsonl   →   parts/0000-….jsonl   pass 0: before the first pass of the workflow
//   layout/<mark>/reused/outputs/<key>.png    →   outputs/<key>.png

import { constants } from 'node:fs';
import { copyFile, link, mkdir, rename } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { problem } from '../../errors/error.ts';
import { outputNames, OUTPUTS, outputStem } from '../../results/output-names.ts';
import { PARTS, partName, REUSED_PASS } from '../../results/parts.ts';
import type { FileRecord, PartRecord } from '../../results/row-record.ts';
import { readPage, type SheetRow } from '../../sheet/pages.ts';
import type { Queued } from '../../sheet/queue.ts';
import type { LaidOut } from '../../sheet/sheet.ts';
import { undefinedIfAbsent } from '../../store/absent.ts';
import { LAYOUT, type BatchFile } from '../../store/batch-file.ts';
import type { BatchFolder } from '../../store/batch-folders.ts';
import type { Store } from '../../store/store.ts';
import type { Overlap, ReusableRow } from './overlap.ts';
import { rewriteQueue } from '../rewrite-queue.ts';

/** A batch before it exists. */
type Draft = { readonly file: BatchFile; readonly laidOut: LaidOut; readonly layout: Store };

const REUSED = 'reused';
const PART_ROWS = 100;

/** The batch with these results. Throws E504 if a file of an earlier batch is missing. */
export async function reuseRows<D extends Draft>(draft: D, overlap: Overlap): Promise<D> {
  const { file, laidOut } = draft;
  const { isReused, reused, gpus } = await writeResults(draft, overlap);
  const lanes = await rewriteQueue(draft, (rows) => without(rows, isReused));
  const sheet = { ...file.sheet, lanes: [...lanes], isQueued: true, reused };
  return { ...draft, file: { ...file, sheet }, laidOut: { ...laidOut, lanes, isQueued: true, gpus } };
}

/** Moves the results of reused rows to where results are read; does nothing if that was done. */
export async function placeReused({ folder, file }: BatchFolder): Promise<void> {
  if (file.sheet.reused === undefined) return;
  const from = join(folder, LAYOUT, file.mark, REUSED);
  // The records come last, so that each file that they name is there.
  for (const name of [OUTPUTS, PARTS])
    await rename(join(from, name), join(folder, name)).catch(undefinedIfAbsent);
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
  const writePart = async (): Promise<void> => {
    part += 1;
    const records = await Promise.all(waiting.map((one) => keptRecord({ file, layout }, one)));
    const text = records.map((record) => `${JSON.stringify(record)}\n`).join('');
    await layout.write(`${REUSED}/${partName(REUSED_PASS, part)}`, text);
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
  return { isReused, reused, gpus };
}

type Reused = { readonly row: SheetRow; readonly result: ReusableRow };

/** The record of the new row, after its files were added to the layout. */
async function keptRecord(
  { file, layout }: Pick<Draft, 'file' | 'layout'>,
  { row, result }: Reused,
): Promise<PartRecord> {
  const { folder, origin, record } = result;
  const names = outputNames(file.sheet.rows, row);
  const files = record.files.map((one, at) => ({
    ...one,
    path: `${outputStem(names, at + 1)}${extname(one.path)}`,
  }));
  for (const [at, { path }] of record.files.entries())
    await addFile(join(folder, path), join(layout.location, REUSED, (files[at] as FileRecord).path));
  const { reason, texts } = record;
  return {
    row: row.row,
    outcome: 'succeeded',
    reason: `reused from ${origin}${reason === undefined || record.reused_from ? '' : `: ${reason}`}`,
    attempts: [],
    files,
    ...(texts === undefined ? {} : { texts }),
    reused_from: origin,
  };
}

/** A hard link, because the earlier batch may be removed; a copy where the file system has no links. */
async function addFile(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  try {
    await link(from, to).catch(() => copyFile(from, to, constants.COPYFILE_FICLONE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw problem('E504', { what: `${from} was removed while its batch was read` }, { cause: error });
  }
}

/** The rows without a result. */
async function* without(rows: AsyncIterable<Queued>, isReused: Uint8Array): AsyncGenerator<Queued> {
  for await (const queued of rows) if (isReused[queued.row] !== 1) yield queued;
}
