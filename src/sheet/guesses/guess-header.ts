// Guesses the header row of a CSV or of a workbook sheet.

import { RunsheetError } from '../../errors/error.ts';
import { isTrade, isWorkbook } from '../formats.ts';
import { fieldsOf, type RecordFields } from '../csv/csv.ts';
import { firstOf, shortened } from '../sheet-record.ts';
import { type SheetOptions, type SheetSource, withRows } from '../sheet-source.ts';
import { placeOfAddress } from '../xlsx/cell-value.ts';
import { firstRows, sheetHead } from '../xlsx/unpacked-sheet.ts';
import { isRow } from './headerless.ts';
import { or, said, toConfirm, type Settled } from './guess.ts';
import { nameProper } from './input-names.ts';

/** Rows in which a header is looked for. */
export const HEADER_ROWS = 20;

/** `wanted`: a header contains one of these names; without them, it is the first row that is no title. */
export async function guessedHeader(
  source: SheetSource,
  options: SheetOptions,
  wanted: ReadonlySet<string> | undefined,
): Promise<Settled> {
  const rows = (await firstRowsOf(source, options, HEADER_ROWS)) ?? [];
  const isHead = await headsIn(source, options);
  const isAbove = (row: RecordFields): boolean => isTitle(row) || isHead(row);
  const fieldsAt = fieldNamesIn(rows, matchesIn(wanted ?? new Set()));
  const firstAt = fieldsAt < 0 && wanted ? headerIn(rows, wanted) : fieldsAt;
  const isOfGroups =
    fieldsAt < 0 && areGroups(rows[firstAt], rows[firstAt + 1], matchesIn(wanted ?? new Set()));
  const namedAt = isOfGroups ? firstAt + 1 : firstAt;
  const at = namedAt < 0 ? firstOfTable(rows, isAbove) : namedAt;
  const header = rows[at];
  if (at <= 0 || header === undefined) return { options, guesses: [] };
  if (namedAt < 0 && (!isHeader(header.fields) || isRow(rows.slice(at)))) return { options, guesses: [] };
  const above = rows
    .slice(0, at)
    .map(({ fields }) => shortened(fields.filter(Boolean).join(' ').trim()))
    .filter(Boolean);
  // A title is one value; a row of several may be the real header, or a row of another table.
  const isSure = namedAt >= 0 && rows.slice(0, at).every(isTitle);
  const text = `header in row ${header.line}; left out above it: ${above.map((title) => `"${title}"`).join(', ')}`;
  const titles = fieldsAt < 0 && !isOfGroups ? undefined : rows[at - 1];
  return {
    options: { ...options, headerRow: header.line },
    guesses: [
      (isSure ? said : toConfirm)(
        'header',
        text,
        { headerRow: header.line },
        ...(titles === undefined ? [] : [insteadOf(header, titles, options)]),
      ),
    ],
  };
}

/** The names above the names of fields, which are then no row. */
const insteadOf = (header: RecordFields, titles: RecordFields, { skipRows = [] }: SheetOptions) =>
  or(`to take the names of row ${titles.line}`, {
    headerRow: titles.line,
    skipRows: withRows(skipRows, [header.line]),
  });

