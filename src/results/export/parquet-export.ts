// An export as Parquet: each cell of the sheet is a string with all digits; our numbers are numbers. Rows are written in groups,
// so memory keeps one group.

import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { RESULT_COLUMNS } from '../../sheet/result-columns.ts';
import { isNumber, resultValues, type ExportRow, type ExportSource } from './export-rows.ts';
import type { Sink } from './sink.ts';

/** A group ends with so many rows, or characters. */
const GROUP_ROWS = 10_000;
const GROUP_CHARACTERS = 32 * 1024 * 1024;

type Column = { readonly name: string; readonly type: 'STRING' | 'INT64' | 'DOUBLE' | 'JSON' };

const WHOLE = new Set(['row', 'attempts']);

export async function writeParquet(source: ExportSource, sink: Sink): Promise<readonly string[]> {
  const columns = columnsOf(source);
  const writer = new SinkWriter(sink);
  const parquet = new ParquetWriter({ writer, schema: schemaOf(columns), createdBy: 'runsheet' });
  for await (const group of groups(source))
    await parquet.write({
      columnData: columns.map(({ name }, at) => ({ name, data: group.map((row) => row[at]) })),
      rowGroupSize: GROUP_ROWS,
    });
  await parquet.finish();
  await writer.flush();
  return [];
}

/** The columns of results.csv, and all about the files as JSON. */
function columnsOf({ own, results }: ExportSource): readonly Column[] {
  return [
    ...own.map((name): Column => ({ name, type: 'STRING' })),
    ...RESULT_COLUMNS.map((column, at): Column => {
      const name = results[at] ?? column;
      if (!isNumber(column)) return { name, type: 'STRING' };
      return { name, type: WHOLE.has(column) ? 'INT64' : 'DOUBLE' };
    }),
    { name: own.includes('files') ? 'runsheet_files' : 'files', type: 'JSON' },
  ];
}

const TYPES = {
  STRING: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  JSON: { type: 'BYTE_ARRAY', converted_type: 'JSON', logical_type: { type: 'JSON' } },
  INT64: { type: 'INT64' },
  DOUBLE: { type: 'DOUBLE' },
} as const;

type Schema = ConstructorParameters<typeof ParquetWriter>[0]['schema'];

const schemaOf = (columns: readonly Column[]): Schema => [
  { name: 'root', num_children: columns.length },
  ...columns.map(({ name, type }) => ({ name, repetition_type: 'OPTIONAL' as const, ...TYPES[type] })),
];

type Values = readonly unknown[];

async function* groups({ own, read }: ExportSource): AsyncGenerator<readonly Values[]> {
  let group: Values[] = [];
  let characters = 0;
  for await (const row of read()) {
    group.push(valuesOf(own, row));
    characters += row.cells.reduce((sum, cell) => sum + cell.length, 0);
    if (group.length < GROUP_ROWS && characters < GROUP_CHARACTERS) continue;
    yield group;
    group = [];
    characters = 0;
  }
  if (group.length > 0) yield group;
}

function valuesOf(own: readonly string[], { record, cells }: ExportRow): Values {
  const values = resultValues(record).map((value, at) => {
    if (value === undefined) return undefined;
    return WHOLE.has(RESULT_COLUMNS[at] ?? '') ? BigInt(value) : value;
  });
  return [...own.map((_, at) => cells[at]), ...values, record.files];
}

/** Writes each group into the sink. */
class SinkWriter extends ByteWriter {
  readonly #sink: Sink;

  constructor(sink: Sink) {
    super();
    this.#sink = sink;
  }

  async flush(): Promise<void> {
    const bytes = this.getBytes().slice();
    this.index = 0;
    await this.#sink.write(bytes);
  }
}
