// Collects the errors of a sheet. All of them go into a file; ten are shown with their lines, shared among
// kinds, so that no kind hides another. Memory holds ten errors of each of ten kinds, and counts.

import { list, RunsheetError } from '../errors/error.ts';
import { csvCell, markedLine, shellWord } from '../errors/outside-text.ts';
import { Pieces } from '../store/pieces.ts';
import type { Store } from '../store/store.ts';
import { type Writing, lenientTextOf, linesOf } from './text/sheet-text.ts';
import type { SheetSource, SheetOptions } from './sheet-source.ts';
import { MisplacedFiles } from './misplaced-files.ts';
import { SheetRefused } from './sheet-refused.ts';
import { isWorkbook } from './formats.ts';
import { alsoMet, conditionWord } from './where/condition-word.ts';

/** The file that lists all errors. `isPrivate`: the user is not told about the list, which is removed with its folder. */
export type ErrorsPlace = { readonly store: Store; readonly file: string; readonly isPrivate?: true };

const MAX_SHOWN = 10;
/** Errors of a single row. */
const OF_CELLS: ReadonlySet<string> = new Set(['E103', 'E201', 'E202', 'E203', 'E207', 'E210']);
/** The most rows of one kind of error that are remembered. */
const MAX_LINES = 1000;
/** The most rows that a condition names. */
const MAX_NAMED = 10;
const MAX_EXCERPT = 2000;
/** The first line of every list. */
export const ERRORS_HEADER = 'code,file,line,column,row,column_name,message,hint\n';

/** Whether the message names the value that is meant, so that no row has to be left out. */
const hasRepair = ({ hint = '' }: RunsheetError): boolean => hint.startsWith('did you mean ');

export class Problems {
  readonly misplaced = new MisplacedFiles();
  readonly #place: ErrorsPlace;
  readonly #kinds = new Map<string, ErrorKind>();
  readonly #byCode = new Map<string, number>();
  /** The key of the row in a line, in a sheet with a key column. */
  readonly #keys = new Map<number, string>();
  readonly #list: Pieces;
  #total = 0;

  constructor(place: ErrorsPlace) {
    this.#place = place;
    this.#list = new Pieces(() => place.store.draft(place.file));
  }

  get total(): number {
    return this.#total;
  }

