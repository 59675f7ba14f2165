// The encoding of a sheet: its decoder, and what is said (E102) where the bytes are in another one.

import { TextDecoder } from 'node:util';
import { type Place, problem, type RunsheetError } from '../errors.ts';
import { Cursor } from './cursor.ts';
import type { SheetOptions } from './options.ts';
import type { SheetSource } from './source.ts';

/** How a sheet's bytes are to be understood. */
export type Writing = Pick<SheetOptions, 'format' | 'encoding'>;

/** Throws E602 where `--encoding` names none. */
export function decoderOf({ encoding }: Writing, fatal = true): TextDecoder {
  try {
    return new TextDecoder(encoding ?? 'utf-8', { fatal });
  } catch (cause) {
    const what = `--encoding ${encoding} is not an encoding that is known here`;
    throw problem('E602', { what, hint: 'for example utf-8, windows-1252, utf-16le, shift_jis' }, { cause });
  }
}

/** A place of which the cursor knows the line; a character counts as a column only in JSON. */
export function placeOf(file: string, { format }: Writing, cursor: Cursor): Place {
  const countsCharacters = format === 'json' || format === 'jsonl';
  return { file, line: cursor.line, ...(countsCharacters ? { column: cursor.column } : {}) };
}

/** What plainly is no sheet in this encoding gets better words from its first bytes than its first bad byte would. */
export function foreignSheet(
  file: string,
  { encoding }: Writing,
  head: Uint8Array,
): RunsheetError | undefined {
  const foreign = packedIn(head) ?? (encoding === undefined ? utf16In(head) : undefined);
  if (foreign === undefined) return undefined;
  return problem('E102', { what: `${file} ${foreign.is}`, hint: foreign.hint }, { place: { file } });
}

type Foreign = { readonly is: string; readonly hint: string };

const begins = (head: Uint8Array, ...bytes: number[]): boolean =>
  bytes.every((byte, at) => head[at] === byte);

function packedIn(head: Uint8Array): Foreign | undefined {
  if (begins(head, 0x50, 0x4b, 3, 4))
    return { is: 'is an Excel workbook or a zip file', hint: 'save the sheet as CSV (UTF-8)' };
  if (begins(head, 0x1f, 0x8b)) return { is: 'is compressed with gzip', hint: 'unpack it first with gunzip' };
  return undefined;
}

function utf16In(head: Uint8Array): Foreign | undefined {
  const label = utf16Of(head);
  return label === undefined
    ? undefined
    : { is: 'is UTF-16, not UTF-8', hint: `--encoding ${label} reads it` };
}

function utf16Of(head: Uint8Array): string | undefined {
  if (begins(head, 0xff, 0xfe)) return 'utf-16le';
  if (begins(head, 0xfe, 0xff)) return 'utf-16be';
  const sample = head.subarray(0, 4096);
  const zeros = (parity: number): number =>
    sample.filter((byte, at) => byte === 0 && at % 2 === parity).length;
  // Western text in UTF-16 has a zero in nearly every second byte.
  if (zeros(1) > sample.length / 4 && zeros(0) === 0) return 'utf-16le';
  if (zeros(0) > sample.length / 4 && zeros(1) === 0) return 'utf-16be';
  return undefined;
}

/** Reads the sheet once more to name the byte at which decoding failed; the chunks before `near` (bytes) were good. */
export async function undecodable(
  source: SheetSource,
  writing: Writing,
  near: number,
): Promise<RunsheetError> {
  const { at, byte, cursor } = await badByte(source, writing, near);
  const { encoding } = decoderOf(writing);
  const which = `byte ${at} (0x${byte.toString(16).toUpperCase().padStart(2, '0')})`;
  const what = `${which} of ${source.name} is not ${encoding.toUpperCase()} text`;
  const hint =
    encoding === 'utf-8'
      ? 'a sheet from a spreadsheet may need --encoding windows-1252; else save it as UTF-8'
      : 'name the encoding that the sheet was saved in, or leave --encoding out for UTF-8';
  return problem('E102', { what, hint }, { place: placeOf(source.name, writing, cursor) });
}

type BadByte = { readonly at: number; readonly byte: number; readonly cursor: Cursor };

async function badByte(source: SheetSource, writing: Writing, near: number): Promise<BadByte> {
  const decoder = decoderOf(writing);
  const cursor = new Cursor();
  let begun = { at: near, byte: 0 };
  let complete = true;
  let read = 0;
  for await (const part of source.open()) {
    const chunk = part as Uint8Array;
    // A character has at most four bytes, so single steps from a little before meet the first one of the bad one.
    const whole = Math.max(0, Math.min(chunk.length, near - 4 - read));
    cursor.pass(decoder.decode(chunk.subarray(0, whole), { stream: true }));
    for (const [index, byte] of chunk.subarray(whole).entries()) {
      if (complete) begun = { at: read + whole + index, byte };
      const text = decodeByte(decoder, byte);
      if (text === undefined) return { ...begun, cursor };
      complete = text !== '';
      cursor.pass(text);
    }
    read += chunk.length;
  }
  return { ...begun, cursor };
}

function decodeByte(decoder: TextDecoder, byte: number): string | undefined {
  try {
    return decoder.decode(Uint8Array.of(byte), { stream: true });
  } catch {
    return undefined;
  }
}
