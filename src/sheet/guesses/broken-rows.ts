// Finds rows of a table whose text is broken over lines without quotes, where each line with too few cells is a part of one.

import { wholeRows } from '../csv/csv.ts';
import { isDelimited } from '../formats.ts';
import { shortened } from '../sheet-record.ts';
import type { SheetOptions, SheetSource } from '../sheet-source.ts';
import type { GuessOptions } from './guess.ts';
import { NamedLines } from './named-lines.ts';
import type { Survey } from './survey.ts';

export type BrokenRows = {
  readonly text: string;
  readonly settled: GuessOptions;
  /** Whether no row begins like the further lines. */
  readonly isLikely: boolean;
  /** Whether each line has too few cells for a row. */
  readonly areShort: boolean;
};

/** undefined if lines with too few cells are no parts of rows, or rows may be short. */
export async function brokenRows(
  source: SheetSource,
  options: SheetOptions,
  { short, long, columns }: Survey,
): Promise<BrokenRows | undefined> {
  const { format, delimiter, shortRows, longRows, unquoted } = options;
  const isSettled = (shortRows ?? longRows ?? unquoted) !== undefined;
  if (short.count === 0 || isSettled || !isDelimited(format) || delimiter === 'none') return undefined;
  // The first line of a row ends within the text, and that of a row whose last text is broken is as long as the header.
  const places = [...short.widths].map((width) => width - 1);
  const candidates = new Set([...places, ...(places.includes(0) ? [columns.length - 1] : [])]);
  for (const at of candidates) {
    const broken = long.isText(at) ? await brokenAt(source, options, columns, at) : undefined;
    if (broken !== undefined) return broken;
  }
  return undefined;
}

async function brokenAt(
  source: SheetSource,
  options: SheetOptions,
  columns: readonly string[],
  at: number,
): Promise<BrokenRows | undefined> {
  const width = columns.length;
  const [starts, goingOn] = [new Set<string>(), new Set<string>()];
  const lines = new NamedLines();
  let rows = 0;
  let areShort = true;
  for await (const { line, fields, fault, pieces } of wholeRows(source, options, width, at)) {
    if (line <= (options.headerRow ?? 1) || fault !== undefined) continue;
    if (fields.length < width && fields.some((field) => field.trim() !== '')) return undefined;
    rows += pieces === undefined ? 0 : 1;
    if (pieces === undefined) starts.add(startOf(fields[0] ?? ''));
    for (const { line: number, fields: cells } of pieces ?? []) {
      lines.put(number, cells.join(' '));
      areShort &&= cells.length < width;
      if (number > line) goingOn.add(startOf(cells[0] ?? ''));
    }
  }
  const name = shortened(columns[at] ?? '');
  const as = rows === 1 ? 'one row' : `${rows} rows`;
  const text = `${lines.text} are read as ${as}, in which a line end breaks "${name}"`;
  const isLikely = ![...goingOn].some((start) => starts.has(start));
  return rows === 0 ? undefined : { text, settled: { unquoted: columns[at] ?? '' }, isLikely, areShort };
}

/** How the first cell of a line begins: as an id, as the rest of a sentence, or as a text. */
function startOf(text: string): string {
  if (/^\s/.test(text)) return 'blank';
  if (/^\S*\d\S*$/.test(text)) return 'id';
  return /^\p{Ll}/u.test(text) ? 'small' : 'text';
}