  /** `key`: the value of the key column in the row of the error. */
  async add(error: RunsheetError, key?: string): Promise<void> {
    this.#total += 1;
    const { line } = error.place ?? {};
    if (line !== undefined && key !== undefined && this.#keys.size < MAX_LINES) this.#keys.set(line, key);
    this.#byCode.set(error.code, (this.#byCode.get(error.code) ?? 0) + 1);
    this.#keep(error);
    await this.#list.add(this.#total === 1 ? ERRORS_HEADER + csvLine(error) : csvLine(error));
  }

  #keep(error: RunsheetError): void {
    const { code, place } = error;
    // A column that is not an input has its own error, unless its name may be a typo.
    const isUnknown = code === 'E204' && !isMapped(error);
    const name = isUnknown ? UNKNOWN : `${code} ${place?.columnName ?? ''}`;
    const kind = this.#kinds.get(name) ?? { count: 0, first: [], lines: [] };
    if (kind.count === 0 && this.#kinds.size === MAX_SHOWN) return;
    this.#kinds.set(name, kind);
    kind.count += 1;
    if (kind.first.length < (isUnknown ? MAX_LINES : MAX_SHOWN)) kind.first.push(error);
    if (place?.line !== undefined && place.row !== undefined && kind.lines.length <= MAX_LINES)
      kind.lines.push(place.line);
  }

  /** Shares the shown errors among the kinds. */
  #shown(): readonly RunsheetError[] {
    const kinds = [...this.#kinds].map(([name, kind]) => (name === UNKNOWN ? asOne(kind) : kind));
    const shares = kinds.map(() => 0);
    let left = MAX_SHOWN;
    for (let round = 0; round < MAX_SHOWN; round += 1)
      for (const [at, { first }] of kinds.entries())
        if (left > 0 && first.length > round) {
          shares[at] = round + 1;
          left -= 1;
        }
    return kinds.flatMap((kind, at) => withCount(kind, shares[at] ?? 0, kinds.length));
  }

  /**
   * Corrects the command to take the valid part: skips the faulty rows, unless those are most rows and not only empty ones.
   * `skipped`: their lines.
   */
  #withCommand(shown: readonly RunsheetError[], { invalid }: SheetOptions, rows: number) {
    const isRow = (error: RunsheetError): boolean =>
      error.place?.row !== undefined && OF_CELLS.has(error.code) && !error.correction && !hasRepair(error);
    const kinds = [...this.#kinds].filter(([, { first }]) => first.every(isRow));
    const lines = kinds.flatMap(([, kind]) => kind.lines);
    const only = [...new Set(lines)].toSorted((a, b) => a - b);
    const isEmpty = kinds.every(([name]) => name.startsWith('E203 '));
    const isPart = only.length <= MAX_LINES && (isEmpty ? only.length < rows : only.length * 2 <= rows);
    // Not all kinds were kept.
    const isMore = this.#kinds.size === MAX_SHOWN;
    const isUnmapped = shown.some(({ code, place }) => code === 'E203' && place?.row === undefined);
    const isLess = only.length > 0 && isPart && !isMore && !isUnmapped && invalid !== 'skip';
    const at = isLess ? shown.findIndex(isRow) : -1;
    const problems = shown.map((shownError, index) =>
      index === at ? changedTo(shownError, { correction: { add: [['--invalid', 'skip']] } }) : shownError,
    );
    return { problems, skipped: at === -1 ? [] : only };
  }

  /** A condition that leaves out the rows in these lines by their keys; undefined without a key of each. */
  #without(lines: readonly number[], { keyColumn, where }: SheetOptions): string | undefined {
    const keys = lines.map((line) => this.#keys.get(line));
    if (keyColumn === undefined || keys.length > MAX_NAMED || keys.includes(undefined)) return undefined;
    const [column, ...values] = [keyColumn, ...keys].map((text = '') => conditionWord(text));
    const isOther =
      values.length === 1 ? `${column} != ${values[0]}` : `${column} not in (${values.join(', ')})`;
    return alsoMet(where, isOther);
  }

  /** Completes the list and returns the error for `rows` rows. */
  async refusal(
    source: SheetSource,
    options: SheetOptions,
    { rows, columns }: Pick<SheetRefused, 'rows' | 'columns'>,
  ): Promise<SheetRefused> {
    await this.#list.commit();
    this.#mergeMisplaced(columns.map(({ name }) => name));
    const corrected = this.#withCommand(this.#shown(), options, rows);
    const problems = await withExcerpts(corrected.problems, source, options);
    const report = { problems, total: this.#total, byCode: Object.fromEntries(this.#byCode), rows, columns };
    const { store, file, isPrivate } = this.#place;
    const refused = new SheetRefused(report, isPrivate ? undefined : `${store.location}/${file}`);
    if (corrected.skipped.length === 0) return refused;
    const condition = this.#without(corrected.skipped, options);
    const hints = [
      refused.hint,
      'to run the other rows, and name these as refused: --invalid skip',
      condition === undefined ? undefined : `to leave these out: --where ${shellWord(condition)}`,
    ];
    return new SheetRefused(refused, refused.errorsFile, hints.filter(Boolean).join('\n'));
  }

  /** Files that all lie in one other place are one error, with the flag that finds them. */
  #mergeMisplaced(names: readonly string[]): void {
    for (const [name, { first, count }] of this.#kinds) {
      const [error] = first;
      const merged = error?.code === 'E210' ? this.misplaced.asOne(error, names) : undefined;
      if (merged === undefined) continue;
      this.#kinds.set(name, { count: 1, first: [merged], lines: [] });
      this.#total -= count - 1;
    }
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

/** Merges the errors of all columns that are not inputs into one error with one command. */
function asOne(kind: ErrorKind): ErrorKind {
  const [first] = kind.first;
  if (first === undefined || kind.count < 2) return kind;
  const columns = kind.first.map(({ place }) => `"${place?.columnName ?? ''}"`);
  const more = kind.count > MAX_SHOWN ? `, … and ${kind.count - MAX_SHOWN} more` : '';
  const text = `${kind.count} columns are no inputs of the deployment: ${list(columns.slice(0, MAX_SHOWN))}${more}`;
  const add = kind.first.flatMap(({ correction }) =>
    correction && 'add' in correction ? correction.add : [],
  );
  const hint = first.hint?.replace(/; to ignore the column.*$/s, '; to ignore a column: --drop');
  const correction = add.length === 0 ? undefined : { add };
  const { exit, place } = first;
  return { ...kind, count: 1, first: [new RunsheetError('E204', text, { exit, hint, place, correction })] };
}

type ErrorKind = { count: number; readonly first: RunsheetError[]; readonly lines: number[] };

/** The first errors; the last one tells how many more there are, if other kinds are shown too. */
function withCount({ count, first }: ErrorKind, share: number, kinds: number): readonly RunsheetError[] {
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
  if (isWorkbook(writing.format)) return problems;
  const wanted = new Set(problems.flatMap(({ place }) => place?.line ?? []));
  const excerpts = await linesAt(wanted, source, writing);
  return problems.map((error) => {
    const { place } = error;
    const excerpt = place?.line === undefined ? undefined : excerpts.get(place.line);
    return place === undefined || excerpt === undefined
      ? error
      : changedTo(error, { place: { ...place, excerpt } });
  });
}

async function linesAt(wanted: ReadonlySet<number>, source: SheetSource, writing: Writing) {
  const excerptsByLine = new Map<number, string>();
  if (wanted.size === 0) return excerptsByLine;
  let line = 0;
  for await (const text of linesOf(lenientTextOf(source, writing), MAX_EXCERPT)) {
    line += 1;
    // Control characters are shown as marks.
    if (wanted.has(line)) excerptsByLine.set(line, markedLine(text));
    if (excerptsByLine.size === wanted.size) break;
  }
  return excerptsByLine;
}

function csvLine({ code, message, hint, place }: RunsheetError): string {
  const cells = [code, place?.file, place?.line, place?.column, place?.row, place?.columnName, message, hint];
  return `${cells.map((cell) => quoted(csvCell(String(cell ?? '')))).join(',')}\n`;
}

const quoted = (cell: string): string => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
