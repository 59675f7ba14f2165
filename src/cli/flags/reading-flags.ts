// Flags for reading a sheet, without what its columns mean. What they leave open is guessed.

import type { RowRange, SheetFormat } from '../../sheet/sheet-options.ts';
import { optional, parsed } from './flag-kinds.ts';
import { leftOutRows, text, wholeFrom } from './flag-values.ts';

const word = parsed(text);
const positive = parsed(wholeFrom(1));
const rows = parsed(leftOutRows);

export const readingFlags = {
  format: {
    kind: 'enum',
    values: ['csv', 'tsv', 'xlsx', 'jsonl', 'json'],
    optional: true,
    brief: 'format of the sheet (default: from its bytes and its name)',
  },
  sheet: optional(word('name', 'sheet of an Excel workbook (default: the first visible one with values)')),
  delimiter: optional(word('char', 'character that separates CSV fields (default: found in the file)')),
  encoding: optional(word('label', 'character encoding of the sheet (default: found in the file)')),
  headerRow: optional(positive('n', 'row of the header (default: the first one of 20 that names an input)')),
  skipRows: optional(rows('rows', 'rows that are left out, such as 2,302-305, or none; CSV: lines')),
  hidden: {
    kind: 'enum',
    values: ['include', 'skip'],
    optional: true,
    brief: 'read or leave out the rows that Excel hides (default: runsheet asks)',
  },
  decimalComma: {
    kind: 'boolean',
    default: false,
    withNegated: false,
    brief: 'numbers have a decimal comma: 7,5',
  },
} as const;

/** The values of {@link readingFlags}. */
export type ReadingFlags = {
  readonly format?: SheetFormat;
  readonly sheet?: string;
  readonly delimiter?: string;
  readonly encoding?: string;
  readonly headerRow?: number;
  readonly skipRows?: readonly RowRange[];
  readonly hidden?: 'include' | 'skip';
  readonly decimalComma: boolean;
};
