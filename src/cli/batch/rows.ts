// rows, show and results: print rows from the batch folder, also while the batch runs.

import type { FlagsOf, ShownFlags } from '../flags/flags.ts';
import type { rowsFlags } from './batch-flags.ts';
import { dirname } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { EXIT, list, nearest, problem } from '../../errors/error.ts';
import { shortened, terminalLine, shellWord } from '../../errors/outside-text.ts';
import { cellsOf, csvCellsOf, type FileRecord } from '../../results/row-record.ts';
import {
  rowsOf,
  type BatchRow,
  shownRow as lineOf,
  type ShownRow as Line,
} from '../../results/batch-rows.ts';
import { csvCells, CsvLines } from '../../results/csv-lines.ts';
import { headerOf, rowsWithCells } from '../../results/results.ts';
import { changedInputs } from '../../sheet/input-change.ts';
import { ownColumns, RESULT_COLUMNS, type ResultColumn } from '../../sheet/result-columns.ts';
import type { BatchFile } from '../../store/batch-file.ts';
import { findBatch, type FoundBatch } from '../../library/handle/found-batch.ts';
import { findRow, type RowName } from '../../library/handle/run-log.ts';
import { printerFor, type Context } from '../context.ts';
import { fromText, plural } from '../format.ts';
import { rowJson } from '../json/row.ts';
import { configOf } from '../flags/batch-options.ts';
import { nextCommand, sayNext, type Next } from '../next-command.ts';
import { put, rowLine } from '../follow/row-stream.ts';
import { listBatchFolders } from '../../store/batch-folders.ts';

type RowsFlags = FlagsOf<typeof rowsFlags>;

export async function rows(this: Context, flags: RowsFlags, name: string | undefined): Promise<number> {
  const found = await findBatch(configOf(flags).out, name);
  const fields = flags.fields === undefined ? FIELDS : fieldsIn(flags.fields, found.file);
  const write = WRITERS[flags.output](this.process.stdout, fields);
  let [shown, first] = [0, 0];
  for await (const { record, columns } of flags.follow ? followed(found, fields) : linesOf(found, fields)) {
    if (flags.outcome !== undefined && record.outcome !== flags.outcome) continue;
    await write.row(record, columns);
    shown += 1;
    first ||= record.row;
  }
  await write.end();
  if (flags.output !== 'table') return EXIT.ok;
  const printer = printerFor(this);
  printer.notice(plural(shown, 'row'));
  sayNext(
    printer,
    flags.output,
    first > 0
      ? ['show', nextCommand('show', found, { more: String(first) })]
      : ['rows', nextCommand('rows', found)],
  );
  return EXIT.ok;
}

const FIELDS: readonly string[] = [
  'row',
  'key',
  'outcome',
  'gpu_used',
  'run_seconds',
  'attempts',
  'reason',
] satisfies ResultColumn[];

const isResultOrInput = (field: string, { sheet }: BatchFile): boolean =>
  (RESULT_COLUMNS as readonly string[]).includes(field) || sheet.inputs.some(({ input }) => input === field);

/** The cells of the columns that are no inputs, by name. */
type Columns = Readonly<Record<string, string>>;
type LineWithColumns = { readonly record: Line; readonly columns: Columns };

/** Reads the sheet again only if a field is one of its columns that gives no input. */
async function* linesOf(
  { store, file }: FoundBatch,
  fields: readonly string[],
): AsyncGenerator<LineWithColumns> {
  const wanted = fields.filter((field) => !isResultOrInput(field, file));
  if (wanted.length === 0) {
    for await (const row of rowsOf(store, file)) yield { record: lineOf(row), columns: {} };
    return;
  }
  const own = ownColumns(file.sheet.columns);
  const places = wanted.map((field) => [field, own.indexOf(field)] as const);
  for await (const { record, cells } of rowsWithCells(store, file, lineOf))
    yield { record, columns: Object.fromEntries(places.map(([field, at]) => [field, cells[at] ?? ''])) };
}

