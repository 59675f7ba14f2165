// Reads the text of a sheet in pieces and in lines: chooses the decoder, and names what is not text (E102).

import { isJson } from '../formats.ts';
import { problem, type RunsheetError, type SheetPlace } from '../../errors/error.ts';
import type { SheetSource, SheetOptions } from '../sheet-source.ts';
import { TextDecoder } from 'node:util';
import { foreignLines, rankedReadings, readingsText } from './likely-encodings.ts';
import { otherEncodingIn, packedIn } from './recognized-bytes.ts';

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
  const what = `a ${name} character (${code}) is at character ${cursor.column} of line ${cursor.line}`;
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
