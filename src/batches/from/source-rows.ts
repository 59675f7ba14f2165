// Reads the rows of a batch that has ended as rows of a new sheet.

import { problem } from '../../errors/error.ts';
import { recordOf } from '../../results/batch-rows.ts';
import { rowsWithCells } from '../../results/results.ts';
import { cellsOf, csvCellsOf } from '../../results/result-cells.ts';
import type { RowRecord } from '../../results/row-record.ts';
import { cellText } from '../../sheet/sheet-record.ts';
import type { RowCondition } from '../../sheet/where/where.ts';
import type { BatchFolder } from '../../store/batch-folders.ts';
import { ownColumns, resultNames } from '../../sheet/result-columns.ts';

/** A file of a row that needs an address. */
export type WantedFile = {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  /** The position among the files of its run, from 1. */
  readonly nth: number;
  /** Empty for a reused result, whose run is not known. */
  readonly run: string;
};

/** Stands for the address of this file in a cell, until the address is known. */
export type FileCell = { readonly file: WantedFile };

export type RowsParams = {
  readonly batchFolder: BatchFolder;
  readonly columns: SourceColumns;
  readonly where: RowCondition;
  /** Whether to write a row for each row of the batch, or for each of its files. */
  readonly each: 'row' | 'file';
  /** The columns that hold addresses of files instead of paths. */
  readonly addressed: ReadonlySet<'output' | 'outputs'>;
};

/** Counts for messages: rows read, and rows left out because they have no file. */
export type RowCounts = { rows: number; withoutFile: number };

/** The values of each row in the order of the columns, without those of the picks. Throws E556 for a row that lacks the file of an input. */
export async function* sourceRows(
  params: RowsParams,
  isPicked: (row: Pick<RowRecord, 'row' | 'key'>) => boolean,
  counts: RowCounts,
): AsyncGenerator<readonly (readonly unknown[])[]> {
  const { batchFolder, columns, where, each, addressed } = params;
  const { store, file, batch } = batchFolder;
  for await (const { record, cells } of rowsWithCells(store, file, recordOf)) {
    counts.rows += 1;
    if (!isPicked(record)) continue;
    const values = carriedValues(columns, record, cells);
    if (!where(cellOf(columns, record, cells))) continue;
    if (record.files.length === 0 && (each === 'file' || addressed.size > 0)) {
      if (each === 'row') throw withoutFile(batch, record);
      counts.withoutFile += 1;
      continue;
    }
    const files = filesOf(record);
    const shares = each === 'row' ? [files] : files.map((output) => [output]);
    yield shares.map((share, at) => {
      const key = each === 'row' ? record.key : `${record.key}-${at + 1}`;
      return [...values, ...resultValues(params, record, key, share)];
    });
  }
}

const withoutFile = (batch: string, { row, key, outcome }: RowRecord) =>
  problem('E556', {
    what: `row ${row} (key ${key}) of batch ${batch} has no output: it ${outcome === 'succeeded' ? 'made no file' : `is ${outcome}`}`,
    hint: `to leave such rows out, add to --where: and output != ''`,
  });

/** The cells of the batch's own columns. An input has the value and the type that were sent. */
const carriedValues = (
  { carried }: SourceColumns,
  { inputs }: RowRecord,
  cells: readonly string[],
): readonly unknown[] =>
  carried.map(({ cell, input }) =>
    input === undefined ? cells[cell ?? 0] || null : (inputs[input] ?? null),
  );

function filesOf({ files, attempts }: RowRecord): readonly WantedFile[] {
  const run = attempts.findLast(({ outcome }) => outcome === 'succeeded')?.run_id ?? '';
  return files.map(({ path, sha256, bytes }, at) => ({ path, sha256, bytes, nth: at + 1, run }));
}

