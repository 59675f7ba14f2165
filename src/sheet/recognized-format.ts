// Recognises the format of a sheet by its first bytes and its name.

import { extname } from 'node:path';
import { BY_EXTENSION, type SheetFormat } from './formats.ts';
import { beginsAsJson } from './json/json-beginning.ts';
import { headText } from './text/recognized-bytes.ts';
import { tradeFormatOf } from './trade/trade-format.ts';

/** A zip file, and a compound file: an old workbook, or one with a password. */
const WORKBOOKS: ReadonlySet<string> = new Set(['504b0304', 'd0cf11e0']);

/** The first file of an OpenDocument sheet is its type, uncompressed. */
const OPEN_DOCUMENT = 'mimetypeapplication/vnd.oasis.opendocument.spreadsheet';

/** Two objects on separate lines, so not a JSON document. */
const TWO_LINES = /^\{.*\}[^\S\n]*\n\s*\{/;

/** The format of a sheet: by its bytes if they are unmistakable, else by its name, else by its beginning. */
export function formatOf(fileName: string, firstBytes: Uint8Array): SheetFormat {
  const start = Buffer.from(firstBytes.subarray(0, 120));
  if (WORKBOOKS.has(start.subarray(0, 4).toString('hex')))
    return start.includes(OPEN_DOCUMENT) || extname(fileName).toLowerCase() === '.ods' ? 'ods' : 'xlsx';
  const extension = extname(fileName).toLowerCase();
  const named = Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension] : undefined;
  const text = headText(firstBytes).trimStart();
  if (named === 'csv' || named === 'tsv') return tradeFormatOf(text) === 'midjourney' ? 'midjourney' : named;
  if (named !== undefined && named !== 'json') return named;
  const isJson = named === 'json' || beginsAsJson(text);
  if (isJson && TWO_LINES.test(text)) return 'jsonl';
  if (isJson) return named ?? (text.startsWith('{') ? 'jsonl' : 'json');
  return tradeFormatOf(text) ?? 'csv';
}
