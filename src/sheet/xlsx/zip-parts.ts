// Opens the parts of a zip file by name. The central directory is read, because parts may be in any order.

import { stat } from 'node:fs/promises';
import { openPromise, type Entry, type ZipFile } from 'yauzl';
import { errorMessage, isRunsheetError, problem, type RunsheetError } from '../../errors/error.ts';

/** A workbook has a few dozen parts; pictures may add hundreds. */
const MAX_ENTRIES = 10_000;
const MIB = 1024 ** 2;

/**
 * How many bytes all parts together may inflate to. Sheets inflate to 5 to 30 times their size, zip bombs to 1000 times. Parsing
 * 32 MiB takes at most 3 s.
 */
const mostBytes = (size: number): number => Math.min(2048 * MIB, Math.max(32 * MIB, 100 * size));

export type Zip = {
  readonly names: ReadonlySet<string>;
  /** The bytes of a part; undefined if there is none with this name. */
  readonly part: (name: string) => Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Counts the bytes of texts that are kept or written. Throws E102 beyond the bound. */
  readonly spend: (bytes: number) => void;
};

/** `file` names the zip in messages. Throws E102 if it is damaged, encrypted or too large. */
export async function withZip<T>(path: string, file: string, use: (zip: Zip) => Promise<T>): Promise<T> {
  const zip = await openPromise(path, { autoClose: false, lazyEntries: true }).catch((cause: unknown) => {
    throw damaged(file, cause);
  });
  try {
    const entries = await entriesOf(zip, file);
    const most = mostBytes((await stat(path)).size);
    const inflate = counter(file, most, 'inflates');
    return await use({
      names: new Set(entries.keys()),
      part: async (name) => {
        const entry = entries.get(name);
        return entry && inflated(zip, entry, file, inflate);
      },
      spend: counter(file, most, 'has texts that grow'),
    });
  } finally {
    zip.close();
  }
}

async function entriesOf(zip: ZipFile, file: string): Promise<ReadonlyMap<string, Entry>> {
  const entries = new Map<string, Entry>();
  if (zip.entryCount > MAX_ENTRIES) throw tooLarge(file, `has ${zip.entryCount} parts`);
  try {
    for await (const entry of zip.eachEntry()) entries.set(entry.fileName.replace(/^\//, ''), entry);
  } catch (cause) {
    throw damaged(file, cause);
  }
  return entries;
}

/** Throws E102 when all bytes together are more than `most`. */
function counter(file: string, most: number, what: string): (bytes: number) => void {
  let sum = 0;
  return (bytes) => {
    sum += bytes;
    if (sum > most) throw tooLarge(file, `${what} to more than ${Math.round(most / MIB)} MiB`);
  };
}

async function* inflated(
  zip: ZipFile,
  entry: Entry,
  file: string,
  count: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      count((chunk as Uint8Array).length);
      yield chunk as Uint8Array;
    }
  } catch (cause) {
    throw isRunsheetError(cause) ? cause : damaged(file, cause);
  }
}

function damaged(file: string, cause: unknown): RunsheetError {
  // Error messages of the system are useful; messages of the zip library are not.
  const isOfSystem = (cause as NodeJS.ErrnoException).syscall !== undefined;
  const why = isOfSystem ? errorMessage(cause) : 'it is cut off or damaged';
  const what = `${file} is not a complete workbook: ${why}`;
  return problem('E102', { what, hint: 'save it again as .xlsx' }, { place: { file }, cause });
}

export function tooLarge(file: string, why: string): RunsheetError {
  return problem(
    'E102',
    { what: `${file} ${why}`, hint: 'save the sheet as CSV (UTF-8)' },
    { place: { file } },
  );
}
