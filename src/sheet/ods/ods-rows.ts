// Reads the tables of an OpenDocument sheet, row by row. Source: OpenDocument 1.3, part 3, sections 9 and 19 (tables, values).
//
//   table → table-row → table-cell → p (text of the cell)
//                                  → annotation, frame, custom-shape … (drawn over the cell)

import type { RunsheetError } from '../../errors/error.ts';
import { MAX_RECORD } from '../sheet-record.ts';
import {
  cellAddress,
  numberValue,
  PLAIN,
  textOf,
  withLink,
  type CellMark,
  type WorkbookCell,
} from '../xlsx/cell-value.ts';
import type { WorkbookRow } from '../xlsx/worksheet.ts';
import { joined, unreadable, type Attributes } from '../xlsx/xml-parts.ts';
import { tooLarge } from '../xlsx/zip-parts.ts';

const MAX_ROWS = 1_048_576;
const MAX_COLUMNS = 16_384;
const MAX_CELLS = 50_000_000;
const MAX_MERGED = 100_000;
const MAX_TABLES = 10_000;
/** Spaces that one element may stand for. */
const MAX_SPACES = 10_000;

export type Table = {
  readonly name: string;
  readonly isVisible: boolean;
  /** Ranges of merged cells: `A3:A5`. */
  readonly merged: string[];
  readonly hiddenColumns: (readonly [from: number, to: number])[];
};

/** A row of the table with this number, from 0. `times`: it stands for that many equal rows. */
export type TableRow = WorkbookRow & { readonly table: number; readonly times: number };

type Cell = {
  readonly attributes: Attributes;
  readonly isCovered: boolean;
  text: string;
  paragraphs: number;
  link?: string;
  isUnderPicture?: true;
};

/** Elements outside of cells that may contain cells or texts of their own. */
const BESIDE_CELLS: ReadonlySet<string> = new Set(['shapes', 'tracked-changes']);
/** Elements in a paragraph whose text is no text of the cell. */
const BESIDE_TEXT: ReadonlySet<string> = new Set(['annotation', 'frame', 'note', 'ruby-text']);

/** Turns the events of `content.xml` into rows. */
export class TableReader {
  readonly tables: Table[] = [];
  readonly #file: string;
  readonly #hiddenStyles = new Set<string>();
  #style = '';
  #rows: TableRow[] = [];
  #row = 0;
  #rowAttributes: Attributes = {};
  #cells: (WorkbookCell | number)[] = [];
  #column = 0;
  /** The column after the last cell with a value. */
  #width = 0;
  #bytes = 0;
  #count = 0;
  #cell: Cell | undefined;
  /** Open elements that are no part of a cell's text. */
  #beside = 0;
  #isParagraph = false;

  constructor(file: string) {
    this.#file = file;
  }

