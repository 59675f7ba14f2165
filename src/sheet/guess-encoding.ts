// Guesses the encoding of a CSV from all its bytes.

import { TextDecoder } from 'node:util';
import { problem } from '../errors/error.ts';
import { isPacked, isUtf32, utf16Of } from './encoding.ts';
import { said, type Settled } from './guess.ts';
import type { SheetOptions } from './sheet-options.ts';
import type { SheetSource } from './sheet-source.ts';

/** Bytes that stand for no character in windows-1252. */
const UNDEFINED: ReadonlySet<number> = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);

/** A byte order mark or zeros: UTF-16; else UTF-8 if all bytes are; else windows-1252. Throws E102 for none of them. */
export async function guessedEncoding(source: SheetSource, options: SheetOptions): Promise<Settled> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let isUtf8 = true;
  let undefinedAt: number | undefined;
  let read = 0;
  for await (const part of source.open()) {
    const chunk = part as Uint8Array;
    // The layout refuses what is no text, and UTF-32.
    if (read === 0 && (isPacked(chunk) || isUtf32(chunk.subarray(0, SAMPLE))))
      return { options, guesses: [] };
    const wide = read === 0 ? utf16Of(chunk.subarray(0, SAMPLE)) : undefined;
    if (wide !== undefined) return withEncoding(options, wide);
    isUtf8 &&= isText(decoder, chunk);
    if (undefinedAt === undefined) {
      const at = chunk.findIndex((byte) => UNDEFINED.has(byte));
      if (at >= 0) undefinedAt = read + at;
    }
    read += chunk.length;
  }
  if (isUtf8 && isText(decoder)) return { options, guesses: [] };
  if (undefinedAt === undefined) return withEncoding(options, 'windows-1252');
  const what = `${source.name} is neither UTF-8 nor windows-1252: see byte ${undefinedAt}`;
  throw problem(
    'E102',
    { what, hint: 'save it as UTF-8, or name its encoding, for example: --encoding shift_jis' },
    { place: { file: source.name } },
  );
}

const SAMPLE = 4096;

function withEncoding(options: SheetOptions, encoding: string): Settled {
  const guess = said('encoding', `encoding ${encoding}`, '--encoding', encoding);
  return { options: { ...options, encoding }, guesses: [guess] };
}

function isText(decoder: TextDecoder, chunk?: Uint8Array): boolean {
  try {
    decoder.decode(chunk, { stream: chunk !== undefined });
    return true;
  } catch {
    return false;
  }
}
