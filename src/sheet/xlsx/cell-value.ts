// The text of a cell as the user sees it, with marks for what text alone cannot express.

import { withLf } from '../text/sheet-text.ts';
import { readXml } from './xml-parts.ts';
import { tooLarge, type Zip } from './zip-parts.ts';

/**
 * Why the text of a cell is not enough. `raw`: the number under a format. An `error` (`#N/A`), a formula that was never
 * `uncalculated`, and an `inexact` number have no value that may be sent.
 */
export type CellMark = {
  readonly is?: 'date' | 'percent' | 'padded' | 'error' | 'uncalculated' | 'inexact';
  readonly raw?: string;
  /** Where the cell leads: its hyperlink, or the address in its formula. */
  readonly link?: string;
  /** A picture lies in the cell. */
  readonly isPicture?: true;
};

/** A text, or a text with its mark. */
export type WorkbookCell = string | readonly [text: string, mark: CellMark];

/** The cells of a row in their order; a number stands for that many empty ones. */
export type WorkbookCells = readonly (WorkbookCell | number)[];

export const textOf = (cell: WorkbookCell): string => (typeof cell === 'string' ? cell : cell[0]);

/** The cells with their columns (from 0), without the empty ones between them. */
export function* placed(cells: WorkbookCells): Generator<readonly [column: number, cell: WorkbookCell]> {
  let column = 0;
  for (const cell of cells)
    if (typeof cell === 'number') column += cell;
    else {
      yield [column, cell];
      column += 1;
    }
}

/** The texts of the first `width` columns, without empty ones at the end. */
export function textsOf(cells: WorkbookCells, width = Infinity): readonly string[] {
  const texts: string[] = [];
  for (const [column, cell] of placed(cells)) {
    if (column >= width) break;
    while (texts.length < column) texts.push('');
    texts.push(textOf(cell));
  }
  return texts;
}

export type FoundCell = {
  /** The `t` of the cell: what `value` is. */
  readonly type: string;
  /** The text of `<v>` or of an inline string; undefined without one. */
  readonly value: string | undefined;
  readonly isFormula: boolean;
  readonly format: NumberFormat;
};

/** Excel keeps 15 digits, so from here on integers may differ from those that were entered. */
const INEXACT = 1e15;

export function cellValue({ type, value, isFormula, format }: FoundCell, is1904: boolean): WorkbookCell {
  if (isFormula && (value === undefined || (value === '' && type !== 'str')))
    return ['', { is: 'uncalculated' }];
  if (value === undefined) return '';
  if (type === 'e') return [value, { is: 'error' }];
  if (type === 'b') return value === '1' || value === 'true' ? 'true' : 'false';
  if (type === 'd') return [value.replace(/T00:00:00(\.0+)?$/, ''), { is: 'date' }];
  return type === 'n' ? numberValue(value.trim(), format, is1904) : withLf(unescaped(value));
}

const LINK = /^\s*(?:_xlfn\.)?(?:IMAGE|HYPERLINK)\(\s*"([^"]+)"/i;

/** The cell with the address in its formula. `isPlaced`: a picture was put into it. */
export function withLink(cell: WorkbookCell, formula: string, isPlaced: boolean): WorkbookCell {
  const link = formula === '' ? undefined : LINK.exec(formula)?.[1];
  if (link === undefined && !isPlaced) return cell;
  const [text, mark] = typeof cell === 'string' ? [cell, {}] : cell;
  return [text, { ...mark, ...(link === undefined ? { isPicture: true } : { link }) }];
}

export function numberValue(text: string, format: NumberFormat, is1904: boolean): WorkbookCell {
  const number = Number(text);
  if (text === '' || !Number.isFinite(number)) return text;
  if (format.is === 'date' || format.is === 'time') {
    const date = dateText(number, format.is === 'time', is1904);
    if (date !== undefined) return [date, { is: 'date' }];
  }
  if (Math.abs(number) >= INEXACT) return [text, { is: 'inexact' }];
  const raw = plainNumber(number);
  if (format.is === 'percent') return [raw, { is: 'percent', raw }];
  if (format.is !== 'padded' || !/^\d+$/.test(raw) || raw.length >= format.digits) return raw;
  return [raw.padStart(format.digits, '0'), { is: 'padded', raw }];
}

/** Excel stores 0.1 + 0.2 with 17 digits and shows 15 of them. */
const plainNumber = (number: number): string => {
  const shown = Number(number.toPrecision(15));
  return Object.is(shown, -0) ? '0' : String(shown);
};

const DAY_MS = 86_400_000;
/** Day 60 of Excel's calendar is 29 February 1900, which never was. */
const LEAP_DAY_THAT_NEVER_WAS = 60;

