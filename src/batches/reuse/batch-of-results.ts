// Finds the batch that wrote a sheet of results, such as failures.csv after its rows were corrected. Such a sheet ends with the
// result columns, and one of them names the rows.

import { isRunsheetError } from '../../errors/error.ts';
import { readBatchSheet, sheetRows } from '../../sheet/placed-rows.ts';
import { columnsOf, readCells } from '../../sheet/read-records.ts';
import { ownColumns } from '../../sheet/result-columns.ts';
import { settleReading } from '../../sheet/guesses/guess-reading.ts';
import { layoutOf } from '../../store/batch-file.ts';
import { sourceIn, type ReadOptions } from '../../sheet/sheet-source.ts';
import { openStore } from '../../store/open-store.ts';
import { resultKeyIn } from '../append/append-rows.ts';
import { listBatchFolders, type BatchFolder } from '../../store/batch-folders.ts';
import type { SheetCopy } from '../copy-sheet.ts';

type Wanted = {
  readonly out: string;
  readonly copy: SheetCopy;
  readonly reading: ReadOptions;
  readonly deployment: string;
};

/** The newest batch with these columns that has all rows; undefined for any other sheet. */
export async function findBatchOfResults(wanted: Wanted): Promise<BatchFolder | undefined> {
  const { out, copy, reading, deployment } = wanted;
  const layout = openStore(copy.folder);
  const readOptions = { format: copy.format, map: {}, set: {}, drop: [], types: {}, ...reading };
  const source = sourceIn(layout, copy);
  const { options } = await settleReading(source, readOptions, undefined);
  const columns = (await columnsOf(source, options).catch(noHeader)).map(({ name }) => name);
  const keyColumn = resultKeyIn(columns);
  if (keyColumn === undefined) return undefined;
  const own = JSON.stringify(ownColumns(columns));
  const candidates = (await listBatchFolders(out)).filter(
    ({ file }) =>
      JSON.stringify(ownColumns(file.sheet.columns)) === own &&
      [file.deployment.id, file.deployment.name].includes(deployment),
  );
  if (candidates.length === 0) return undefined;
  const keys = new Set<string>();
  const at = columns.indexOf(keyColumn);
  for await (const cells of readCells(source.open, options, columns)) keys.add(cells[at] ?? '');
  for (const batch of candidates) if (await hasAll(batch, keys)) return batch;
  return undefined;
}

/** Results have their header in the first row. For other sheets, the layout can still find a header below a title. */
function noHeader(error: unknown): [] {
  if (isRunsheetError(error, 'E103') || isRunsheetError(error, 'E104')) return [];
  throw error;
}

async function hasAll({ store, file }: BatchFolder, keys: ReadonlySet<string>): Promise<boolean> {
  const left = new Set(keys);
  const sheet = await readBatchSheet(store, file);
  for await (const { row } of sheetRows(layoutOf(store, file), sheet, 1, sheet.rows)) {
    left.delete(row.key);
    if (left.size === 0) return true;
  }
  return false;
}
