// Reads a sheet that was unpacked from a workbook: its header, then its rows. Places are rows and columns of Excel.

import { problem } from '../../errors/error.ts';
import { shellWord } from '../../errors/outside-text.ts';
import { columnsFrom, namesWithout } from '../header.ts';
import { type Column, type RecordFault, type SheetRecord, firstOf, MAX_RECORD } from '../sheet-record.ts';
import { type SheetSource, isSkipped, type SheetOptions } from '../sheet-source.ts';
import { lenientTextOf, linesOf } from '../text/sheet-text.ts';
import {
  cellAddress,
  placed,
  placeOfAddress,
  textOf,
  textsOf,
  type CellMark,
  type WorkbookCells,
} from './cell-value.ts';
import type { SheetFacts } from './worksheet.ts';

/** The first line. */
export type SheetHead = Omit<SheetFacts, 'links' | 'drawing'> & {
  /** Where cells lead, by their address. */
  readonly links?: Readonly<Record<string, string>>;
  /** The cells that pictures lie on. */
  readonly pictures?: readonly string[];
  readonly sheet: string;
  /** The texts of its first rows, if the user named no sheet. */
  readonly begins: OtherSheet['begins'];
  /** If the user named no sheet: the other visible ones that have values. */
  readonly others: readonly OtherSheet[];
};

/** A sheet that is not read; `begins`: the texts of its first rows. */
export type OtherSheet = { readonly name: string; readonly begins: readonly (readonly string[])[] };

type SheetLine = readonly [row: number, cells: WorkbookCells, isHidden?: 1];

/** The header: the first row with values, or the given one. Throws E104 for unusable names, and E103 for merged cells from the header on. */
export async function workbookColumns(
  source: SheetSource,
  options: SheetOptions,
): Promise<readonly Column[]> {
  const head = await sheetHead(source);
  const tall = tallNames(head, options);
  for await (const [row, cells] of rowLines(source)) {
    for (const name of tall) if (name.row === row) name.text = textsOf(cells)[name.column] ?? '';
    if (row < (options.headerRow ?? 1)) continue;
    if (options.headerRow === 0) {
      const own = textsOf(cells).length;
      const width = options.longRows === true ? await widthOf(source, options, own) : own;
      return columnsFrom(source.name, 0, namesWithout(options, width), true);
    }
    if (row > (options.headerRow ?? row)) break;
    const names = withoutEmptyEnd(textsOf(cells));
    const width = options.longRows === true ? await widthOf(source, options, names.length) : names.length;
    const columns = columnsFrom(
      source.name,
      row,
      Array.from(
        { length: width },
        (_, at) => names[at] || (tall.find(({ column }) => column === at)?.text ?? ''),
      ),
      true,
    );
    refuseMerged(source.name, head, row, columns, options);
    return columns;
  }
  const { headerRow } = options;
  const what = headerRow === undefined ? `the sheet "${head.sheet}" is empty` : `row ${headerRow} is empty`;
  throw problem('E104', { what }, { place: { file: source.name } });
}

/** Names that begin in a row above the header, and are merged down to it. */
const tallNames = ({ merged }: SheetHead, { headerRow = 1 }: SheetOptions) =>
  merged.flatMap((range) => {
    const [first, last] = range.split(':').map(placeOfAddress);
    const isTall = first?.column === last?.column && last?.row === headerRow;
    return first !== undefined && isTall && first.row < headerRow ? [{ ...first, text: '' }] : [];
  });

/** The columns that have a value in any row, at least `least`. */
async function widthOf(source: SheetSource, options: SheetOptions, least: number): Promise<number> {
  let width = least;
  for await (const [row, cells] of rowLines(source))
    if (row >= (options.headerRow ?? 1) && !isSkipped(options, row))
      width = Math.max(width, withoutEmptyEnd(textsOf(cells)).length);
  return width;
}

export async function* workbookRecords(
  source: SheetSource,
  options: SheetOptions,
  width: number,
): AsyncGenerator<SheetRecord> {
  const head = await sheetHead(source);
  const places = placesIn(head);
  let isHeader = options.headerRow !== 0;
  for await (const line of rowLines(source)) {
    if (line[0] < (options.headerRow ?? 1)) continue;
    const isLeftOut = isSkipped(options, line[0]) || (options.hidden === 'skip' && line[2] === 1);
    if (!isHeader && !isLeftOut && !isComment(line, options)) yield recordOf(line, width, places);
    isHeader = false;
  }
}

const isComment = ([, cells]: SheetLine, { comment = 'none' }: SheetOptions): boolean =>
  comment !== 'none' && (textsOf(cells)[0] ?? '').trimStart().startsWith(comment);

/** Reads the facts of the sheet besides its rows. */
export async function sheetHead(source: SheetSource): Promise<SheetHead> {
  for await (const line of allLines(source)) return JSON.parse(line) as SheetHead;
  throw new Error(`${source.name} was not unpacked completely`);
}

export const firstRows = (source: SheetSource, most: number) =>
  Array.fromAsync(firstOf(rowLines(source), most), ([line, cells]) => ({ line, fields: textsOf(cells) }));

