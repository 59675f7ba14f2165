// Opens the parts of a zip file by name. Reads the central directory, because parts may stand in any order.

import { openPromise, type Entry, type ZipFile } from 'yauzl';
import { errorMessage, problem, type RunsheetError } from '../../errors/error.ts';

/** A workbook has a few dozen parts; pictures may add hundreds. */
const MOST_ENTRIES = 10_000;
/** A zip bomb inflates to a thousand times its size. */
const MOST_INFLATED = 1024 ** 3;

export type Zip = {
  readonly names: ReadonlySet<string>;
  /** The bytes of a part; undefined if there is none with this name. */
  readonly part: (name: string) => Promise<AsyncIterable<Uint8Array> | undefined>;
};

/** `file` names the zip in messages. Throws E102 if it is damaged, encrypted or too large. */
export async function withZip<T>(path: string, file: string, use: (zip: Zip) => Promise<T>): Promise<T> {
  const zip = await openPromise(path, { autoClose: false, lazyEntries: true }).catch((cause: unknown) => {
    throw damaged(file, cause);
  });
  try {
    const entries = await entriesOf(zip, file);
    return await use({
      names: new Set(entries.keys()),
      part: async (name) => {
        const entry = entries.get(name);
        return entry && inflated(zip, entry, file);
      },
    });
  } finally {
    zip.close();
  }
}

async function entriesOf(zip: ZipFile, file: string): Promise<ReadonlyMap<string, Entry>> {
  const entries = new Map<string, Entry>();
  if (zip.entryCount > MOST_ENTRIES) throw tooLarge(file, `has ${zip.entryCount} parts`);
  try {
    for await (const entry of zip.eachEntry()) entries.set(entry.fileName.replace(/^\//, ''), entry);
  } catch (cause) {
    throw damaged(file, cause);
  }
  return entries;
}

async function* inflated(zip: ZipFile, entry: Entry, file: string): AsyncGenerator<Uint8Array> {
  if (entry.uncompressedSize > MOST_INFLATED)
    throw tooLarge(file, `has a part of ${Math.round(entry.uncompressedSize / 1024 ** 2)} MiB`);
  try {
    for await (const chunk of await zip.openReadStreamPromise(entry)) yield chunk as Uint8Array;
  } catch (cause) {
    throw damaged(file, cause);
  }
}

function damaged(file: string, cause: unknown): RunsheetError {
  const what = `${file} is not a complete Excel workbook: ${errorMessage(cause)}`;
  return problem('E102', { what, hint: 'save it again as .xlsx' }, { place: { file }, cause });
}

export function tooLarge(file: string, why: string): RunsheetError {
  return problem(
    'E102',
    { what: `${file} ${why}`, hint: 'save the sheet as CSV (UTF-8)' },
    { place: { file } },
  );
}
