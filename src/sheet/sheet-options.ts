// The options for reading a sheet. batch.json stores them unchanged.

import { extname } from 'node:path';
export type { RowRange } from '../options/batch-kinds.ts';
import type { KeptIn } from '../options/table.ts';

export type SheetFormat = 'csv' | 'tsv' | 'jsonl' | 'json' | 'xlsx';

export const isSkipped = ({ skipRows = [] }: SheetOptions, row: number): boolean =>
  skipRows.some(({ from, to }) => row >= from && row <= to);

/** How a file is read, without what its columns mean. */
export type Reading = KeptIn<'reading'>;

/** How a sheet is read, as plain JSON. */
export type SheetOptions = { readonly format: SheetFormat } & Reading &
  Omit<Mapping, Always> &
  Required<Pick<Mapping, Always>>;

type Mapping = KeptIn<'sheet'>;
type Always = 'map' | 'set' | 'drop' | 'types';

export type InputKind = SheetOptions['types'][string];

const BY_EXTENSION: Readonly<Record<string, SheetFormat>> = {
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.json': 'json',
};

/** A zip file, and a compound file: an old workbook, or one with a password. */
const WORKBOOKS: ReadonlySet<string> = new Set(['504b0304', 'd0cf11e0']);

/** Two objects, each in a line of its own: no JSON document. */
const TWO_LINES = /^\{.*\}[^\S\n]*\n\s*\{/;

/** The format of a sheet: a workbook by its bytes, else by its name, else by the first byte that is not white space. */
export function formatOf(fileName: string, firstBytes: Uint8Array): SheetFormat {
  if (WORKBOOKS.has(Buffer.from(firstBytes.subarray(0, 4)).toString('hex'))) return 'xlsx';
  const extension = extname(fileName).toLowerCase();
  const named = Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension] : undefined;
  if (named !== undefined && named !== 'json') return named;
  const text = new TextDecoder().decode(firstBytes).trimStart();
  if (TWO_LINES.test(text)) return 'jsonl';
  return named ?? (text.startsWith('{') ? 'jsonl' : text.startsWith('[') ? 'json' : 'csv');
}