  take(): readonly TableRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  open(name: string, attributes: Attributes): void {
    if (this.#beside > 0 || this.#isBeside(name)) {
      this.#beside += 1;
      if (name === 'image' && this.#cell) this.#cell.isUnderPicture = true;
    } else if (name === 'style') this.#style = attributes['name'] ?? '';
    else if (name === 'table-properties' && attributes['display'] === 'false')
      this.#hiddenStyles.add(this.#style);
    else if (name === 'table') this.#openTable(attributes);
    else if (name === 'table-column') this.#openColumn(attributes);
    else if (name === 'table-row') this.#openRow(attributes);
    else if (name === 'table-cell' || name === 'covered-table-cell')
      this.#cell = { attributes, isCovered: name !== 'table-cell', text: '', paragraphs: 0 };
    else if (this.#cell) this.#openText(this.#cell, name, attributes);
  }

  text(piece: string): void {
    if (this.#cell && this.#isParagraph && this.#beside === 0)
      // LibreOffice writes several spaces as they are; line ends only lay out the XML.
      this.#write(this.#cell, piece.replaceAll(/[\r\n][ \t\r\n]*/g, ' '));
  }

  close(name: string): void {
    if (this.#beside > 0) this.#beside -= 1;
    else if (name === 'p') this.#isParagraph = false;
    else if (name === 'table-cell' || name === 'covered-table-cell') this.#closeCell();
    else if (name === 'table-row') this.#closeRow();
  }

  #isBeside(name: string): boolean {
    if (this.#cell === undefined) return BESIDE_CELLS.has(name);
    return this.#isParagraph ? BESIDE_TEXT.has(name) : name !== 'p';
  }

  #openTable({ name = '', 'style-name': style = '' }: Attributes): void {
    if (this.tables.length === MAX_TABLES) throw tooLarge(this.#file, `has more than ${MAX_TABLES} sheets`);
    this.tables.push({ name, isVisible: !this.#hiddenStyles.has(style), merged: [], hiddenColumns: [] });
    [this.#row, this.#column] = [0, 0];
  }

  #openColumn({ 'number-columns-repeated': repeated, visibility = 'visible' }: Attributes): void {
    const [from, to] = [this.#column, this.#column + this.#timesOf(repeated) - 1];
    const { hiddenColumns = [] } = this.tables.at(-1) ?? {};
    if (visibility !== 'visible' && hiddenColumns.length < MAX_COLUMNS) hiddenColumns.push([from, to]);
    this.#column = to + 1;
  }

  #openRow(attributes: Attributes): void {
    this.#rowAttributes = attributes;
    [this.#cells, this.#column, this.#width, this.#bytes] = [[], 0, 0, 0];
  }

  #openText(cell: Cell, name: string, { c = '1', href }: Attributes): void {
    if (name === 'p') {
      if (cell.paragraphs > 0) this.#write(cell, '\n');
      cell.paragraphs += 1;
      this.#isParagraph = true;
    } else if (name === 's') this.#write(cell, ' '.repeat(Math.min(Number(c) || 1, MAX_SPACES)));
    else if (name === 'tab') this.#write(cell, '\t');
    else if (name === 'line-break') this.#write(cell, '\n');
    else if (name === 'a' && href !== undefined) cell.link = href;
  }

  #write(cell: Cell, text: string): void {
    cell.text = joined(this.#file, cell.text, text);
  }

  #closeCell(): void {
    const cell = this.#cell;
    this.#cell = undefined;
    if (cell === undefined) return;
    const times = this.#timesOf(cell.attributes['number-columns-repeated']);
    const value = cell.isCovered ? '' : valueOf(cell);
    if (value === '') {
      this.#column += times;
      return;
    }
    if (this.#column + times > MAX_COLUMNS) throw this.#damaged(`it has a cell beyond column ${MAX_COLUMNS}`);
    this.#merge(cell.attributes);
    if (this.#column > this.#width) this.#cells.push(this.#column - this.#width);
    for (let time = 0; time < times; time += 1) this.#put(value);
    this.#column += times;
    this.#width = this.#column;
  }

  #put(cell: WorkbookCell): void {
    const { length } = textOf(cell);
    this.#count += 1;
    if (this.#count > MAX_CELLS) throw tooLarge(this.#file, `has more than ${MAX_CELLS} cells`);
    this.#bytes += length;
    if (this.#bytes > MAX_RECORD) throw tooLarge(this.#file, `has more than 4 MiB in row ${this.#row + 1}`);
    this.#cells.push(cell);
  }

  #closeRow(): void {
    const times = this.#timesOf(this.#rowAttributes['number-rows-repeated']);
    const { visibility = 'visible' } = this.#rowAttributes;
    const isBlank = this.#cells.every(
      (cell) => (typeof cell === 'string' && cell.trim() === '') || typeof cell === 'number',
    );
    if (!isBlank) {
      if (this.#row + times > MAX_ROWS) throw this.#damaged(`it has a row beyond row ${MAX_ROWS}`);
      const row = { row: this.#row + 1, cells: this.#cells, isHidden: visibility !== 'visible' };
      this.#rows.push({ ...row, table: this.tables.length - 1, times });
    }
    this.#row += times;
  }

  #timesOf(repeated = '1'): number {
    const times = Number(/^\d{1,7}$/.test(repeated) ? repeated : Number.NaN);
    if (!(times >= 1)) throw this.#damaged('it repeats a cell or a row without a number');
    return times;
  }

  #merge({ 'number-columns-spanned': columns = '1', 'number-rows-spanned': rows = '1' }: Attributes): void {
    if (columns === '1' && rows === '1') return;
    const merged = this.tables.at(-1)?.merged ?? [];
    if (merged.length === MAX_MERGED) throw tooLarge(this.#file, `has more than ${MAX_MERGED} merged ranges`);
    const [first, last] = [this.#row + 1, this.#row + this.#timesOf(rows)];
    const end = this.#column + this.#timesOf(columns) - 1;
    merged.push(`${cellAddress(this.#column, first)}:${cellAddress(end, last)}`);
  }

  #damaged(why: string): RunsheetError {
    return unreadable(this.#file, why);
  }
}

function valueOf(cell: Cell): WorkbookCell {
  const { link, isUnderPicture = false, attributes } = cell;
  const value = typedValue(cell);
  // A picture beside a text illustrates it.
  const isPicture = isUnderPicture && textOf(value).trim() === '';
  const formula = (attributes['formula'] ?? '').replace(/^\w+:=/, '');
  const linked = withLink(value, formula, isPicture);
  if (link === undefined) return linked;
  const [text, mark]: readonly [string, CellMark] = typeof linked === 'string' ? [linked, {}] : linked;
  return [text, { link, ...mark }];
}

/** The value by the type of the cell; the shown text tells only how many zeros a number begins with. */
function typedValue({ attributes, text }: Cell): WorkbookCell {
  const { 'value-type': type = '', value = '', formula } = attributes;
  switch (type) {
    case 'float':
    case 'currency':
      return EXACT.test(value) && Number.isSafeInteger(Number(value))
        ? value
        : paddedAs(text.trim(), numberValue(value.trim(), PLAIN, false));
    case 'percentage':
      return numberValue(value.trim(), { is: 'percent' }, false);
    case 'date':
      return [dateText(attributes['date-value'] ?? ''), { is: 'date' }];
    case 'time':
      return [timeText(attributes['time-value'] ?? ''), { is: 'date' }];
    case 'boolean':
      return attributes['boolean-value'] === 'true' ? 'true' : 'false';
    case 'error':
      return [text, { is: 'error' }];
    default:
      if (formula !== undefined && type === '' && text === '') return ['', { is: 'uncalculated' }];
      return attributes['string-value'] ?? text;
  }
}

/**
 * A whole number of 16 digits as LibreOffice writes it, with all digits; it writes longer ones with an exponent. Excel replaces the
 * last digit with a zero.
 */
const EXACT = /^-?\d{15}[1-9]$/;

function paddedAs(shown: string, value: WorkbookCell): WorkbookCell {
  const isPadded = typeof value === 'string' && /^0\d+$/.test(shown) && Number(shown) === Number(value);
  return isPadded ? [shown, { is: 'padded', raw: value }] : value;
}

const DATE_AND_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:[.,]\d+)?$/;

/** `2026-11-30T08:29:59.99` → `2026-11-30T08:30:00`, and midnight → the day. */
function dateText(value: string): string {
  const ms = DATE_AND_TIME.test(value) ? Date.parse(`${value.replace(',', '.')}Z`) : Number.NaN;
  if (Number.isNaN(ms)) return value;
  const [date = '', time = ''] = new Date(Math.round(ms / 1000) * 1000).toISOString().slice(0, 19).split('T');
  return time === '00:00:00' ? date : `${date}T${time}`;
}

/** `PT08H30M05S` → `08:30:05`; a longer duration stays as it is. */
function timeText(duration: string): string {
  const [, hours, minutes, seconds] = /^PT(\d{1,2})H(\d{1,2})M(\d{1,2})(?:[.,]\d+)?S$/.exec(duration) ?? [];
  if (hours === undefined || Number(hours) > 23) return duration;
  return [hours, minutes, seconds].map((part = '0') => part.padStart(2, '0')).join(':');
}
