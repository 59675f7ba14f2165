// The formats of a sheet: the extensions of their files, and whether they are unpacked before they are read.

import { extname } from 'node:path';
import type { SHEET_FORMATS } from '../options/choices.ts';

export type SheetFormat = (typeof SHEET_FORMATS)[number];

export const BY_EXTENSION: Readonly<Record<string, SheetFormat>> = {
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.json': 'json',
  '.srt': 'subtitles',
  '.vtt': 'subtitles',
};

/** The extensions that a folder's sheets are known by; a `.txt` may be anything. */
const SHEET_EXTENSIONS: ReadonlySet<string> = new Set([
  ...Object.keys(BY_EXTENSION),
  '.xlsx',
  '.xlsm',
  '.ods',
]);

export const isSheetName = (name: string): boolean => SHEET_EXTENSIONS.has(extname(name).toLowerCase());

/** Whether the format has sheets, cells with addresses, and hidden rows. */
export const isWorkbook = (format: SheetFormat): boolean => format === 'xlsx' || format === 'ods';

/** The formats of the trade, and how a plan says that a text is read so. */
export const TRADE_READINGS: Partial<Record<SheetFormat, string>> = {
  a1111: 'lines with options of A1111 are read as a table',
  midjourney: 'prompts with parameters of Midjourney are read as a table',
  subtitles: 'subtitles are read as a table: index, start, end and text of each cue',
  markdown: 'the tables of a Markdown text are read',
  blocks: 'blocks of labelled texts are read as a table',
  chat: 'messages are read as a table: time, voice and text of each',
};

/** Whether the rows are those of a text of the trade, whose cells it writes in its own way. */
export const isTrade = (format: SheetFormat): boolean => format in TRADE_READINGS;

/** Whether each row is an object or a list of values. */
export const isJson = (format: SheetFormat | undefined): boolean => format === 'json' || format === 'jsonl';

/** Whether delimiters and quotes separate the cells. */
export const isDelimited = (format: SheetFormat): boolean => format === 'csv' || format === 'tsv';