function resultValues(
  { addressed }: RowsParams,
  record: RowRecord,
  key: string,
  share: readonly WantedFile[],
): readonly unknown[] {
  const [first] = share;
  const paths = share.map(({ path }) => path).join(' ') || null;
  // A text may be an input of the next batch, so it is not escaped for spreadsheets.
  const { texts } = cellsOf(record);
  const cells = Object.values({ ...csvCellsOf({ ...record, key }), texts });
  return [
    first === undefined ? null : addressed.has('output') ? { file: first } : first.path,
    ...cells.slice(0, -1).map((cell) => cell || null),
    addressed.has('outputs') ? share.map((file) => ({ file })) : paths,
  ];
}

/** Looks up the text of a column for the conditions of --where. */
function cellOf(
  columns: SourceColumns,
  record: RowRecord,
  cells: readonly string[],
): (column: string) => string {
  let results: readonly string[] | undefined;
  return (column) => {
    if (column === columns.output) return record.files[0]?.path ?? '';
    const at = columns.results.indexOf(column);
    if (at >= 0) return (results ??= Object.values(csvCellsOf(record)))[at] ?? '';
    const carried = columns.carried.find(({ name }) => name === column);
    if (carried?.input === undefined) return cells[carried?.cell ?? -1] ?? '';
    return cellText(record.inputs[carried.input]);
  };
}

/** The columns that a condition may use. */
export const whereColumns = ({ carried, output, results }: SourceColumns): readonly string[] => [
  ...carried.map(({ name }) => name),
  output,
  ...results,
];

/** A column of the batch: a cell of its sheet, or an input that has no column of its own. */
type Carried = { readonly name: string; readonly cell?: number; readonly input?: string };

/**
 * The columns of a sheet made from the results of a batch: those of the batch's own sheet and its other inputs, those of the picks, the output, and
 * the result columns of results.csv.
 */
export type SourceColumns = {
  readonly carried: readonly Carried[];
  readonly added: readonly string[];
  /** The path or the address of the first output. */
  readonly output: string;
  readonly results: readonly string[];
  /** Every column, in the order of the sheet. */
  readonly all: readonly string[];
};

/** The facts about a batch, or a planned batch, that decide the columns. */
export type SourceBatch = {
  readonly sheet: {
    readonly columns: readonly string[];
    readonly inputs: readonly {
      readonly input: string;
      readonly from: { readonly column: string } | { readonly value: unknown };
    }[];
  };
  /** Set if the sheet of the batch was itself made from results. */
  readonly from?: unknown;
};

export const OUTPUT = 'output';

/** `picked`: the further columns of the picks, which replace columns of the batch with the same name. */
export function sourceColumns({ sheet, from }: SourceBatch, picked: readonly string[] = []): SourceColumns {
  const cells = ownColumns(sheet.columns);
  const inputOf = new Map(
    sheet.inputs.flatMap(({ input, from: source }) =>
      'column' in source ? [[source.column, input] as const] : [],
    ),
  );
  const own = cells.flatMap((name, cell): Carried[] => {
    // The output of an earlier step would hide the output of this batch.
    if (from !== undefined && name === OUTPUT) return [];
    const input = inputOf.get(name);
    return [input === undefined ? { name, cell } : { name, cell, input }];
  });
  const withoutColumn = sheet.inputs
    .filter(({ input }) => !own.some(({ name }) => name === input))
    .map(({ input }): Carried => ({ name: input, input }));
  const carried = [...own, ...withoutColumn];
  const names = carried.map(({ name }) => name);
  const added = picked.filter((name) => !names.includes(name));
  const before = [...names, ...added];
  const output = before.includes(OUTPUT) ? `runsheet_${OUTPUT}` : OUTPUT;
  const results = resultNames([...before, output]);
  return { carried, added, output, results, all: [...before, output, ...results] };
}

/** The name of a result column in this sheet. */
export const resultIn = ({ results }: SourceColumns, column: 'key' | 'outputs'): string =>
  results[column === 'key' ? 1 : results.length - 1] ?? column;
