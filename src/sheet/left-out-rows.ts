// The rows that were left out of a sheet. When it is saved again, the same rows are left out although their numbers may have changed: totals
// are known by their word, other rows by their text.

import { list, problem, type RunsheetError } from '../errors/error.ts';
import type { InputType } from '../run-service/contract/deployment.ts';
import { mapColumns } from './column-mapping.ts';
import { columnsOf, surveyedRecords } from './read-records.ts';
import { cellText, shortened, type SheetRecord } from './sheet-record.ts';
import { type SheetSource, isSkipped, type SheetOptions, rangesOf } from './sheet-source.ts';
import type { RowRange } from '../options/batch-kinds.ts';
import { Survey } from './guesses/survey.ts';

export type LeftOutRows = {
  /** What totals and notes are known by. */
  readonly totals: ReadonlySet<string>;
  /** The columns whose cells are the text of a row. */
  readonly columns: readonly string[];
  /** The text of a row → which of the rows with this text are left out, from 1. */
  readonly rows: ReadonlyMap<string, ReadonlySet<number>>;
};

/** The rows that `skipRows` leaves out of this sheet. */
export async function leftOutOf(
  source: SheetSource,
  options: SheetOptions,
  inputTypes: readonly InputType[] | undefined,
): Promise<LeftOutRows> {
  const { skipRows = [], limit: _, hidden: __, ...whole } = options;
  const columns = await columnsOf(source, whole);
  const names = columns.map(({ name }) => name);
  if (skipRows.length === 0) return { totals: new Set(), columns: names, rows: new Map() };
  const survey = new Survey({
    plan: mapColumns(source.name, columns, whole, inputTypes),
    keys: [],
    data: [],
  });
  await survey.read(surveyedRecords(source, whole, names), {
    most: Number.POSITIVE_INFINITY,
    hasTotals: true,
    hasComments: false,
    isLeftOut: () => false,
  });
  const totals = new Map([...survey.totals].filter(([line]) => isSkipped(options, line)));
  const isOther = ({ line }: SheetRecord): boolean => isSkipped(options, line) && !totals.has(line);
  const rows = new Map<string, Set<number>>();
  for await (const record of surveyedRecords(source, whole, names))
    if (isOther(record)) rows.set(textOf(record, names, names), new Set());
  await eachOf({ source, options: whole, names }, { columns: names, rows }, (record, text, nth) => {
    if (isOther(record)) rows.get(text)?.add(nth);
  });
  return { totals: new Set(totals.values()), columns: names, rows };
}

/** Where these rows stand in a sheet that was saved again, except totals. Throws E112 if one of them is no longer there. */
export async function rowsLeftOut(
  source: SheetSource,
  given: SheetOptions,
  { columns, rows }: LeftOutRows,
): Promise<readonly RowRange[]> {
  const { limit: _, hidden: __, ...options } = given;
  if (rows.size === 0) return [];
  const names = (await columnsOf(source, options)).map(({ name }) => name);
  const lines: number[] = [];
  const missing = new Map([...rows].map(([text, nths]) => [text, new Set(nths)]));
  await eachOf({ source, options, names }, { columns, rows }, (record, text, nth) => {
    if (missing.get(text)?.delete(nth)) lines.push(record.line);
  });
  const gone = [...missing].flatMap(([text, nths]) => (nths.size > 0 ? [shownText(text)] : []));
  if (gone.length > 0) throw changed(source.name, gone);
  return rangesOf(lines);
}

type Read = {
  readonly source: SheetSource;
  readonly options: SheetOptions;
  readonly names: readonly string[];
};

/** Every record with one of these texts, and which one with this text it is. */
async function eachOf(
  { source, options, names }: Read,
  { columns, rows }: Pick<LeftOutRows, 'columns' | 'rows'>,
  use: (record: SheetRecord, text: string, nth: number) => void,
): Promise<void> {
  const counts = new Map<string, number>();
  for await (const record of surveyedRecords(source, options, names)) {
    const text = textOf(record, names, columns);
    if (!rows.has(text)) continue;
    const nth = (counts.get(text) ?? 0) + 1;
    counts.set(text, nth);
    use(record, text, nth);
  }
}

/** The cells of these columns as JSON. */
const textOf = ({ cells }: SheetRecord, names: readonly string[], columns: readonly string[]): string =>
  JSON.stringify(columns.map((name) => cellText(cells[names.indexOf(name)])));

const shownText = (text: string): string =>
  `"${shortened((JSON.parse(text) as readonly string[]).filter(Boolean).join(' '))}"`;

const changed = (file: string, gone: readonly string[]): RunsheetError =>
  problem(
    'E112',
    {
      what: `rows of ${file} that were left out are gone or have changed: ${list(gone)}`,
      hint: 'put them back, or end the command and repeat it with --skip-rows for the rows as they are now',
    },
    { place: { file } },
  );
