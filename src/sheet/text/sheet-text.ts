// Reads the text of a sheet in pieces and in lines.

import { problem, type RunsheetError } from '../../errors/error.ts';
import { Cursor } from './text-cursor.ts';
import { decoderOf, foreignSheet, placeOf, undecodable, type Writing } from './encoding.ts';
import type { SheetSource } from '../sheet-source.ts';

// A sheet may contain three control characters: tab, line feed and carriage return.
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** The sheet's text in pieces, without a byte order mark. Throws E102 if the bytes are not text. */
export async function* textOf(source: SheetSource, writing: Writing): AsyncGenerator<string> {
  for await (const text of decoded(source, writing)) {
    if (CONTROL.test(text)) throw await controlCharacter(source, writing);
    yield text;
  }
}

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
      throw await undecodable(source, writing, read);
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
  const cursor = new Cursor();
  let character = '';
  for await (const text of decoded(source, writing)) {
    const at = text.search(CONTROL);
    cursor.pass(at < 0 ? text : text.slice(0, at));
    character = at < 0 ? '' : text.charAt(at);
    if (character !== '') break;
  }
  const code = `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  const name = character === '\0' ? 'NUL' : 'control';
  const what = `a ${name} character (${code}) stands at character ${cursor.column} of line ${cursor.line}`;
  const hint = 'remove it; a sheet is plain text with no control characters but tabs and line ends';
  return problem('E102', { what, hint }, { place: placeOf(source.name, writing, cursor) });
}
