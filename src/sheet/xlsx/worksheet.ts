// Reads the rows of a worksheet one after another.

import type { RunsheetError } from '../../errors/error.ts';
import { MAX_RECORD, shortened } from '../sheet-record.ts';
import {
  cellAddress,
  cellValue,
  placeOfAddress,
  textOf,
  withLink,
  type FoundCell,
  type WorkbookCell,
  type WorkbookCells,
  type NumberFormat,
} from './cell-value.ts';
import { RichText, type SharedStrings } from './shared-strings.ts';
import { joined, parseXml, type Attributes, unreadable } from './xml-parts.ts';
import { tooLarge, type Zip } from './zip-parts.ts';

/** A row that has at least one value. */
export type WorkbookRow = {
  /** The row number in Excel. */
  readonly row: number;
  readonly cells: WorkbookCells;
  readonly isHidden: boolean;
};

/** The facts of a sheet besides its rows. */
export type SheetFacts = {
  /** Ranges of merged cells: `A3:A5`. */
  readonly merged: readonly string[];
  /** Rows with values that Excel does not show, also because of a filter. */
  readonly hidden: number;
  /** First and last (from 0) of adjacent columns that Excel does not show. */
  readonly hiddenColumns?: readonly (readonly [from: number, to: number])[];
  /** Where cells lead, by their address; the ids of its drawings and hyperlinks are those of its relations. */
  readonly links: Readonly<Record<string, string>>;
  readonly drawing: string | undefined;
};

export type SheetParts = {
  readonly file: string;
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly strings: SharedStrings;
  readonly formats: readonly NumberFormat[];
  readonly is1904: boolean;
  readonly spend: Zip['spend'];
};

const NOWHERE = { row: 0, column: 0 };
const MAX_ROWS = 1_048_576;
const MAX_COLUMNS = 16_384;
const MAX_CELLS = 50_000_000;
/** Excel has at most 65,530. */
const MAX_LINKS = 65_530;
const MAX_FORMULA = 8_192;
const MAX_MERGED = 100_000;
/** `XFD1048575:XFD1048576`, with dollar signs. */
const MAX_RANGE = 30;

/** Throws E102 if it is damaged or too large. */
export async function* worksheetRows(parts: SheetParts): AsyncGenerator<WorkbookRow, SheetFacts> {
  const reader = new WorksheetReader(parts);
  const pieces = parseXml(parts.file, parts.bytes, {
    open: (name, attributes) => reader.open(name, attributes),
    close: (name) => reader.close(name),
    text: (text) => reader.text(text),
  });
  let hidden = 0;
  for await (const _ of pieces)
    for (const row of reader.take()) {
      if (row.isHidden) hidden += 1;
      yield row;
    }
  const { merged, hiddenColumns, links, drawing } = reader;
  return {
    merged,
    hidden,
    ...(hiddenColumns.length > 0 && { hiddenColumns }),
    links: Object.fromEntries(links),
    drawing,
  };
}

/** Collects events into rows. `r` is optional: without it, a row or a cell follows the one before. */
class WorksheetReader {
  readonly merged: string[] = [];
  readonly hiddenColumns: (readonly [from: number, to: number])[] = [];
  /** The id of the relation of each hyperlink. */
  readonly links = new Map<string, string>();
  drawing: string | undefined;
  readonly #parts: SheetParts;
  readonly #text: RichText;
  #rows: WorkbookRow[] = [];
  #row = 0;
  #isHidden = false;
  #cells: (WorkbookCell | number)[] = [];
  /** The column after the last cell with a value. */
  #width = 0;
  #isBlank = true;
  #count = 0;
  #bytes = 0;
  #column = -1;
  #type = 'n';
  #style = 0;
  #value: string | undefined;
  #isFormula = false;
  #formula = '';
  #isInFormula = false;
  #isPlaced = false;
  #isValue = false;

  constructor(parts: SheetParts) {
    this.#parts = parts;
    this.#text = new RichText(parts.file);
  }

