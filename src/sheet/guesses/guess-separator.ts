// Guesses which separator the cells of a sheet have.

import { problem, type RunsheetError } from '../../errors/error.ts';
import { shellWord } from '../../errors/outside-text.ts';
import { withoutChoices } from '../csv/csv.ts';
import { firstOf } from '../sheet-record.ts';
import type { SheetSource, SheetOptions } from '../sheet-source.ts';
import { withoutEntities } from '../text/entities.ts';
import { lenientTextOf, linesOf } from '../text/sheet-text.ts';
import { said, type Settled } from './guess.ts';
import { firstRowsOf, HEADER_ROWS, matchesIn } from './guess-header.ts';

const SEPARATORS = [',', ';', '\t', '|'] as const;

/** Lines or rows that decide how a sheet is read. */
export const SAMPLED = 200;
export const MAX_LINE = 1000;

type Candidate = {
  readonly separator: string;
  readonly matches: number;
  /** The first row with the usual number of fields. */
  readonly from: number;
};

export async function guessedSeparator(
  source: SheetSource,
  options: SheetOptions,
  wanted: ReadonlySet<string>,
): Promise<Settled> {
  const declared = await declaredSeparator(source, options);
  if (declared !== undefined) return withSeparator({ ...options, headerRow: 2 }, declared);
  const candidates: Candidate[] = [];
  for (const separator of SEPARATORS) {
    const bare = INSIDE[separator];
    if (bare !== undefined && !(await hasOutside(source, options, separator, bare))) continue;
    const rows = await firstRowsOf(source, { ...options, delimiter: separator }, SAMPLED);
    const from = evenFrom(rows?.map(({ fields }) => fields.length) ?? []);
    if (rows === undefined || from === undefined) continue;
    const matches = Math.max(...rows.slice(0, HEADER_ROWS).map(matchesIn(wanted)));
    candidates.push({ separator, matches, from });
  }
  const most = Math.max(...candidates.map(({ matches }) => matches));
  const matching = candidates.filter(({ matches }) => matches === most);
  // The header contains the separator too, but no decimal commas.
  const first = Math.min(...matching.map(({ from }) => from));
  const [best, second] = matching.filter(({ from }) => from === first);
  // Without a candidate, a comma is assumed, and a sheet without commas is refused.
  if (best === undefined) return { options, guesses: [] };
  if (second !== undefined) throw ambiguous(source.name, best.separator, second.separator);
  return best.separator === ',' ? { options, guesses: [] } : withSeparator(options, best.separator);
}

/** The lines without signs that separate no cells: bars of choices such as `{red|blue}`, and the ends of `&amp;`. */
const INSIDE: Readonly<Record<string, (line: string) => string>> = {
  '|': withoutChoices,
  ';': withoutEntities,
};

/** Whether one of the first lines has the separator elsewhere. */
async function hasOutside(
  source: SheetSource,
  options: SheetOptions,
  separator: string,
  bare: (line: string) => string,
): Promise<boolean> {
  for await (const line of firstOf(linesOf(lenientTextOf(source, options), MAX_LINE), SAMPLED))
    if (bare(line).includes(separator)) return true;
  return false;
}

const shownAs = (separator: string): string => (separator === '\t' ? 'tab' : separator);

function withSeparator(options: SheetOptions, separator: string): Settled {
  const delimiter = shownAs(separator);
  const guess = said('separator', `separator ${delimiter}`, { delimiter });
  return { options: { ...options, delimiter }, guesses: [guess] };
}

function ambiguous(file: string, a: string, b: string): RunsheetError {
  const what = `${file} may be separated by ${shownAs(a)} or by ${shownAs(b)}`;
  const hint = `add --delimiter ${shellWord(shownAs(a))} or --delimiter ${shellWord(shownAs(b))}`;
  return problem('E102', { what, hint }, { place: { file } });
}

/** Excel obeys a first line `sep=;`. */
async function declaredSeparator(source: SheetSource, options: SheetOptions): Promise<string | undefined> {
  for await (const line of linesOf(lenientTextOf(source, options), 100))
    return /^"?sep=(.)"?$/iu.exec(line)?.[1];
  return undefined;
}

const EVEN = 0.9;

/** The index of the header, if nearly all rows from there on have the same number of fields; a title above it may match. */
function evenFrom(widths: readonly number[]): number | undefined {
  const counts = Map.groupBy(widths, (width) => width);
  const [usual = 0, same = []] = [...counts].toSorted(([, a], [, b]) => b.length - a.length)[0] ?? [];
  const from = widths.indexOf(usual);
  return usual > 1 && same.length >= (widths.length - from) * EVEN ? from : undefined;
}