/** A date without a time zone: `2026-11-21`, `2026-11-21T08:30:00`, or `08:30:00`; undefined outside of Excel's calendar. */
function dateText(serial: number, isTime: boolean, is1904: boolean): string | undefined {
  if (serial < 0 || serial >= 2_958_466) return undefined;
  const shift = is1904 ? 1462 : serial < LEAP_DAY_THAT_NEVER_WAS ? 1 : 0;
  const ms = Date.UTC(1899, 11, 30) + Math.round(((serial + shift) * DAY_MS) / 1000) * 1000;
  const [date = '', time = ''] = new Date(ms).toISOString().slice(0, 19).split('T');
  if (isTime && serial < 1) return time;
  return time === '00:00:00' ? date : `${date}T${time}`;
}

/** `_x000D_` stands for a carriage return, which Excel writes before LF; other control characters stay escaped, because a sheet has none. */
const unescaped = (text: string): string =>
  text.includes('_x')
    ? text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (escape, code: string) => {
        const sign = String.fromCharCode(Number.parseInt(code, 16));
        return /[\t\r\n]/.test(sign) || !/[\p{Cc}\p{Cs}]/u.test(sign) ? sign : escape;
      })
    : text;

/** `C17`: column 2 (from 0) of row 17. */
export function cellAddress(column: number, row: number): string {
  let letters = '';
  for (let left = column + 1; left > 0; left = Math.floor((left - 1) / 26))
    letters = String.fromCharCode(65 + ((left - 1) % 26)) + letters;
  return `${letters}${row}`;
}

/** The column (from 0) and the row of `C17`; undefined for any other text. */
export function placeOfAddress(
  address: string,
): { readonly column: number; readonly row: number } | undefined {
  const [, letters, digits] = /^\$?([A-Z]{1,3})\$?(\d{1,7})$/.exec(address) ?? [];
  if (letters === undefined || digits === undefined) return undefined;
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return { column: column - 1, row: Number(digits) };
}

export type NumberFormat =
  | { readonly is: 'date' | 'time' | 'percent' | 'plain' }
  | { readonly is: 'padded'; readonly digits: number };

export const PLAIN: NumberFormat = { is: 'plain' };

/** Excel has at most 65,490 formats, each of at most 255 characters. */
const MAX_FORMATS = 100_000;
const MAX_CODE = 1000;

/** The format of each style index of a workbook. */
export async function numberFormats(file: string, zip: Zip, part: string): Promise<readonly NumberFormat[]> {
  const own = new Map<number, NumberFormat>();
  const formats: NumberFormat[] = [];
  let isCellFormat = false;
  await readXml(file, await zip.part(part), {
    open: (name, { numFmtId = '0', formatCode = '' }) => {
      if (name === 'numFmt') own.set(Number(numFmtId), formatOfCode(formatCode));
      if (name === 'cellXfs') isCellFormat = true;
      if (name === 'xf' && isCellFormat)
        formats.push(builtIn(Number(numFmtId)) ?? own.get(Number(numFmtId)) ?? PLAIN);
      if (Math.max(own.size, formats.length) > MAX_FORMATS)
        throw tooLarge(file, `has more than ${MAX_FORMATS} formats`);
    },
    close: (name) => {
      if (name === 'cellXfs') isCellFormat = false;
    },
  });
  return formats;
}

const within = (id: number, from: number, to: number): boolean => id >= from && id <= to;

/** The formats that a workbook does not spell out. 27 to 36 and 50 to 58 are dates of East Asian languages. */
function builtIn(id: number): NumberFormat | undefined {
  if (within(id, 14, 17) || id === 22 || within(id, 27, 31) || id === 36 || within(id, 50, 58))
    return { is: 'date' };
  if (within(id, 18, 21) || within(id, 32, 35) || within(id, 45, 47)) return { is: 'time' };
  return id === 9 || id === 10 ? { is: 'percent' } : undefined;
}

/** Only the part for positive numbers counts; quoted text, colours and conditions do not. */
function formatOfCode(code: string): NumberFormat {
  // The patterns need the square of the length.
  if (code.length > MAX_CODE) return PLAIN;
  const [positive = ''] = code
    .replaceAll(/"[^"]*"|\\.|_.|\*./g, '')
    .replaceAll(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '')
    .split(';');
  if (/general/i.test(positive)) return PLAIN;
  if (/^0{2,}$/.test(positive)) return { is: 'padded', digits: positive.length };
  if (/[yd]/i.test(positive) || /^[^hs]*m[^hs]*$/i.test(positive)) return { is: 'date' };
  if (/[hs]/i.test(positive)) return { is: 'time' };
  return positive.includes('%') ? { is: 'percent' } : PLAIN;
}
