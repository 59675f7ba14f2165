import { stat } from 'node:fs/promises';
import { openPromise, type Entry, type ZipFile } from 'yauzl';
import { errorMessage, isRunsheetError, problem, type RunsheetError } from '../../errors/error.ts';
import { TextDecoder } from 'node:util';
import { SaxesParser } from 'saxes';

// Opens the parts of a zip file by name. Reads the central directory, because parts may stand in any order.

/** A workbook has a few dozen parts; pictures may add hundreds. */
const MOST_ENTRIES = 10_000;
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
  if (zip.entryCount > MOST_ENTRIES) throw tooLarge(file, `has ${zip.entryCount} parts`);
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
  // What the system says of a file is useful, what the library says of its bytes is not.
  const isOfSystem = (cause as NodeJS.ErrnoException).syscall !== undefined;
  const why = isOfSystem ? errorMessage(cause) : 'it is cut off or damaged';
  const what = `${file} is not a complete Excel workbook: ${why}`;
  return problem('E102', { what, hint: 'save it again as .xlsx' }, { place: { file }, cause });
}

export function tooLarge(file: string, why: string): RunsheetError {
  return problem(
    'E102',
    { what: `${file} ${why}`, hint: 'save the sheet as CSV (UTF-8)' },
    { place: { file } },
  );
}

// Parses a part of a workbook piece by piece. Names lose their prefix, because some programs write `<x:row>`.

export type Attributes = Readonly<Record<string, string>>;

type XmlHandlers = {
  readonly open?: (name: string, attributes: Attributes) => void;
  readonly close?: (name: string) => void;
  readonly text?: (text: string) => void;
};

/** Excel's own bound for the text of a cell is 32,767 characters. The parser keeps a tag or a text until it ends. */
const MOST_TEXT = 4 * 1024 * 1024;
/** A sheet nests about ten elements; the parser keeps those that are open. */
const MOST_DEPTH = 100;

/** Yields after each piece. Throws E102 for XML that is damaged or declares a document type. */
export async function* parseXml(
  file: string,
  bytes: AsyncIterable<Uint8Array>,
  { open, close, text }: XmlHandlers,
): AsyncGenerator<undefined> {
  const parser = new SaxesParser();
  let sinceTag = 0;
  let depth = 0;
  parser.on('doctype', () => {
    throw unreadable(file, 'it declares a document type');
  });
  parser.on('opentag', ({ name, attributes }) => {
    sinceTag = 0;
    depth += 1;
    if (depth > MOST_DEPTH) throw unreadable(file, `it nests more than ${MOST_DEPTH} elements`);
    open?.(local(name), localNames(attributes));
  });
  parser.on('closetag', ({ name }) => {
    sinceTag = 0;
    depth -= 1;
    close?.(local(name));
  });
  parser.on('text', (found) => text?.(found));
  parser.on('cdata', (found) => text?.(found));
  parser.on('error', () => {
    throw unreadable(file, `its XML is damaged in line ${parser.line}, column ${parser.column}`);
  });
  let decoder: TextDecoder | undefined;
  for await (const chunk of bytes) {
    decoder ??= new TextDecoder(chunk[0] === 0xff && chunk[1] === 0xfe ? 'utf-16le' : 'utf-8');
    sinceTag += chunk.length;
    if (sinceTag > MOST_TEXT) throw longText(file);
    parser.write(decoder.decode(chunk, { stream: true }));
    yield;
  }
  parser.close();
  yield;
}

/** A text may come in pieces. Throws E102 if it becomes too long. */
export function joined(file: string, text: string, more: string): string {
  if (text.length + more.length > MOST_TEXT) throw longText(file);
  return text + more;
}

const longText = (file: string): RunsheetError => tooLarge(file, 'has a text of more than 4 MiB');

/** Five million shared texts. The file's size alone would allow ten times as many, if it has an incompressible part. */
const MOST_ELEMENTS = 8_000_000;

/** Parses a part that is no sheet. Does nothing if it is missing. Throws E102 also for too many elements. */
export async function readXml(
  file: string,
  bytes: AsyncIterable<Uint8Array> | undefined,
  handlers: XmlHandlers,
): Promise<void> {
  let elements = 0;
  const open: XmlHandlers['open'] = (name, attributes) => {
    elements += 1;
    if (elements > MOST_ELEMENTS)
      throw tooLarge(file, `has more than ${MOST_ELEMENTS} elements in a part that is no sheet`);
    handlers.open?.(name, attributes);
  };
  if (bytes !== undefined) for await (const _ of parseXml(file, bytes, { ...handlers, open }));
}

export const unreadable = (file: string, why: string): RunsheetError =>
  problem(
    'E102',
    { what: `${file} cannot be read as an Excel workbook: ${why}`, hint: 'save it again as .xlsx' },
    { place: { file } },
  );

const local = (name: string): string => name.slice(name.indexOf(':') + 1);

function localNames(attributes: Attributes): Attributes {
  const found: Record<string, string> = {};
  for (const name in attributes) if (!name.startsWith('xmlns')) found[local(name)] = attributes[name] ?? '';
  return found;
}

// The texts that the cells of a workbook share, as bytes: a Map of strings would need several times the memory.

const MOST_BYTES = 256 * 1024 ** 2;

export class SharedStrings {
  #bytes = Buffer.alloc(64 * 1024);
  #used = 0;
  #ends = new Uint32Array(1024);
  #count = 0;

  static async read(file: string, zip: Zip, part: string): Promise<SharedStrings> {
    const strings = new SharedStrings();
    const text = new RichText(file);
    await readXml(file, await zip.part(part), {
      open: (name) => {
        if (name === 'si') text.clear();
        else text.open(name);
      },
      text: (found) => text.add(found),
      close: (name) => {
        text.close(name);
        if (name === 'si') strings.#add(file, text.value);
      },
    });
    return strings;
  }

  at(index: number): string | undefined {
    if (!(index >= 0 && index < this.#count)) return undefined;
    return this.#bytes.toString('utf8', index === 0 ? 0 : this.#ends[index - 1], this.#ends[index]);
  }

  #add(file: string, text: string): void {
    const end = this.#used + Buffer.byteLength(text);
    if (end > MOST_BYTES) throw tooLarge(file, 'has more than 256 MiB of text');
    if (end > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(end, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, this.#used);
      this.#bytes = larger;
    }
    this.#bytes.write(text, this.#used);
    this.#used = end;
    if (this.#count === this.#ends.length) {
      const larger = new Uint32Array(this.#count * 2);
      larger.set(this.#ends);
      this.#ends = larger;
    }
    this.#ends[this.#count] = end;
    this.#count += 1;
  }
}

/** Joins the runs of a formatted text; the phonetic guide of a Japanese text is not part of it. */
export class RichText {
  value = '';
  readonly #file: string;
  #isText = false;
  #phonetic = 0;

  constructor(file: string) {
    this.#file = file;
  }

  clear(): void {
    this.value = '';
    this.#isText = false;
    this.#phonetic = 0;
  }

  open(name: string): void {
    if (name === 'rPh') this.#phonetic += 1;
    if (name === 't') this.#isText = this.#phonetic === 0;
  }

  add(text: string): void {
    if (this.#isText) this.value = joined(this.#file, this.value, text);
  }

  close(name: string): void {
    if (name === 'rPh') this.#phonetic -= 1;
    if (name === 't') this.#isText = false;
  }
}