  take(): readonly WorkbookRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  open(name: string, attributes: Attributes): void {
    if (name === 'row') this.#openRow(attributes);
    else if (name === 'c') this.#openCell(attributes);
    else if (name === 'v') [this.#isValue, this.#value] = [true, ''];
    else if (name === 'f') [this.#isFormula, this.#isInFormula, this.#formula] = [true, true, ''];
    else if (name === 'is') this.#text.clear();
    else if (name === 'col') this.#hide(attributes);
    else if (name === 'mergeCell') this.#merge(attributes['ref'] ?? '');
    else if (name === 'hyperlink') this.#link(attributes);
    else if (name === 'drawing') this.drawing = attributes['id'];
    else this.#text.open(name);
  }

  text(text: string): void {
    if (this.#isInFormula) this.#formula = (this.#formula + text).slice(0, MAX_FORMULA);
    else if (this.#isValue) this.#value = joined(this.#parts.file, this.#value ?? '', text);
    else this.#text.add(text);
  }

  close(name: string): void {
    this.#text.close(name);
    if (name === 'v') this.#isValue = false;
    else if (name === 'f') this.#isInFormula = false;
    else if (name === 'is') this.#value = this.#text.value;
    else if (name === 'c') this.#closeCell();
    else if (name === 'row') this.#closeRow();
  }

  #openRow({ r, hidden }: Attributes): void {
    const row = r === undefined ? this.#row + 1 : Number(/^\d+$/.test(r) ? r : Number.NaN);
    // A row or a cell that does not follow the one before would replace it, or stand for another row.
    if (!(row > this.#row && row <= MAX_ROWS))
      throw this.#damaged(`it has a row ${shortened(r ?? String(row))} after row ${this.#row}`);
    this.#row = row;
    this.#isHidden = hidden === '1' || hidden === 'true';
    this.#cells = [];
    this.#width = 0;
    this.#isBlank = true;
    this.#bytes = 0;
    this.#column = -1;
  }

  #openCell({ r, t = 'n', s = '0', vm }: Attributes): void {
    const { row, column } =
      r === undefined ? { row: this.#row, column: this.#column + 1 } : (placeOfAddress(r) ?? NOWHERE);
    if (row !== this.#row || column <= this.#column || column >= MAX_COLUMNS)
      throw this.#damaged(`it has a cell ${shortened(r ?? '')} in row ${this.#row} where none can be`);
    this.#column = column;
    this.#count += 1;
    if (this.#count > MAX_CELLS) throw tooLarge(this.#parts.file, `has more than ${MAX_CELLS} cells`);
    this.#type = t;
    this.#style = Number(s);
    this.#value = undefined;
    this.#isFormula = false;
    this.#formula = '';
    this.#isPlaced = vm !== undefined && t === 'e';
  }

  #closeCell(): void {
    const { formats, is1904 } = this.#parts;
    const cellWithMark: FoundCell = {
      type: this.#type,
      value: this.#type === 's' ? this.#sharedText() : this.#value,
      isFormula: this.#isFormula,
      format: formats[this.#style] ?? { is: 'plain' },
    };
    const cell = withLink(cellValue(cellWithMark, is1904), this.#formula, this.#isPlaced);
    if (cell === '') return;
    const text = textOf(cell);
    this.#bytes += text.length;
    this.#parts.spend(text.length);
    if (this.#bytes > MAX_RECORD) throw tooLarge(this.#parts.file, `has more than 4 MiB in row ${this.#row}`);
    if (this.#column > this.#width) this.#cells.push(this.#column - this.#width);
    this.#cells.push(cell);
    this.#width = this.#column + 1;
    if (typeof cell !== 'string' || cell.trim() !== '') this.#isBlank = false;
  }

  #sharedText(): string | undefined {
    const index = (this.#value ?? '').trim();
    if (index === '') return undefined;
    const text = /^\d+$/.test(index) ? this.#parts.strings.at(Number(index)) : undefined;
    if (text !== undefined) return text;
    const cell = cellAddress(this.#column, this.#row);
    throw this.#damaged(`the cell ${cell} has a shared text ${shortened(index)} that does not exist`);
  }

  #closeRow(): void {
    if (!this.#isBlank) this.#rows.push({ row: this.#row, cells: this.#cells, isHidden: this.#isHidden });
  }

  #hide({ min, max = min, hidden }: Attributes): void {
    const isHidden = hidden === '1' || hidden === 'true';
    if (isHidden && this.hiddenColumns.length < MAX_COLUMNS)
      this.hiddenColumns.push([Number(min) - 1, Number(max) - 1]);
  }

  #merge(range: string): void {
    if (range.length > MAX_RANGE) throw this.#damaged(`it has merged cells ${shortened(range)}`);
    if (this.merged.length === MAX_MERGED)
      throw tooLarge(this.#parts.file, `has more than ${MAX_MERGED} merged ranges`);
    this.merged.push(range);
  }

  #link({ ref = '', id }: Attributes): void {
    if (id !== undefined && this.links.size < MAX_LINKS && ref.length <= MAX_RANGE) this.links.set(ref, id);
  }

  #damaged(why: string): RunsheetError {
    return unreadable(this.#parts.file, why);
  }
}
