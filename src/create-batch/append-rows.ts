// Adds the rows of a further sheet to a batch (--into): new rows after its last one, and failed rows with new inputs. All files are
// written aside, and the file of the pass makes them count. Of two commands at the same time, the second one compares again and
// finds the rows of the first, so repeating a command appends nothing.
//
//   layout/<mark>/passes/<random>/rows/…   the new rows, numbered on, with their cells
//   layout/<mark>/queue/…                  their places, and those of the changed rows
//   passes/<n>.json                        names both; created once

import { randomBytes } from 'node:crypto';
import type { InputType } from '../run-service/contract/deployment.ts';
import { nearest, problem } from '../errors/error.ts';
import { readPage, PageWriter, rowLine } from '../sheet/pages.ts';
import { columnsOf, readCells } from '../sheet/read-records.ts';
import { ownColumns, resultNames } from '../sheet/result-columns.ts';
import type { OrderOptions } from '../sheet/sending-order.ts';
import { layOut, type LaidOut } from '../sheet/sheet.ts';
import type { SheetOptions } from '../sheet/sheet-options.ts';
import type { Queued } from '../sheet/queue.ts';
import { refuseUnbounded } from '../store/attempt-cost.ts';
import { layoutOf } from '../store/batch-file.ts';
import type { BatchFolder } from '../store/batch-folders.ts';
import { openStore } from '../store/open-store.ts';
import { createPass } from '../store/passes.ts';
import type { Store } from '../store/store.ts';
import { within } from '../store/within.ts';
import { compareRows, type Comparison } from './compare-rows.ts';
import type { SheetCopy } from './copy-sheet.ts';
import { errorsFileFor } from './error-list.ts';
import { QueuePages } from './queue-pages.ts';
import { queuedIn } from './rewrite-queue.ts';

export type AppendParams = {
  readonly out: string;
  readonly batch: BatchFolder;
  readonly copy: SheetCopy;
  /** How to read the file; inputs are mapped as in the batch. */
  readonly reading: Pick<SheetOptions, 'delimiter' | 'encoding' | 'limit'>;
  readonly order: OrderOptions;
  readonly inputTypes: readonly InputType[] | undefined;
};

/** A further sheet, checked and in pages. */
export type FurtherSheet = {
  readonly batch: BatchFolder;
  readonly name: string;
  readonly options: SheetOptions;
  readonly laidOut: LaidOut;
  readonly layout: Store;
  readonly file: string;
};

/** Throws the errors of the sheet, and E532 for other columns than the batch has. */
export async function layOutFurther(params: AppendParams): Promise<FurtherSheet> {
  const { batch, copy, reading, order, inputTypes, out } = params;
  const { map, set, drop, types, gpuColumn, gpu, keyColumn } = batch.file.sheet.options;
  const layout = openStore(copy.folder);
  const source = { name: copy.name, open: () => layout.open(copy.file) };
  const format = { format: copy.format, map: {}, set: {}, drop: [], types: {}, ...reading };
  const columns = (await columnsOf(source, format)).map(({ name }) => name);
  refuseOtherColumns(params, columns);
  const key = keyColumn ?? resultKeyIn(columns);
  const options: SheetOptions = {
    ...format,
    map,
    set,
    drop,
    types,
    ...(gpuColumn === undefined ? {} : { gpuColumn }),
    ...(gpu === undefined ? {} : { gpu }),
    ...(key === undefined ? {} : { keyColumn: key }),
  };
  const laidOut = await layOut({
    source,
    options,
    inputTypes,
    store: layout,
    order,
    ownGpu: batch.file.deployment.gpu,
    errors: { store: openStore(out), file: errorsFileFor(out, copy.name) },
  });
  return { batch, name: copy.name, options, laidOut, layout, file: copy.file };
}

/** The column in which results name the rows; undefined if the sheet is no file of results. */
export function resultKeyIn(columns: readonly string[]): string | undefined {
  const own = ownColumns(columns);
  return own.length === columns.length ? undefined : resultNames(own)[1];
}

function refuseOtherColumns({ batch, copy }: AppendParams, columns: readonly string[]): void {
  const [has, given] = [ownColumns(batch.file.sheet.columns), ownColumns(columns)];
  // A member that no row of a JSON sheet has is empty in all of them.
  const isJson = copy.format === 'json' || copy.format === 'jsonl';
  const missing = isJson ? [] : has.filter((name) => !given.includes(name));
  const others = given.filter((name) => !has.includes(name));
  if (missing.length + others.length === 0) return;
  const near = nearest(others[0] ?? '', missing);
  throw problem('E532', { name: copy.name, batch: batch.batch, missing, others, columns: has, near });
}

