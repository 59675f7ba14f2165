// Names the file that lists all errors of a sheet, next to the batches. Its first line identifies it.

import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { ERRORS_HEADER } from '../sheet/validation-errors.ts';
import { stemOf } from './batch-id.ts';

const NAME = /-errors(-\d+)?\.csv$/;

/** `<sheet>-errors.csv`, with a number if another file has that name. */
export function errorsFileFor(out: string, sheetName: string): string {
  const stem = `${stemOf(sheetName)}-errors`;
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? `${stem}.csv` : `${stem}-${number}.csv`;
    if (!existsSync(join(out, name)) || isErrorList(join(out, name))) return name;
  }
}

/** Whether the file at `path` is such a list. */
export function isErrorList(path: string): boolean {
  if (!NAME.test(path)) return false;
  const begin = Buffer.alloc(ERRORS_HEADER.length);
  try {
    const file = openSync(path, 'r');
    try {
      return begin.toString('latin1', 0, readSync(file, begin, 0, begin.length, 0)) === ERRORS_HEADER;
    } finally {
      closeSync(file);
    }
  } catch {
    // An unreadable file is not ours.
    return false;
  }
}
