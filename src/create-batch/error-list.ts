// Names the file that lists all errors of a sheet, next to the batches. Its first line identifies it.

import { openStore } from '../store/open-store.ts';
import { startOf, type Store } from '../store/store.ts';
import { ERRORS_HEADER, type ErrorsPlace } from '../sheet/validation-errors.ts';
import { stemOf } from './batch-id.ts';

const NAME = /-errors(-\d+)?\.csv$/;

/** `<sheet>-errors.csv`, with a number if another file has that name. */
export async function errorsPlaceFor(out: string, sheetName: string): Promise<ErrorsPlace> {
  const store = openStore(out);
  const stem = `${stemOf(sheetName)}-errors`;
  for (let number = 1; ; number += 1) {
    const file = number === 1 ? `${stem}.csv` : `${stem}-${number}.csv`;
    if (!(await store.exists(file)) || (await isErrorList(store, file))) return { store, file };
  }
}

export async function isErrorList(store: Store, file: string): Promise<boolean> {
  if (!NAME.test(file)) return false;
  try {
    return (await startOf(store, file, ERRORS_HEADER.length)) === ERRORS_HEADER;
  } catch {
    // An unreadable file is not ours.
    return false;
  }
}
