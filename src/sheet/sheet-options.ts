// The options for reading a sheet, as plain JSON. batch.json stores them unchanged.

import { extname } from 'node:path';

export type SheetFormat = 'csv' | 'tsv' | 'jsonl' | 'json' | 'xlsx';

export type RowRange = { readonly from: number; readonly to: number };

export const isSkipped = ({ skipRows = [] }: SheetOptions, row: number): boolean =>
  skipRows.some(({ from, to }) => row >= from && row <= to);

/** How a file is read, without what its columns mean. */
export type Reading = Pick<
  SheetOptions,
  'delimiter' | 'encoding' | 'headerRow' | 'skipRows' | 'hidden' | 'decimalComma' | 'limit'
>;

/** The values of `--type`. */
export const INPUT_KINDS = ['string', 'int', 'float', 'bool', 'json'] as const;
export type InputKind = (typeof INPUT_KINDS)[number];

export type SheetOptions = {
  readonly format: SheetFormat;
  /** One character, or the word `tab`; default: a comma (TSV: a tab). */
  readonly delimiter?: string;
  /** A label of the WHATWG Encoding Standard; default: UTF-8. */
  readonly encoding?: string;
  /** The sheet of a workbook; default: the first visible one with values. */
  readonly sheet?: string;
  /** The row (CSV: the line) of the header; what is above it is left out. Default: the first one that is not blank. */
  readonly headerRow?: number;
  /** Rows (CSV: lines) that are left out; empty: none, and none are totals. */
  readonly skipRows?: readonly RowRange[];
  /** Whether rows that Excel hides are read (default: include). */
  readonly hidden?: 'include' | 'skip';
  /** Whether numbers have a decimal comma. */
  readonly decimalComma?: boolean;
  /** Input → column that provides it. */
  readonly map: Readonly<Record<string, string>>;
  /** Input → its value in every row, written as a cell would be. */
  readonly set: Readonly<Record<string, string>>;
  /** Columns that are not inputs. */
  readonly drop: readonly string[];
  readonly types: Readonly<Record<string, InputKind>>;
  /** Absent: the column "gpu" if there is one. */
  readonly gpuColumn?: string;
  /** The GPU of rows that name none. */
  readonly gpu?: string;
  /** The GPUs that these rows climb instead, the first one first. */
  readonly ladder?: readonly string[];
  readonly keyColumn?: string;
  /** Maximum number of rows. */
  readonly limit?: number;
};

const BY_EXTENSION: Readonly<Record<string, SheetFormat>> = {
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.json': 'json',
};

/** A zip file, and a compound file: an old workbook, or one with a password. */
const WORKBOOKS: ReadonlySet<string> = new Set(['504b0304', 'd0cf11e0']);

/** The format of a sheet: a workbook by its bytes, else by its name, else by the first byte that is not white space. */
export function formatOf(fileName: string, firstBytes: Uint8Array): SheetFormat {
  if (WORKBOOKS.has(Buffer.from(firstBytes.subarray(0, 4)).toString('hex'))) return 'xlsx';
  const extension = extname(fileName).toLowerCase();
  if (Object.hasOwn(BY_EXTENSION, extension)) return BY_EXTENSION[extension] ?? 'csv';
  const first = new TextDecoder().decode(firstBytes).trimStart().charAt(0);
  if (first === '{') return 'jsonl';
  return first === '[' ? 'json' : 'csv';
}