/** Linked cells, and cells under pictures: row → columns. */
type Places = ReadonlyMap<number, readonly (readonly [column: number, mark: CellMark])[]>;

function placesIn({ links = {}, pictures = [] }: SheetHead): Places {
  const marks = [
    ...pictures.map((cell) => [cell, { isPicture: true }] as const),
    ...Object.entries(links).map(([cell, link]) => [cell, { link }] as const),
  ];
  const places = new Map<number, (readonly [number, CellMark])[]>();
  for (const [cell, mark] of marks) {
    const { row, column } = placeOfAddress(cell) ?? {};
    if (row === undefined || column === undefined) continue;
    places.set(row, [...(places.get(row) ?? []), [column, mark]]);
  }
  return places;
}

function recordOf([row, cells, hidden]: SheetLine, width: number, places: Places): SheetRecord {
  const marks = new Map<number, CellMark>();
  const texts = Array.from({ length: width }, () => '');
  let beyond: readonly [column: number, text: string] | undefined;
  for (const [column, cell] of placed(cells)) {
    if (typeof cell !== 'string') marks.set(column, cell[1]);
    if (column < width) texts[column] = textOf(cell);
    else if (textOf(cell).trim() !== '') beyond ??= [column, textOf(cell)];
  }
  for (const [column, mark] of places.get(row) ?? [])
    // A picture beside a text illustrates it.
    if (!mark.isPicture || texts[column]?.trim() === '') marks.set(column, { ...mark, ...marks.get(column) });
  const isHidden = hidden === 1 ? ({ isHidden: true } as const) : {};
  const record = { line: row, column: 1, cells: texts, marks, ...isHidden };
  return beyond === undefined ? record : { ...record, fault: strayCell(row, ...beyond) };
}

function strayCell(line: number, column: number, text: string): RecordFault {
  const cell = cellAddress(column, line);
  return {
    line,
    column: column + 1,
    cell,
    what: `the cell ${cell} has a value, and its column has no name in the header`,
    hint: 'give the column a name, or empty the cell; if it is data: --long-rows',
    surplus: { of: 'cells', first: text },
  };
}

function withoutEmptyEnd(names: readonly string[]): readonly string[] {
  const end = names.findLastIndex((name) => name.trim() !== '');
  return names.slice(0, end + 1);
}

/** Only the first of merged cells has a value; the cells below share it if the user says so. */
function refuseMerged(
  file: string,
  { merged }: SheetHead,
  header: number,
  columns: readonly Column[],
  options: SheetOptions,
): void {
  const { fillDown = [] } = options;
  const valuesInMerged = merged.flatMap((range) => {
    const [from = '', to = from] = range.split(':');
    const [first, last] = [placeOfAddress(from), placeOfAddress(to)];
    if (first === undefined || (last ?? first).row < header) return [];
    const isInRow = first.row === last?.row;
    if ((isInRow && isSkipped(options, first.row)) || (first.row < header && last?.row === header)) return [];
    const isBelow = first.row > header && first.column === last?.column;
    const name = isBelow ? columns[first.column]?.name : undefined;
    const width = isInRow && first.row > header ? last.column - first.column + 1 : 0;
    return name !== undefined && fillDown.includes(name)
      ? []
      : [{ range, cell: from, line: first.row, name, isBanner: width * 2 >= columns.length }];
  });
  const [{ range, cell, line } = { range: undefined }] = valuesInMerged;
  if (range === undefined) return;
  const banners = valuesInMerged
    .filter(({ isBanner }) => isBanner)
    .map((banner) => banner.line)
    .toSorted((a, b) => a - b);
  const names = [...new Set(valuesInMerged.filter(({ isBanner }) => !isBanner).map(({ name }) => name))];
  const add = names.flatMap((name) => (name === undefined ? [] : [['--fill-down', name] as const]));
  const isFilled = add.length > 0 && add.length === names.length;
  const left =
    banners.length === 0 ? '' : `to leave out headings between the rows: --skip-rows ${banners.join(',')}; `;
  const same = `if each of their rows has the value above: ${add.flat().map(shellWord).join(' ')}; else `;
  const unmerged = banners.length > 0 && names.length === 0 ? 'else unmerge them' : UNMERGED;
  const hint = `${left}${isFilled ? same : ''}${unmerged}`;
  const more = isFilled && banners.length === 0 ? { correction: { add } } : {};
  const what = `the cells ${range} are merged`;
  throw problem('E103', { what, hint }, { place: { file, line, cell }, ...more });
}

const UNMERGED =
  'unmerge them (Excel: Home > Merge & Center; LibreOffice: Format > Merge and Unmerge Cells), and fill in each cell';

async function* rowLines(source: SheetSource): AsyncGenerator<SheetLine> {
  let isHead = true;
  for await (const line of allLines(source)) {
    if (!isHead) yield JSON.parse(line) as SheetLine;
    isHead = false;
  }
}

const allLines = (source: SheetSource): AsyncGenerator<string> =>
  linesOf(lenientTextOf(source, { format: 'xlsx' }), MAX_LINE);

/** JSON escapes some characters with six. */
const MAX_LINE = MAX_RECORD * 6;
