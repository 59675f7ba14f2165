// Reads the text of a sheet in pieces and in lines: chooses the decoder, and recognises bytes in another encoding (E102).

import { isJson } from '../formats.ts';
import { problem, type RunsheetError, type Correction, type SheetPlace } from '../../errors/error.ts';
import type { SheetSource, SheetOptions } from '../sheet-source.ts';
import { TextDecoder } from 'node:util';
import { foreignLines, rankedReadings, readingsText } from './likely-encodings.ts';

/** Tracks the position in a text that is read in pieces: the line and the character, from 1, of the next character to be read; a CRLF may be split between two pieces. */
export class Cursor {
  line: number;
  column: number;
  #afterCr = false;

  constructor(line = 1, column = 1) {
    this.line = line;
    this.column = column;
  }

  pass(text: string): void {
    if (text === '') return;
    const skipped = this.#afterCr && text.startsWith('\n') ? 1 : 0;
    let lineStart = skipped;
    for (const match of text.slice(skipped).matchAll(/\r\n?|\n/g)) {
      this.line += 1;
      this.column = 1;
      lineStart = skipped + match.index + match[0].length;
    }
    this.column += text.length - lineStart;
    this.#afterCr = text.endsWith('\r');
  }
}

/** A place in the text of a sheet, both counted from 1. */
export type Spot = { readonly line: number; readonly column: number };

// A sheet may contain three control characters: tab, line feed and carriage return.
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/**
 * The sheet's text in pieces, without a byte order mark and with LF as its only line end: a program that saves LF as CRLF
 * changes no row. Throws E102 if the bytes are not text.
 */
export async function* textOf(source: SheetSource, writing: Writing): AsyncGenerator<string> {
  let isCut = false;
  for await (const text of decoded(source, writing)) {
    if (text === '') continue;
    if (CONTROL.test(text)) throw await controlCharacter(source, writing);
    // The CR of the last piece was half of a CRLF.
    yield withLf(isCut && text.startsWith('\n') ? text.slice(1) : text);
    isCut = text.endsWith('\r');
  }
}

/** The text with LF for each CRLF and CR. */
export const withLf = (text: string): string =>
  text.includes('\r') ? text.replaceAll('\r\n', '\n').replaceAll('\r', '\n') : text;

/** The same text for messages; invalid bytes become U+FFFD. */
export async function* lenientTextOf(source: SheetSource, writing: Writing): AsyncGenerator<string> {
  const decoder = decoderOf(writing, false);
  for await (const chunk of source.open()) yield decoder.decode(chunk as Uint8Array, { stream: true });
  yield decoder.decode();
}

/** The physical lines of a text, ended by LF, CR or CRLF; of a line longer than `most` characters, `most + 1` of them. */
export async function* linesOf(texts: AsyncIterable<string>, most: number): AsyncGenerator<string> {
  const joined = (begun: string, more: string): string =>
    begun.length > most ? begun : (begun + more).slice(0, most + 1);
  let begun = '';
  // A CR at the end of a piece may be half of a CRLF.
  let heldBack = '';
  for await (const text of texts) {
    const whole = heldBack + text;
    heldBack = whole.endsWith('\r') ? '\r' : '';
    for (const [index, line] of whole
      .slice(0, whole.length - heldBack.length)
      .split(/\r\n?|\n/)
      .entries()) {
      if (index > 0) yield begun;
      begun = index > 0 ? joined('', line) : joined(begun, line);
    }
  }
  if (begun !== '' || heldBack !== '') yield begun;
}

async function* decoded(source: SheetSource, writing: Writing): AsyncGenerator<string> {
  const decoder = decoderOf(writing);
  let read = 0;
  const decode = async (chunk?: Uint8Array): Promise<string> => {
    try {
      return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode();
    } catch {
      throw await undecodable(source, writing);
    }
  };
  for await (const part of source.open()) {
    const chunk = part as Uint8Array;
    const foreign = read === 0 ? foreignSheet(source.name, writing, chunk) : undefined;
    if (foreign) throw foreign;
    yield await decode(chunk);
    read += chunk.length;
  }
  yield await decode();
}