/** Rows that one error names. */
const MOST_NAMED = 1_000;

/** What the sheet adds to the batch as it is now; the caller closes it. Throws E312, and E533 if a row cannot be changed. */
export async function compareFurther({ batch, name, laidOut, layout }: FurtherSheet): Promise<Comparison> {
  const { file } = batch;
  refuseUnbounded({ ...file, sheet: { lanes: laidOut.lanes } }, file.maxCostNano);
  const comparison = await compareRows(batch, { layout, pages: laidOut.pages });
  const { taken } = comparison;
  if (taken.length === 0) return comparison;
  comparison[Symbol.dispose]();
  const some = taken.slice(0, MOST_NAMED).map(({ row, key, outcome }) => `${row} (key ${key}, ${outcome})`);
  throw problem('E533', { name, batch: batch.batch, count: taken.length, rows: some });
}

export type Appended = { readonly pass: number; readonly appended: number; readonly changed: number };

/** Adds the rows; undefined if the batch has all of them. Only if another pass was added since `found`, they are compared again. */
export async function appendRows(
  sheet: FurtherSheet,
  found: Comparison,
  by: string,
): Promise<Appended | undefined> {
  const { pass, appended, changed } = found;
  if (appended + changed === 0) return undefined;
  if (await addPass(sheet, found, by)) return { pass, appended, changed };
  using newest = await compareFurther(sheet);
  // Awaited here, because the comparison is closed on return.
  return await appendRows(sheet, newest, by);
}

async function addPass(sheet: FurtherSheet, comparison: Comparison, by: string): Promise<boolean> {
  const { store, file } = sheet.batch;
  const { pass, appended, changed } = comparison;
  const folder = `passes/${randomBytes(8).toString('hex')}`;
  if (appended > 0) await writeRows(sheet, comparison, within(layoutOf(store, file), folder));
  const queue = await QueuePages.open(store, file, pass);
  for (const [lane, { gpu = '' }] of sheet.laidOut.lanes.entries()) {
    await queue.add(
      gpu,
      placesIn(sheet, lane, (row) => newPlace(comparison, row, folder)),
      true,
    );
    await queue.add(
      gpu,
      placesIn(sheet, lane, (row) => comparison.againOf(row)),
    );
  }
  return createPass(store, pass, {
    at: new Date().toISOString(),
    kind: 'append',
    by,
    ...(changed > 0 ? { isChanged: true } : {}),
    ...(appended > 0 ? { appended: { folder, rows: appended } } : {}),
    segments: queue.segments,
  });
}

/** The new rows with their cells, in the order of the batch's columns. */
async function writeRows(sheet: FurtherSheet, comparison: Comparison, to: Store): Promise<void> {
  const { laidOut, layout, batch, options } = sheet;
  const own = ownColumns(batch.file.sheet.columns).map((name) => laidOut.columns.indexOf(name));
  const lines = readCells(() => layout.open(sheet.file), options, laidOut.columns)[Symbol.asyncIterator]();
  let writer: PageWriter | undefined;
  for (let page = 1; page <= laidOut.pages; page += 1)
    for (const { row, key, gpu, inputs } of await readPage(layout, page)) {
      const { value: cells = [] } = (await lines.next()) as { readonly value?: readonly string[] };
      const number = comparison.numberOf(row);
      if (number === undefined) continue;
      writer ??= new PageWriter(to, number);
      const shown = own.map((at) => cells[at] ?? '');
      const full = writer.add(rowLine(number, key, gpu, JSON.stringify(inputs), shown));
      if (full) await full;
    }
  await lines.return?.(undefined);
  await writer?.end();
}

function newPlace(comparison: Comparison, row: number, folder: string): Queued | undefined {
  const number = comparison.numberOf(row);
  return number === undefined ? undefined : { row: number, in: folder };
}

async function* placesIn(
  { laidOut, layout }: FurtherSheet,
  lane: number,
  placeOf: (row: number) => Queued | undefined,
): AsyncGenerator<Queued> {
  for await (const { row } of queuedIn(layout, laidOut, lane)) {
    const place = placeOf(row);
    if (place !== undefined) yield place;
  }
}
