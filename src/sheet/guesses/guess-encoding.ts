// Guesses the encoding of a CSV from all its bytes.

import { isUtf8 } from 'node:buffer';
import { problem } from '../../errors/error.ts';
import { isPacked, isUtf32, utf16Of } from '../text/encoding.ts';
import { said, type Settled } from './guess.ts';
import type { SheetOptions } from '../sheet-options.ts';
import type { SheetSource } from '../sheet-source.ts';

/** Bytes that stand for no character in windows-1252. */
const UNDEFINED = [0x81, 0x8d, 0x8f, 0x90, 0x9d];

/** A byte order mark or zeros: UTF-16; else UTF-8 if all bytes are; else windows-1252. Throws E102 for none of them. */
export async function guessedEncoding(source: SheetSource, options: SheetOptions): Promise<Settled> {
  const utf8 = new Utf8Check();
  let isFirst = true;
  for await (const part of source.open()) {
    const chunk = part as Uint8Array;
    const head = chunk.subarray(0, SAMPLE);
    // The layout refuses what is no text, and UTF-32.
    if (isFirst && (isPacked(head) || isUtf32(head))) return { options, guesses: [] };
    const wide = isFirst ? utf16Of(head) : undefined;
    if (wide !== undefined) return withEncoding(options, wide);
    isFirst = false;
    if (!utf8.take(chunk)) return otherEncoding(source, options);
  }
  return utf8.isWhole ? { options, guesses: [] } : otherEncoding(source, options);
}

async function otherEncoding(source: SheetSource, options: SheetOptions): Promise<Settled> {
  const at = await undefinedByte(source);
  if (at === undefined) return withEncoding(options, 'windows-1252');
  const what = `${source.name} is neither UTF-8 nor windows-1252: see byte ${at}`;
  throw problem(
    'E102',
    { what, hint: 'save it as UTF-8, or name its encoding, for example: --encoding shift_jis' },
    { place: { file: source.name } },
  );
}

async function undefinedByte(source: SheetSource): Promise<number | undefined> {
  let read = 0;
  for await (const part of source.open()) {
    const chunk = part as Uint8Array;
    const found = UNDEFINED.map((byte) => chunk.indexOf(byte)).filter((at) => at >= 0);
    if (found.length > 0) return read + Math.min(...found);
    read += chunk.length;
  }
  return undefined;
}

/** Checks bytes as they come; a character may be cut between two pieces. */
class Utf8Check {
  #cut: Uint8Array = new Uint8Array();

  get isWhole(): boolean {
    return this.#cut.length === 0;
  }

  /** Whether everything until now may be UTF-8. */
  take(chunk: Uint8Array): boolean {
    const bytes = this.isWhole ? chunk : Buffer.concat([this.#cut, chunk]);
    const end = wholeEnd(bytes);
    this.#cut = bytes.slice(end);
    return isUtf8(bytes.subarray(0, end));
  }
}

/** Where the last character begins if it is not complete, else the end. */
function wholeEnd(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 0;
    if (needs > 0) return needs > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

const SAMPLE = 4096;

function withEncoding(options: SheetOptions, encoding: string): Settled {
  const guess = said('encoding', `encoding ${encoding}`, '--encoding', encoding);
  return { options: { ...options, encoding }, guesses: [guess] };
}
