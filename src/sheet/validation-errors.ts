// Collects the errors of a sheet: all of them go into a file, and ten are shown with their lines, grouped by kind, so that many of one
// kind hide no other. Memory holds ten errors of each of ten kinds, and counts.

import { type Correction, list, problem, RunsheetError } from '../errors/error.ts';
import { csvCell, markedLine } from '../errors/outside-text.ts';
import { Pieces } from '../store/pieces.ts';
import type { Store } from '../store/store.ts';
import { type Writing, lenientTextOf, linesOf } from './text/sheet-text.ts';
import { type SheetSource, type SheetOptions, rangesText, withRows } from './sheet-source.ts';

/** Where all errors are listed. `isPrivate`: nobody is told of the list, which goes with its folder. */
export type ErrorsPlace = { readonly store: Store; readonly file: string; readonly isPrivate?: true };

const MOST_SHOWN = 10;
/** What is wrong with one row only. */
const OF_CELLS: ReadonlySet<string> = new Set(['E103', 'E201', 'E202', 'E203', 'E207', 'E210']);
/** More rows are not left out by numbers. */
const MOST_LINES = 1000;
const MOST_EXCERPT = 2000;
/** The first line of every list. */
export const ERRORS_HEADER = 'code,file,line,column,row,column_name,message,hint\n';

/** E200: the sheet has `total` errors in `rows` rows, and nothing was sent. */
export class SheetRefused extends RunsheetError {
  /** The first ten, with their places and lines. */
  readonly problems: readonly RunsheetError[];
  readonly total: number;
  readonly byCode: Readonly<Record<string, number>>;
  /** Rows that were read. */
  readonly rows: number;
  /** The file with all of them, if they are listed. */
  readonly errorsFile: string | undefined;

  /** `hint` replaces the usual one. */
  constructor(
    found: Pick<SheetRefused, 'problems' | 'total' | 'byCode' | 'rows'>,
    errorsFile: string | undefined,
    hint?: string,
  ) {
    const isMore = found.total > found.problems.length;
    const facts = { rows: found.rows, wrong: found.total, errorsFile, isMore };
    const composed = problem('E200', facts);
    super('E200', composed.message, { exit: composed.exit, hint: hint ?? composed.hint });
    this.problems = found.problems;
    this.total = found.total;
    this.byCode = found.byCode;
    this.rows = found.rows;
    this.errorsFile = errorsFile;
  }
}

/** How the command becomes right. */
export const correctionsOf = (error: RunsheetError): readonly Correction[] =>
  (error instanceof SheetRefused ? error.problems : [error]).flatMap(({ correction }) => correction ?? []);

/** Corrections that a sheet needs too once it is corrected, and what they answer. */
export type Further = { readonly corrections: readonly Correction[]; readonly texts: readonly string[] };

const FURTHER = new WeakMap<object, Further>();

export const furtherOf = (error: RunsheetError): Further =>
  FURTHER.get(error) ?? { corrections: [], texts: [] };

export function lackingToo(error: RunsheetError, further: Further): RunsheetError {
  FURTHER.set(error, further);
  return error;
}

export class Problems {
  readonly #place: ErrorsPlace;
  readonly #kinds = new Map<string, Kind>();
  readonly #byCode = new Map<string, number>();
  readonly #list: Pieces;
  #total = 0;

  constructor(place: ErrorsPlace) {
    this.#place = place;
    this.#list = new Pieces(() => place.store.draft(place.file));
  }

  get total(): number {
    return this.#total;
  }

  async add(found: RunsheetError): Promise<void> {
    this.#total += 1;
    this.#byCode.set(found.code, (this.#byCode.get(found.code) ?? 0) + 1);
    this.#keep(found);
    await this.#list.add(this.#total === 1 ? ERRORS_HEADER + csvLine(found) : csvLine(found));
  }

