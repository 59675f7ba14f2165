// A row of a text that is read as a table.

import type { RecordFault } from '../sheet-record.ts';

export type TextRow = {
  /** The line of the file in which it begins, from 1. */
  readonly row: number;
  /** Column → cell. */
  readonly cells: Readonly<Record<string, string>>;
  readonly fault?: RecordFault;
};