/** Rows as they end, until the batch has ended. Throws E602 for a field that only the sheet has. */
async function* followed(
  { batch, folder, file }: FoundBatch,
  fields: readonly string[],
): AsyncGenerator<LineWithColumns> {
  const own = fields.find((field) => !isResultOrInput(field, file));
  if (own !== undefined)
    throw problem('E602', {
      what: `--follow prints no columns that give no input, such as ${own}`,
      hint: 'leave --follow out, or the column',
    });
  const { connect } = await import('../../library/runsheet.ts');
  await using runsheet = await connect({ store: dirname(folder) });
  for await (const record of runsheet.getHandle(batch).rows({ follow: true })) yield { record, columns: {} };
}

/** Throws E602 for a name that is neither a result column, nor an input, nor a column of the sheet. */
function fieldsIn(names: string, { sheet }: BatchFile): readonly string[] {
  const inputs = sheet.inputs.map(({ input }) => input);
  const known = [...new Set([...RESULT_COLUMNS, ...inputs, ...ownColumns(sheet.columns)])];
  const fields = names.split(',');
  const wrong = fields.find((field) => !known.includes(field));
  if (wrong === undefined) return fields;
  const near = nearest(wrong, known);
  throw problem('E602', {
    what: `--fields: there is no column ${JSON.stringify(wrong)}`,
    hint: `${near === undefined ? '' : `did you mean ${near}? `}columns: ${list(known)}`,
  });
}

export async function show(
  this: Context,
  flags: ShownFlags,
  first: string,
  second: string | undefined,
): Promise<number> {
  const printer = printerFor(this);
  const { found, name } = await namedRow(configOf(flags).out, 'show', first, second);
  const one = await findRow(found, name);
  if (flags.output === 'json') printer.json(rowJson(lineOf(one)));
  else printer.data(textOf(one, found));
  sayNext(printer, flags.output, ...nextOfRow(found, one));
  return EXIT.ok;
}

/** Its log, if it has a run; another attempt, if it failed. */
function nextOfRow(found: FoundBatch, { row: { row }, record }: BatchRow): readonly Next[] {
  const hasRun = record?.attempts.some((one) => one.run_id !== undefined);
  const isFailed = record?.outcome === 'failed' || record?.outcome === 'timed-out';
  return [
    ...(isFailed ? [['again', nextCommand('retry', found, { more: `--row ${row}` })] as const] : []),
    hasRun
      ? ['log', nextCommand('logs', found, { more: String(row) })]
      : ['status', nextCommand('status', found)],
  ];
}

type ResultsFlags = { readonly out?: string; readonly output: 'csv' | 'jsonl' | 'json' };

/** Prints the columns of results.csv with the results so far. */
export async function results(this: Context, flags: ResultsFlags, name: string | undefined): Promise<number> {
  const found = await findBatch(configOf(flags).out, name);
  const { store, file } = found;
  const { stdout } = this.process;
  const csv = new CsvLines();
  if (flags.output === 'csv') await put(stdout, csv.add(headerOf(file)));
  const lines = flags.output === 'csv' ? undefined : WRITERS[flags.output](stdout, []);
  try {
    for await (const row of rowsWithCells(store, file, lineOf)) {
      if (lines === undefined) await put(stdout, csv.add(csvCells(row)));
      else await lines.row(row.record);
    }
  } finally {
    await put(stdout, csv.rest());
  }
  await lines?.end();
  if (flags.output !== 'csv') return EXIT.ok;
  const printer = printerFor(this);
  printer.notice(plural(file.sheet.rows, 'row'));
  sayNext(printer, 'text', ['export', nextCommand('export', found, { more: '--as xlsx' })]);
  return EXIT.ok;
}

type Writer = { row(line: Line, columns?: Columns): Promise<void>; end(): Promise<void> };
type OpenWriter = (stream: NodeJS.WriteStream, fields: readonly string[]) => Writer;