/** `item_name`, `bullet_point1`, `item_name[language_tag=en_US]#1.value` */
const FIELD = /^[a-z][\w.#:=[\]-]*$/;

/**
 * The only row whose cells are all field names, most of them of several words: in templates of marketplaces, titles for
 * people stand above it. If the titles alone name inputs, it is a row like others.
 */
function fieldNamesIn(rows: readonly RecordFields[], matches: (row: RecordFields) => number): number {
  const areFields = ({ fields }: RecordFields): boolean => {
    const names = fields.map((field) => field.trim()).filter(Boolean);
    const isUnique = new Set(names).size === names.length;
    return (
      names.length > 1 &&
      isUnique &&
      names.every((name) => FIELD.test(name)) &&
      names.filter((name) => name.includes('_')).length * 2 >= names.length
    );
  };
  const at = rows.findIndex(areFields);
  const isAlone = at === rows.findLastIndex(areFields) && at < rows.length - 1;
  const [titles, names] = [rows[at - 1], rows[at]];
  if (!isAlone || titles === undefined || names === undefined || isTitle(titles)) return -1;
  return matches(names) > 0 || matches(titles) === 0 ? at : -1;
}

/** Whether a row has the heads of groups, `Prompt,,Render`, above the names of more inputs: `Positive,Negative,Width`. */
function areGroups(
  groups: RecordFields | undefined,
  names: RecordFields | undefined,
  matches: (row: RecordFields) => number,
): boolean {
  if (groups === undefined || names === undefined || !isHeader(names.fields)) return false;
  const isWider = names.fields.some(
    (name, at) => name.trim() !== '' && (groups.fields[at] ?? '').trim() === '',
  );
  return isWider && matches(names) > matches(groups);
}

/** The first row that names an input and has unique names, or else any row that names one. */
function headerIn(rows: readonly RecordFields[], wanted: ReadonlySet<string>): number {
  const isNamed = (row: RecordFields): boolean => matchesIn(wanted)(row) > 0;
  const at = rows.findIndex((row) => isHeader(row.fields) && isNamed(row));
  return at < 0 ? rows.findIndex(isNamed) : at;
}

/** Whether a row has cells that are merged across columns, as the heads of groups above a header are. */
async function headsIn(
  source: SheetSource,
  { format }: SheetOptions,
): Promise<(row: RecordFields) => boolean> {
  if (!isWorkbook(format)) return () => false;
  const { merged } = await sheetHead(source);
  const rows = new Set(
    merged.flatMap((range) => {
      const [first, last] = range.split(':').map(placeOfAddress);
      const isAcross = first !== undefined && first.row === last?.row && first.column !== last.column;
      return isAcross ? [first.row] : [];
    }),
  );
  return ({ line }) => rows.has(line);
}

/** The first row below titles, if most of the following rows are no titles either. A header names most columns of its table. */
function firstOfTable(rows: readonly RecordFields[], isAbove: (row: RecordFields) => boolean): number {
  const widths = rows.filter((row) => !isAbove(row)).map(widthOf);
  const usual = widths.toSorted((a, b) => a - b)[widths.length >> 1] ?? 0;
  const at = rows.findIndex((row) => !isAbove(row) && widthOf(row) * 2 > usual);
  const table = rows.slice(at).filter((row) => !isAbove(row));
  return table.length * 2 > rows.length - at ? at : -1;
}

const widthOf = ({ fields }: RecordFields): number => fields.filter((field) => field.trim() !== '').length;

/** A title, which may be in each cell, or marks of a template: `Version=2024.1`. */
const isTitle = ({ fields }: RecordFields): boolean =>
  new Set(fields.map((field) => field.trim()).filter(Boolean)).size < 2 ||
  fields.some((field) => /^[A-Za-z]\w*=\S*$/.test(field));

/** Whether names are unique and not numbers; a table may end with nameless columns. */
function isHeader(fields: readonly string[]): boolean {
  const names = fields.map((field) => field.trim()).filter((field) => field !== '');
  return new Set(names).size === names.length && names.every((name) => !/^[-+]?[\d.,]+$/.test(name));
}

export const matchesIn =
  (wanted: ReadonlySet<string>) =>
  ({ fields }: RecordFields): number =>
    new Set(fields.map(nameProper).filter((name) => wanted.has(name))).size;

/** The first rows; undefined if they cannot be read with these options. */
export async function firstRowsOf(
  source: SheetSource,
  options: SheetOptions,
  most: number,
): Promise<readonly RecordFields[] | undefined> {
  if (isTrade(options.format)) return undefined;
  if (isWorkbook(options.format)) return firstRows(source, most);
  try {
    const rows = await Array.fromAsync(firstOf(fieldsOf(source, { quote: 'loose', ...options }), most));
    return rows.filter(({ fault }) => fault === undefined);
  } catch (error) {
    if (!(error instanceof RunsheetError)) throw error;
    return undefined;
  }
}
