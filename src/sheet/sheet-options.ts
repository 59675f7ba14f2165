// The options for reading a sheet, as plain JSON. batch.json stores them unchanged.

import { extname } from 'node:path';

export type SheetFormat = 'csv' | 'tsv' | 'jsonl' | 'json';

/** The values of `--type`. */
export const INPUT_KINDS = ['string', 'int', 'float', 'bool', 'json'] as const;
export type InputKind = (typeof INPUT_KINDS)[number];

export type SheetOptions = {
  readonly format: SheetFormat;
  /** One character, or the word `tab`; default: a comma (TSV: a tab). */
  readonly delimiter?: string;
  /** A label of the WHATWG Encoding Standard; default: UTF-8. */
  readonly encoding?: string;
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

/** The format of a sheet by its name, else by the first byte that is not white space. */
export function formatOf(fileName: string, firstBytes: Uint8Array): SheetFormat {
  const extension = extname(fileName).toLowerCase();
  if (Object.hasOwn(BY_EXTENSION, extension)) return BY_EXTENSION[extension] ?? 'csv';
  const first = new TextDecoder().decode(firstBytes).trimStart().charAt(0);
  if (first === '{') return 'jsonl';
  return first === '[' ? 'json' : 'csv';
}
