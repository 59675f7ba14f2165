// rows, show and results: print rows from the batch folder, also while the batch runs.

import { stringify } from 'csv-stringify/sync';
import type { Outcome } from '../batch/outcome.ts';
import { EXIT, list, nearest, problem } from '../errors/error.ts';
import { shortened, terminalJson, terminalLine } from '../errors/outside-text.ts';
import { cellsOf, csvCellsOf, type RowRecord } from '../results/row-record.ts';
import { countRows, recordOf, rowOf, rowsOf, type BatchRow } from '../results/batch-rows.ts';
import { csvOf, headerOf, rowsWithCells } from '../results/results.ts';
import { changedInputs } from '../sheet/input-change.ts';
import { RESULT_COLUMNS, type ResultColumn } from '../sheet/result-columns.ts';
import type { BatchFile } from '../store/batch-file.ts';
import { findBatch, type FoundBatch } from '../library/found-batch.ts';
import { printerFor, type Context } from './context.ts';
import { fromText } from './format.ts';
import { configOf } from './batch-options.ts';

type RowsFlags = {
  readonly out?: string;
  readonly output: 'table' | 'csv' | 'jsonl' | 'json';
  readonly outcome?: Outcome | 'open';
  readonly fields?: string;
};

export async function rows(this: Context, flags: RowsFlags, name: string | undefined): Promise<number> {
  const found = await findBatch(configOf(flags).out, name);
  const fields = flags.fields === undefined ? FIELDS : fieldsIn(flags.fields, found.file);
  const write = WRITERS[flags.output](this.process.stdout, fields);
  for await (const row of rowsOf(found.store, found.file)) {
    const line = lineOf(row);
    if (flags.outcome === undefined || line.outcome === flags.outcome) await write.row(line);
  }
  await write.end();
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

/** Throws E602 for a name that is neither a result column nor an input of the batch. */
function fieldsIn(names: string, { sheet }: BatchFile): readonly string[] {
  const known = [...RESULT_COLUMNS, ...sheet.inputs.map(({ input }) => input)];
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
  flags: { readonly out?: string; readonly output: 'text' | 'json' },
  name: string,
  row: number,
): Promise<number> {
  const printer = printerFor(this);
  const found = await findBatch(configOf(flags).out, name);
  const one = await rowOf(found.store, found.file, row);
  if (one === undefined)
    throw problem('E505', {
      batch: found.batch,
      row,
      rows: await countRows(found.store, found.file),
    });
  const record = one.record ? recordOf(one) : { ...one.row, outcome: 'open' };
  if (flags.output === 'json') printer.json(record);
  else printer.data(textOf(one, found));
  return EXIT.ok;
}

type ResultsFlags = { readonly out?: string; readonly output: 'csv' | 'jsonl' | 'json' };

/** Prints the columns of results.csv with the results so far. */
export async function results(this: Context, flags: ResultsFlags, name: string | undefined): Promise<number> {
  const { store, file } = await findBatch(configOf(flags).out, name);
  const { stdout } = this.process;
  if (flags.output === 'csv') await put(stdout, stringify([headerOf(file)]));
  const lines = flags.output === 'csv' ? undefined : WRITERS[flags.output](stdout, []);
  for await (const row of rowsWithCells(store, file, lineOf)) {
    if (lines === undefined) await put(stdout, csvOf(row));
    else await lines.row(row.record);
  }
  await lines?.end();
  return EXIT.ok;
}

/** A record, or the substitute for an open row. */
type Line = Omit<RowRecord, 'outcome'> & { readonly outcome: RowRecord['outcome'] | 'open' };

/** A row without an outcome is `open`. */
const lineOf = (row: BatchRow): Line =>
  row.record ? recordOf(row) : { ...recordOf(row), outcome: 'open', reason: '' };

type Writer = { row(line: Line): Promise<void>; end(): Promise<void> };
type OpenWriter = (stream: NodeJS.WriteStream, fields: readonly string[]) => Writer;

const WRITERS: Readonly<Record<RowsFlags['output'], OpenWriter>> = {
  table: (stream, fields) => {
    let isFirst = true;
    return {
      row: async (line) => {
        if (isFirst) await put(stream, `${fields.join('\t')}\n`);
        isFirst = false;
        await put(
          stream,
          `${fields.map((field) => shortened(terminalLine(cellOf(cellsOf(line), line, field)), 60)).join('\t')}\n`,
        );
      },
      end: async () => undefined,
    };
  },
  csv: (stream, fields) => {
    let header = stringify([fields]);
    return {
      row: async (line) => {
        await put(stream, header + stringify([fields.map((field) => cellOf(csvCellsOf(line), line, field))]));
        header = '';
      },
      end: () => put(stream, header),
    };
  },
  jsonl: (stream) => ({
    row: (line) => put(stream, `${jsonOf(line)}\n`),
    end: async () => undefined,
  }),
  json: (stream) => {
    let before = '[\n';
    return {
      row: async (line) => {
        await put(stream, before + jsonOf(line));
        before = ',\n';
      },
      end: () => put(stream, before === '[\n' ? '[]\n' : '\n]\n'),
    };
  },
};

const jsonOf = (line: Line): string => terminalJson(JSON.stringify(line));

/** A result column, else an input of the row. */
function cellOf(cells: Readonly<Record<string, string>>, line: Line, field: string): string {
  const value = cells[field] ?? line.inputs[field] ?? '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Waits if the reader is slower. */
function put(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((done) => {
    stream.write(text, () => done());
  });
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
  const files = (record?.files ?? []).map(({ path }) => `    ${folder}/${path}`);
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
