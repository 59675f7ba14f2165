// Guesses the encoding of a sheet by its bytes.

import { list, problem, type RunsheetError } from '../../errors/error.ts';
import type { SheetOptions, SheetSource } from '../sheet-source.ts';
import {
  foreignLines,
  rankedReadings,
  readingsText,
  type ForeignLines,
  type Reading,
} from '../text/likely-encodings.ts';
import { isPacked, isUtf32, utf16Of } from '../text/recognized-bytes.ts';
import { said, type Settled } from './guess.ts';

/** UTF-16 by a byte order mark or zero bytes; else UTF-8 if valid; else the encoding whose letters look right. Throws E102 if none does, or several. */
export async function guessedEncoding(source: SheetSource, options: SheetOptions): Promise<Settled> {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  const isUtf8 = (chunk?: Uint8Array): boolean => {
    try {
      utf8.decode(chunk, { stream: chunk !== undefined });
      return true;
    } catch {
      return false;
    }
  };
  let isFirst = true;
  for await (const part of source.open()) {
    const chunk = part as Uint8Array;
    const head = chunk.subarray(0, SAMPLE);
    // The layout refuses UTF-32 and files that are not text.
    if (isFirst && (isPacked(head) || isUtf32(head))) return { options, guesses: [] };
    const wide = isFirst ? utf16Of(head) : undefined;
    if (wide !== undefined) return withEncoding(options, wide);
    isFirst = false;
    if (!isUtf8(chunk)) return otherEncoding(source, options);
  }
  return isUtf8() ? { options, guesses: [] } : otherEncoding(source, options);
}

/** A reading that is nearly as likely as another one is no guess: the owner is shown both. */
async function otherEncoding(source: SheetSource, options: SheetOptions): Promise<Settled> {
  const lines = await foreignLines(source);
  if (lines.utf8 > lines.foreign) throw notAllUtf8(source.name, lines);
  const { readings, isSure } = rankedReadings(lines.sample);
  const [first] = readings;
  if (first === undefined || !isSure) throw unknownEncoding(source.name, lines, readings);
  return withEncoding(options, first.label);
}

function notAllUtf8(file: string, { firstForeign }: ForeignLines): RunsheetError {
  const what = `line ${firstForeign} of ${file} is not UTF-8, although most lines are`;
  return problem(
    'E102',
    { what, hint: 'write this line again, and save the sheet as UTF-8' },
    { place: { file, line: firstForeign } },
  );
}

function unknownEncoding(
  file: string,
  { firstForeign }: ForeignLines,
  readings: readonly Reading[],
): RunsheetError {
  const what =
    readings.length === 0
      ? `${file} is not UTF-8, and its letters look right in no encoding: see line ${firstForeign}`
      : `${file} is not UTF-8; its encoding is one of ${list(readings.map(({ label }) => label))}`;
  const hint =
    readings.length === 0
      ? 'save it as UTF-8, or name its encoding, for example: --encoding shift_jis'
      : readingsText(readings);
  return problem('E102', { what, hint }, { place: { file, line: firstForeign } });
}

const SAMPLE = 4096;

function withEncoding(options: SheetOptions, encoding: string): Settled {
  const guess = said('encoding', `encoding ${encoding}`, { encoding });
  return { options: { ...options, encoding }, guesses: [guess] };
}