const WRITERS: Readonly<Record<RowsFlags['output'], OpenWriter>> = {
  table: (stream, fields) => {
    let isFirst = true;
    return {
      row: async (line, columns) => {
        if (isFirst) await put(stream, `${fields.join('\t')}\n`);
        isFirst = false;
        await put(
          stream,
          `${fields.map((field) => shortened(terminalLine(cellOf({ ...columns, ...cellsOf(line) }, line, field)), 60)).join('\t')}\n`,
        );
      },
      end: async () => undefined,
    };
  },
  csv: (stream, fields) => {
    let header = stringify([fields]);
    return {
      row: async (line, columns) => {
        const cells = { ...columns, ...csvCellsOf(line) };
        await put(stream, header + stringify([fields.map((field) => cellOf(cells, line, field))]));
        header = '';
      },
      end: () => put(stream, header),
    };
  },
  jsonl: (stream) => ({
    row: (line) => put(stream, `${rowLine(line)}\n`),
    end: async () => undefined,
  }),
  json: (stream) => {
    let before = '[\n';
    return {
      row: async (line) => {
        await put(stream, before + rowLine(line));
        before = ',\n';
      },
      end: () => put(stream, before === '[\n' ? '[]\n' : '\n]\n'),
    };
  },
};

/** A result column or a column of the sheet, else an input of the row. */
function cellOf(cells: Readonly<Record<string, string>>, line: Line, field: string): string {
  const value = cells[field] ?? line.inputs[field] ?? '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function textOf({ row, record }: BatchRow, { batch, folder, file }: FoundBatch): string {
  const inputs = Object.entries(changedInputs(row.inputs, record?.change)).map(
    ([name, value]) => `    ${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const attempts = (record?.attempts ?? []).map(
    (one) =>
      `    ${one.attempt}. ${one.outcome}${one.run_id ? `  run ${one.run_id}` : ''}${one.gpu_used ? `  ${one.gpu_used}` : ''}${one.run_seconds === undefined ? '' : `  ${one.run_seconds} s`}${one.reason ? `  ${one.reason}` : ''}`,
  );
  const gpu = record?.gpu_asked ?? row.gpu;
  const files = (record?.files ?? []).map((one) => `    ${folder}/${one.path}${nodeText(one)}`);
  return [
    `row ${row.row} of ${batch}: ${record?.outcome ?? 'open'}${record?.reason ? ` (${record.reason})` : ''}`,
    `  key ${row.key}${gpu ? `  gpu asked ${gpu}` : ''}`,
    ...(file.from === undefined ? [] : [`  from ${fromText(file.from)}`]),
    '  inputs',
    ...inputs,
    ...(attempts.length > 0 ? ['  attempts', ...attempts] : []),
    ...(files.length > 0 ? ['  files', ...files] : []),
  ]
    .map(terminalLine)
    .join('\n');
}

/** The node of the workflow that made a file. */
const nodeText = ({ node }: FileRecord): string => (node === undefined ? '' : `  (node ${node})`);

type NamedRow = { readonly found: FoundBatch; readonly name: RowName };

/** Throws E502, and E602 if a single word may also be the name of a batch. */
export async function namedRow(
  out: string,
  command: string,
  first: string,
  second: string | undefined,
): Promise<NamedRow> {
  if (second !== undefined) return { found: await findBatch(out, first), name: nameFrom(second) };
  const found = await findBatch(out, undefined);
  const meant = (await listBatchFolders(out)).find(({ batch }) => batch.startsWith(first));
  if (meant === undefined) return { found, name: nameFrom(first) };
  throw problem('E602', {
    what: `${JSON.stringify(first)} may be the batch ${meant.batch}, or a row of the newest batch ${found.batch}`,
    hint: [
      `a row of that batch, such as its first: runsheet ${command} ${meant.batch} 1`,
      `the row of the newest batch: runsheet ${command} ${found.batch} ${shellWord(first)}`,
    ].join('\n'),
  });
}

const nameFrom = (word: string): RowName => ({
  row: /^[1-9]\d{0,9}$/.test(word) ? Number(word) : undefined,
  key: word,
});