  #keep(found: RunsheetError): void {
    const { code, place } = found;
    // A column that is no input has its own error, unless it may be a slip.
    const isUnknown = code === 'E204' && !isMapped(found);
    const name = isUnknown ? UNKNOWN : `${code} ${place?.columnName ?? ''}`;
    const kind = this.#kinds.get(name) ?? { count: 0, first: [], lines: [] };
    if (kind.count === 0 && this.#kinds.size === MOST_SHOWN) return;
    this.#kinds.set(name, kind);
    kind.count += 1;
    if (kind.first.length < (isUnknown ? MOST_LINES : MOST_SHOWN)) kind.first.push(found);
    if (place?.line !== undefined && place.row !== undefined && kind.lines.length <= MOST_LINES)
      kind.lines.push(place.line);
  }

  /** Each kind has its share of those that are shown. */
  #shown(): readonly RunsheetError[] {
    const kinds = [...this.#kinds].map(([name, kind]) => (name === UNKNOWN ? asOne(kind) : kind));
    const shares = kinds.map(() => 0);
    let left = MOST_SHOWN;
    for (let round = 0; round < MOST_SHOWN; round += 1)
      for (const [at, { first }] of kinds.entries())
        if (left > 0 && first.length > round) {
          shares[at] = round + 1;
          left -= 1;
        }
    return kinds.flatMap((kind, at) => withCount(kind, shares[at] ?? 0, kinds.length));
  }

