// The formats of a sheet: how each is recognised, and whether it is unpacked before it is read.

import { extname } from 'node:path';
import type { SHEET_FORMATS } from '../options/choices.ts';
import { tradeFormatOf } from './trade/trade-format.ts';

export type SheetFormat = (typeof SHEET_FORMATS)[number];

const BY_EXTENSION: Readonly<Record<string, SheetFormat>> = {
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.json': 'json',
};

/** The extensions that a folder's sheets are known by; a `.txt` may be anything. */
const SHEET_EXTENSIONS: ReadonlySet<string> = new Set([
  ...Object.keys(BY_EXTENSION),
  '.xlsx',
  '.xlsm',
  '.ods',
  '.srt',
  '.vtt',
]);

export const isSheetName = (name: string): boolean => SHEET_EXTENSIONS.has(extname(name).toLowerCase());

/** Has sheets, cells with addresses, and hidden rows. */
export const isWorkbook = (format: SheetFormat): boolean => format === 'xlsx' || format === 'ods';

/** Is not read in place: its rows are written as lines of JSON first. */
export const isUnpacked = (format: SheetFormat): boolean =>
  isWorkbook(format) || format === 'a1111' || format === 'subtitles';

/** A zip file, and a compound file: an old workbook, or one with a password. */
const WORKBOOKS: ReadonlySet<string> = new Set(['504b0304', 'd0cf11e0']);

/** The first file of an OpenDocument sheet is its type, uncompressed. */
const OPEN_DOCUMENT = 'mimetypeapplication/vnd.oasis.opendocument.spreadsheet';

/** Two objects on separate lines, so not a JSON document. */
const TWO_LINES = /^\{.*\}[^\S\n]*\n\s*\{/;

/** The format of a sheet: by its bytes if they are unmistakable, else by its name, else by the first byte that is not white space. */
export function formatOf(fileName: string, firstBytes: Uint8Array): SheetFormat {
  const start = Buffer.from(firstBytes.subarray(0, 120));
  if (WORKBOOKS.has(start.subarray(0, 4).toString('hex')))
    return start.includes(OPEN_DOCUMENT) || extname(fileName).toLowerCase() === '.ods' ? 'ods' : 'xlsx';
  const extension = extname(fileName).toLowerCase();
  const named = Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension] : undefined;
  if (named !== undefined && named !== 'json') return named;
  const text = new TextDecoder().decode(firstBytes).trimStart();
  if (TWO_LINES.test(text)) return 'jsonl';
  const written = named ?? (text.startsWith('{') ? 'jsonl' : text.startsWith('[') ? 'json' : undefined);
  return written ?? tradeFormatOf(text) ?? 'csv';
}
