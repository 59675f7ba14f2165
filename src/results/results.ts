// The files of a finished batch, written in one pass over its rows in the order of the sheet. summary.json comes last:
// where it is, all others are.

import { stringify } from 'csv-stringify/sync';
import { readCells } from '../sheet/records.ts';
import { ownColumns, resultNames } from '../sheet/result-columns.ts';
import type { BatchFile } from '../store/batch-file.ts';
import type { Draft, Store } from '../store/store.ts';
import type { BatchView } from '../batch/view.ts';
import { csvCellsOf, type RowRecord } from './record.ts';
import { writeReport } from './report.ts';
import { recordOf, rowsOf, type BatchRow } from './rows.ts';
import { summaryOf, writeSummary, type LastReading } from './summary.ts';

export type ResultsOrder = {
  readonly file: BatchFile;
  readonly store: Store;
  readonly view: BatchView;
  readonly startedAt: number;
  readonly reading: LastReading;
};

/** Rows turned into text at once: large enough to be quick, small enough to stay flat in memory. */
const ROWS_AT_ONCE = 500;

export async function writeResults({ file, store, view, startedAt, reading }: ResultsOrder): Promise<void> {
  const summary = summaryOf(file, view, { startedAt, endedAt: Date.now(), reading });
  const results = await store.draft('results.csv');
  const failures = await store.draft('failures.csv');
  const lines = await store.draft('results.jsonl');
  try {
    const header = stringify([headerOf(file)]);
    await Promise.all([results.write(header), failures.write(header)]);
    for await (const rows of rowsWithCells(store, file, recordOf)) {
      await writeRows({ results, failures, lines }, rows);
    }
    await Promise.all([results.commit(), failures.commit(), lines.commit()]);
  } finally {
    await Promise.all([results.discard(), failures.discard(), lines.discard()]);
  }
  await writeReport(store, file, summary);
  await writeSummary(store, summary);
}

/** The sheet's own columns as given, then ours. */
export function headerOf({ sheet }: Pick<BatchFile, 'sheet'>): readonly string[] {
  const own = ownColumns(sheet.columns);
  return [...own, ...resultNames(own)];
}

type Shown = Parameters<typeof csvCellsOf>[0];
type RowWithCells<R extends Shown = RowRecord> = { readonly record: R; readonly cells: readonly string[] };

/** The sheet is read again beside the pages: its cells stand in the results exactly as they were given. */
export async function* rowsWithCells<R extends Shown>(
  store: Store,
  file: BatchFile,
  toRecord: (row: BatchRow) => R,
): AsyncGenerator<readonly RowWithCells<R>[]> {
  const sheet = readCells(() => store.open(file.sheet.file), file.sheet.options, file.sheet.columns)[
    Symbol.asyncIterator
  ]();
  const own = ownColumns(file.sheet.columns).length;
  let batch: RowWithCells<R>[] = [];
  for await (const row of rowsOf(store, file)) {
    const cells = await sheet.next();
    batch.push({ record: toRecord(row), cells: cells.done ? [] : cells.value.slice(0, own) });
    if (batch.length === ROWS_AT_ONCE) {
      yield batch;
      batch = [];
    }
  }
  yield batch;
}

async function writeRows(
  { results, failures, lines }: Readonly<Record<'results' | 'failures' | 'lines', Draft>>,
  rows: readonly RowWithCells[],
): Promise<void> {
  const failed = rows.filter(({ record }) => record.outcome !== 'succeeded');
  await results.write(csvOf(rows));
  if (failed.length > 0) await failures.write(csvOf(failed));
  await lines.write(rows.map(({ record }) => `${JSON.stringify(record)}\n`).join(''));
}

export const csvOf = (rows: readonly RowWithCells<Shown>[]): string =>
  stringify(rows.map(({ record, cells }) => [...cells, ...Object.values(csvCellsOf(record))]));