  /**
   * The command that takes what is right: a column whose values are mostly not accepted is left out, and so are the other rows
   * with errors, unless they are most rows and not only empty.
   */
  #withCommand(shown: readonly RunsheetError[], { format, skipRows = [] }: SheetOptions, rows: number) {
    const isDropped = ({ code, correction, place }: RunsheetError): boolean =>
      code === 'E201' &&
      correction !== undefined &&
      2 * (this.#kinds.get(`E201 ${place?.columnName ?? ''}`)?.count ?? 0) > rows;
    const isRow = (found: RunsheetError): boolean =>
      found.place?.row !== undefined &&
      OF_CELLS.has(found.code) &&
      !isDropped(found) &&
      (found.code === 'E201' || !found.correction);
    const kinds = [...this.#kinds].filter(([, { first }]) => first.every(isRow));
    const lines = kinds.flatMap(([, kind]) => kind.lines);
    const only = [...new Set(lines)].toSorted((a, b) => a - b);
    const isEmpty = kinds.every(([name]) => name.startsWith('E203 '));
    const isPart = only.length <= MOST_LINES && (isEmpty ? only.length < rows : only.length * 2 <= rows);
    // Not all of them are known.
    const isMore = this.#kinds.size === MOST_SHOWN;
    const isUnmapped = shown.some(({ code, place }) => code === 'E203' && place?.row === undefined);
    const isLess = only.length > 0 && isPart && !isMore && !isUnmapped && format !== 'json';
    const at = isLess ? shown.findIndex(isRow) : -1;
    const skipped = rangesText(withRows(skipRows, only));
    return shown.map((one, index) => {
      if (index === at) return changedTo(one, { correction: { add: [['--skip-rows', skipped]] } });
      return one.code === 'E201' && !isDropped(one) ? changedTo(one, { correction: undefined }) : one;
    });
  }

  /** Completes the list and returns the error for `rows` rows. */
  async refusal(source: SheetSource, options: SheetOptions, rows: number): Promise<SheetRefused> {
    await this.#list.commit();
    const problems = await withExcerpts(this.#withCommand(this.#shown(), options, rows), source, options);
    const found = { problems, total: this.#total, byCode: Object.fromEntries(this.#byCode), rows };
    const { store, file, isPrivate } = this.#place;
    const refused = new SheetRefused(found, isPrivate ? undefined : `${store.location}/${file}`);
    const added = correctionsOf(refused).flatMap((one) => ('add' in one ? one.add : []));
    const less = added.find(([flag]) => flag === '--skip-rows');
    if (less === undefined) return refused;
    const hints = [refused.hint, `without the rows that are refused: ${less.join(' ')}`];
    const hint = hints.filter(Boolean).join('\n');
    return new SheetRefused(refused, refused.errorsFile, hint);
  }

  /** Discards an unfinished list; does nothing after {@link refusal}. */
  async discard(): Promise<void> {
    await this.#list.discard();
  }
}

/** The columns that are no input, each with an error of its own in the list. */
const UNKNOWN = 'E204';

const isMapped = ({ correction }: RunsheetError): boolean =>
  correction !== undefined && 'add' in correction && correction.add.some(([flag]) => flag === '--map');

/** One error for all columns that are no input, with one command. */
function asOne(kind: Kind): Kind {
  const [first] = kind.first;
  if (first === undefined || kind.count < 2) return kind;
  const columns = kind.first.map(({ place }) => `"${place?.columnName ?? ''}"`);
  const more = kind.count > MOST_SHOWN ? `, … and ${kind.count - MOST_SHOWN} more` : '';
  const text = `${kind.count} columns are no inputs of the deployment: ${list(columns.slice(0, MOST_SHOWN))}${more}`;
  const add = kind.first.flatMap(({ correction }) =>
    correction && 'add' in correction ? correction.add : [],
  );
  const hint = first.hint?.replace(/; to ignore the column.*$/s, '; to ignore a column: --drop');
  const correction = add.length === 0 ? undefined : { add };
  const { exit, place } = first;
  return { ...kind, count: 1, first: [new RunsheetError('E204', text, { exit, hint, place, correction })] };
}

type Kind = { count: number; readonly first: RunsheetError[]; readonly lines: number[] };

/** The first ones; the last of them says how many more there are, if others are shown too. */
function withCount({ count, first }: Kind, share: number, kinds: number): readonly RunsheetError[] {
  const shown = first.slice(0, share);
  const last = shown.at(-1);
  if (last === undefined || count === share || kinds === 1) return shown;
  const more = `${last.message} (and ${count - share} more like it)`;
  return [...shown.slice(0, -1), changedTo(last, {}, more)];
}

function changedTo(
  { code, message, exit, hint, cause, place, correction }: RunsheetError,
  changes: Partial<Pick<RunsheetError, 'correction' | 'place'>>,
  text = message,
): RunsheetError {
  return new RunsheetError(code, text, { exit, hint, cause, correction, place, ...changes });
}

/** Adds the physical line to each error; reads the sheet up to the last of these lines. */
export async function withExcerpts(
  problems: readonly RunsheetError[],
  source: SheetSource,
  writing: Writing,
): Promise<readonly RunsheetError[]> {
  // A row of a workbook has no line of text.
  if (writing.format === 'xlsx') return problems;
  const wanted = new Set(problems.flatMap(({ place }) => place?.line ?? []));
  const excerpts = await linesAt(wanted, source, writing);
  return problems.map((found) => {
    const { place } = found;
    const excerpt = place?.line === undefined ? undefined : excerpts.get(place.line);
    return place === undefined || excerpt === undefined
      ? found
      : changedTo(found, { place: { ...place, excerpt } });
  });
}

async function linesAt(wanted: ReadonlySet<number>, source: SheetSource, writing: Writing) {
  const found = new Map<number, string>();
  if (wanted.size === 0) return found;
  let line = 0;
  for await (const text of linesOf(lenientTextOf(source, writing), MOST_EXCERPT)) {
    line += 1;
    // Control characters are shown as marks.
    if (wanted.has(line)) found.set(line, markedLine(text));
    if (found.size === wanted.size) break;
  }
  return found;
}

function csvLine({ code, message, hint, place }: RunsheetError): string {
  const cells = [code, place?.file, place?.line, place?.column, place?.row, place?.columnName, message, hint];
  return `${cells.map((cell) => quoted(csvCell(String(cell ?? '')))).join(',')}\n`;
}

const quoted = (cell: string): string => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
