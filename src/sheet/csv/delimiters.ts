// Decides which character separates the fields of a CSV, and recognises a header with another delimiter.

import { problem, type Correction, type RunsheetError } from '../../errors/error.ts';
import { shellWord } from '../../errors/outside-text.ts';
import type { SheetOptions } from '../sheet-options.ts';
import { MOST_RECORD } from '../sheet-record.ts';
import type { SheetSource } from '../sheet-source.ts';
import { lenientTextOf, linesOf } from '../text/sheet-text.ts';

const DELIMITERS = [
  { character: ';', value: ';', name: 'semicolons' },
  { character: '\t', value: 'tab', name: 'tabs' },
  { character: '|', value: '|', name: 'vertical bars' },
  { character: ',', value: ',', name: 'commas' },
] as const;

/** The delimiter. Throws E602 if `--delimiter` is not one usable character. */
export function delimiterOf({ delimiter, format }: SheetOptions): string {
  if (delimiter === undefined) return format === 'tsv' ? '\t' : ',';
  if (delimiter === 'tab' || delimiter === String.raw`\t`) return '\t';
  if (/^[^"\r\n]$/u.test(delimiter)) return delimiter;
  const what = `--delimiter ${JSON.stringify(delimiter)} is not one character`;
  throw problem('E602', { what, hint: "for example --delimiter ';' or --delimiter tab" });
}

/** E102 if the header has only other delimiters than the expected one; undefined if it fits. */
export async function delimiterFault(
  source: SheetSource,
  options: SheetOptions,
): Promise<RunsheetError | undefined> {
  const own = delimiterOf(options);
  let line = 0;
  for await (const header of linesOf(lenientTextOf(source, options), MOST_RECORD)) {
    line += 1;
    if (header.trim() === '') continue;
    const bare = header.replaceAll(/"[^"]*"?/g, '');
    const other = DELIMITERS.find(({ character }) => bare.includes(character));
    if (other === undefined || bare.includes(own)) return undefined;
    const ownName = DELIMITERS.find(({ character }) => character === own)?.name ?? JSON.stringify(own);
    const what = `the header has no ${ownName}; the file looks separated by ${other.name}`;
    const hint = `add --delimiter ${shellWord(other.value)}`;
    const correction: Correction = { add: [['--delimiter', other.value]] };
    return problem('E102', { what, hint }, { place: { file: source.name, line, column: 1 }, correction });
  }
  return undefined;
}
