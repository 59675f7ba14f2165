// Writes the result files of an ended batch in one pass over its rows. summary.json is written last: if it exists, all others
// exist.

import { withCosts } from '../options/facts/prices.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Progress } from '../batch/shown/progress.ts';
import { readCells } from '../sheet/read-records.ts';
import { cellText } from '../sheet/sheet-record.ts';
import { ownColumns, resultNames } from '../sheet/result-columns.ts';
import { layoutOf, type BatchFile } from '../store/batch-file.ts';
import { Pieces } from '../store/pieces.ts';
import type { Store } from '../store/store.ts';
import { countWorkers } from '../store/workers.ts';
import { writeAllEvents } from './all-events.ts';
import { csvCells, csvPieces, type RowWithCells, type CsvRecord } from './csv-lines.ts';
import { reportWriter } from './page/report.ts';
import { countRows, recordOf, rowsOf, type BatchRow } from './batch-rows.ts';
import { leadingColumns, sentTexts, templatedInputs } from './sent-texts.ts';
import {
  idleTimes,
  RowFacts,
  summaryOf,
  writeSummary,
  type EndedBatch,
  type LastReading,
} from './summary.ts';

/** Yields to other batches of the worker: a row takes some 40 µs. */
const ROWS_PER_TURN = 50;

export type ResultsParams = Omit<EndedBatch, 'reading'> & {
  readonly file: BatchFile;
  readonly store: Store;
  readonly progress: Progress;
  /** The lists are read while the rows are written. */
  readonly reading: LastReading | Promise<LastReading>;
  /** Called right before files get their final names; throws if another worker writes them now. */
  readonly confirm: () => Promise<void>;
};

export async function writeResults({
  file,
  store,
  progress,
  confirm,
  reading,
  ...times
}: ResultsParams): Promise<void> {
  const workers = await countWorkers(store);
  const results = csvPieces(() => store.draft('results.csv', 'view'));
  const failures = csvPieces(() => store.draft('failures.csv', 'view'));
  const lines = new Pieces(() => store.draft('results.jsonl', 'view'));
  const { startedAt, throughPass } = times;
  const rows = await countRows(store, file, throughPass);
  const idle = await idleTimes(store, throughPass, times.endedAt);
  const report = reportWriter({ file, store, startedAt, rows, confirm, idle });
  const facts = new RowFacts();
  try {
    const header = headerOf(file);
    await Promise.all([results.add(header), failures.add(header)]);
    for await (const row of rowsWithCells(store, file, recordOf, throughPass)) {
      const { record } = row;
      const cells = csvCells(row);
      await results.add(cells);
      if (record.outcome !== 'succeeded') await failures.add(cells);
      facts.add(record);
      await report.add(record, row.cells);
      await lines.add(`${JSON.stringify(record)}\n`);
      if (record.row % ROWS_PER_TURN === 0) await nextTurn();
    }
    await confirm();
    await Promise.all([results.commit(), failures.commit(), lines.commit()]);
  } finally {
    await Promise.all([results.discard(), failures.discard(), lines.discard()]);
  }
  await writeAllEvents({ file, store, confirm, ...times });
  const ended = { ...times, workers, idle, reading: await reading };
  const summary = withCosts(file.service.prices, summaryOf(file, progress, ended, facts));
  await report.write(summary);
  await writeSummary(store, summary, confirm);
}

export function headerOf(file: Pick<BatchFile, 'sheet'>): readonly string[] {
  const columns = leadingColumns(file);
  return [...columns, ...resultNames(columns)];
}

/**
 * Reads the sheet again together with the pages, so that the results contain its cells exactly as given, with the texts of
 * templates behind them.
 */
export async function* rowsWithCells<R extends CsvRecord>(
  store: Store,
  file: BatchFile,
  toRecord: (row: BatchRow, file: BatchFile) => R,
  through?: number,
): AsyncGenerator<RowWithCells<R>> {
  const layout = layoutOf(store, file);
  const sheet = readCells(() => layout.open(file.sheet.file), file.sheet.options, file.sheet.columns)[
    Symbol.asyncIterator
  ]();
  const own = ownColumns(file.sheet.columns).length;
  const templated = templatedInputs(file);
  for await (const row of rowsOf(store, file, { through })) {
    const cells = row.cells ? undefined : await sheet.next();
    const sheetCells = row.cells ?? (cells?.done === false ? cells.value.slice(0, own) : []);
    const record = toRecord(row, file);
    yield { record, cells: [...withChange(file, sheetCells, row), ...sentTexts(templated, record.inputs)] };
  }
}

/** The cells of a row that was sent again with other inputs. */
function withChange({ sheet }: Pick<BatchFile, 'sheet'>, cells: readonly string[], { record }: BatchRow) {
  if (record?.change === undefined) return cells;
  const { set, unset = [] } = record.change;
  const changed = [...cells];
  for (const { input, from, fields = [input] } of sheet.inputs) {
    const at = 'column' in from ? sheet.columns.indexOf(from.column) : -1;
    const [name = input] = fields;
    const isChanged = Object.hasOwn(set, name) || unset.includes(name);
    if (isChanged && at >= 0 && at < cells.length) changed[at] = cellText(set[name]);
  }
  return changed;
}