async function controlCharacter(source: SheetSource, writing: Writing): Promise<RunsheetError> {
  const { cursor, character } = await firstOf(decoded(source, writing), CONTROL);
  const code = `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  const name = character === '\0' ? 'NUL' : 'control';
  const what = `a ${name} character (${code}) stands at character ${cursor.column} of line ${cursor.line}`;
  const hint = 'remove it; a sheet is plain text with no control characters but tabs and line ends';
  return problem('E102', { what, hint }, { place: placeOf(source.name, writing, cursor) });
}

export type Writing = Pick<SheetOptions, 'format' | 'encoding'>;

/** Throws E602 if `--encoding` names no known encoding. */
function decoderOf({ encoding }: Writing, fatal = true): TextDecoder {
  try {
    return new TextDecoder(encoding ?? 'utf-8', { fatal });
  } catch (cause) {
    const what = `--encoding ${encoding} is not a known encoding`;
    throw problem('E602', { what, hint: 'examples: utf-8, windows-1252, utf-16le, shift_jis' }, { cause });
  }
}

/** The cursor's place. Only JSON counts characters as columns. */
function placeOf(file: string, { format }: Writing, cursor: Cursor): SheetPlace {
  const countsCharacters = isJson(format);
  return { file, line: cursor.line, ...(countsCharacters ? { column: cursor.column } : {}) };
}

/** The first bytes of a file in another format give a clearer error than its first invalid byte would. */
function foreignSheet(file: string, writing: Writing, head: Uint8Array): RunsheetError | undefined {
  const foreign = packedIn(head) ?? otherEncodingIn(head, decoderOf(writing).encoding);
  if (foreign === undefined) return undefined;
  const { is, hint, correction } = foreign;
  const more = { place: { file }, ...(correction && { correction }) };
  return problem('E102', { what: `${file} ${is}`, hint }, more);
}

type Foreign = { readonly is: string; readonly hint: string; readonly correction?: Correction };

const begins = (head: Uint8Array, ...bytes: number[]) => bytes.every((byte, at) => head[at] === byte);

function packedIn(head: Uint8Array): Foreign | undefined {
  if (begins(head, 0x50, 0x4b, 3, 4))
    return {
      is: 'is an Excel workbook or a zip file',
      hint: 'give --format xlsx',
      correction: { add: [['--format', 'xlsx']] },
    };
  if (begins(head, 0x1f, 0x8b))
    return { is: 'is compressed with gzip', hint: 'unpack it first, with gunzip' };
  if (Buffer.from(head.subarray(0, 50)).toString('latin1').startsWith('version https://git-lfs'))
    return { is: 'is a pointer of Git LFS, not the sheet', hint: 'get the sheet itself: git lfs pull' };
  if (WEB_PAGE.test(Buffer.from(head.subarray(0, SAMPLE)).toString('latin1')))
    return {
      is: 'is a web page, not a sheet',
      hint: 'download the sheet itself, as .xlsx or .csv; a link that needs a sign-in gives a page',
    };
  return undefined;
}

const WEB_PAGE = /^(?:\u00ef\u00bb\u00bf)?\s*<(?:!doctype html|html|head|script|table|meta|body)\b/i;

/** Whether it is a zip file, compressed, or a web page. */
export const isPacked = (head: Uint8Array): boolean => packedIn(head) !== undefined;

const SAMPLE = 4096;

function otherEncodingIn(head: Uint8Array, declared: string): Foreign | undefined {
  const sample = head.subarray(0, SAMPLE);
  const not = `not ${declared.toUpperCase()}`;
  if (isUtf32(sample))
    return { is: `is UTF-32, ${not}`, hint: 'save it as UTF-8, for example: iconv -f UTF-32 -t UTF-8' };
  const label = utf16Of(sample);
  if (label !== undefined && label !== declared) return { is: `is UTF-16, ${not}`, ...encodedIn(label) };
  // The commas and line ends of UTF-16 have zeros, whatever its language.
  const isPlain =
    declared.startsWith('utf-16') && sample.length >= 4 && !sample.includes(0) && isUtf8(sample);
  if (!isPlain) return undefined;
  const hint = 'remove --encoding, or give --encoding utf-8';
  return { ...encodedIn('utf-8'), is: `is ${not}: it looks like UTF-8`, hint };
}

const encodedIn = (label: string): Pick<Foreign, 'hint' | 'correction'> => ({
  hint: `add --encoding ${label}`,
  correction: { add: [['--encoding', label]] },
});

/** Text in UTF-32 has zeros in at least one of each four bytes, at the same place, and western text in three. */
export function isUtf32(sample: Uint8Array): boolean {
  if (begins(sample, 0xff, 0xfe, 0, 0) || begins(sample, 0, 0, 0xfe, 0xff)) return true;
  const length = sample.length - (sample.length % 4);
  const isZero = (from: number): boolean =>
    sample.subarray(0, length).every((byte, at) => at % 4 !== from || byte === 0);
  return length > 0 && ((isZero(3) && isZero(2)) || (isZero(0) && isZero(1)));
}

/** The label of UTF-16 text; undefined for other text. */
export function utf16Of(sample: Uint8Array): string | undefined {
  if (begins(sample, 0xff, 0xfe)) return 'utf-16le';
  if (begins(sample, 0xfe, 0xff)) return 'utf-16be';
  if (!sample.includes(0)) return undefined;
  const zeros = (parity: number) => sample.filter((byte, at) => byte === 0 && at % 2 === parity).length;
  // Western text in UTF-16 has a zero in nearly every second byte; other text has them in its commas and line ends.
  const enough = isUtf8(sample) ? sample.length / 4 : 0;
  if (zeros(1) > enough && zeros(0) === 0) return 'utf-16le';
  if (zeros(0) > enough && zeros(1) === 0) return 'utf-16be';
  return undefined;
}

/** The text of the first bytes of a sheet, in UTF-16 or with the letters of ASCII. */
export const headText = (head: Uint8Array): string =>
  new TextDecoder(utf16Of(head.subarray(0, SAMPLE)) ?? 'utf-8').decode(head);

/** Whether these bytes can be the beginning of a text in UTF-8. */
function isUtf8(sample: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Reads the sheet once more to name the line in which decoding failed: an earlier one may really have U+FFFD. */
async function undecodable(source: SheetSource, writing: Writing): Promise<RunsheetError> {
  const [strict, lenient, cursor] = [decoderOf(writing), decoderOf(writing, false), new Cursor()];
  let text = '';
  try {
    for await (const part of source.open())
      for (let from = 0, end = 0; from < part.length; from = end) {
        end = part.indexOf(LF, from) + 1 || part.length;
        text = lenient.decode(part.subarray(from, end), { stream: true });
        cursor.pass(strict.decode(part.subarray(from, end), { stream: true }));
      }
    text = lenient.decode();
  } catch {
    cursor.pass(text.slice(0, text.indexOf('\uFFFD')));
  }
  const { encoding } = decoderOf(writing);
  const what = `line ${cursor.line} of ${source.name} is not ${encoding.toUpperCase()} text`;
  const hint =
    encoding === 'utf-8'
      ? await readingsHint(source)
      : 'name the encoding that the sheet was saved in, or leave --encoding out for UTF-8';
  return problem('E102', { what, hint }, { place: placeOf(source.name, writing, cursor) });
}

async function readingsHint(source: SheetSource): Promise<string> {
  const { sample, utf8, foreign } = await foreignLines(source);
  const { readings } = utf8 > foreign ? { readings: [] } : rankedReadings(sample);
  return readings.length === 0 ? 'save it as UTF-8' : `${readingsText(readings)}; or save it as UTF-8`;
}

const LF = 0x0a;

/** The first such character, and where it is. */
async function firstOf(texts: AsyncIterable<string>, pattern: RegExp) {
  const cursor = new Cursor();
  for await (const text of texts) {
    const at = text.search(pattern);
    cursor.pass(at < 0 ? text : text.slice(0, at));
    if (at >= 0) return { cursor, character: text.charAt(at) };
  }
  return { cursor, character: '' };
}
