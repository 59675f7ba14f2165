// Collects the errors of a sheet: all of them go into a file, and the first ten are shown with their lines. Memory holds only
// these ten and a count by code.

import { problem, RunsheetError } from '../errors/error.ts';
import { csvCell, markedLine } from '../errors/outside-text.ts';
import { Pieces } from '../store/pieces.ts';
import type { Store } from '../store/store.ts';
import { type Writing, lenientTextOf, linesOf } from './text/sheet-text.ts';
import type { SheetSource } from './sheet-source.ts';

/** Writes the list of all errors. */
export type ErrorsPlace = { readonly store: Store; readonly file: string };

const MOST_SHOWN = 10;
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
  /** The file with all of them. */
  readonly errorsFile: string;

  /** `hint` replaces the usual one. */
  constructor(
    found: Pick<SheetRefused, 'problems' | 'total' | 'byCode' | 'rows'>,
    errorsFile: string,
    hint?: string,
  ) {
    const facts = { rows: found.rows, wrong: found.total, errorsFile };
    const composed = problem('E200', facts);
    super('E200', composed.message, { exit: composed.exit, hint: hint ?? composed.hint });
    this.problems = found.problems;
    this.total = found.total;
    this.byCode = found.byCode;
    this.rows = found.rows;
    this.errorsFile = errorsFile;
  }
}

export class Problems {
  readonly #place: ErrorsPlace;
  readonly #first: RunsheetError[] = [];
  readonly #byCode = new Map<string, number>();
  /** A column of which one error names all values that are no GPUs. */
  #namedGpus: string | undefined;
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
    const { code, place } = found;
    if (code === 'E209') this.#namedGpus = place?.columnName;
    const isNamed = code === 'E201' && this.#namedGpus !== undefined && place?.columnName === this.#namedGpus;
    if (this.#first.length < MOST_SHOWN && !isNamed) this.#first.push(found);
    await this.#list.add(this.#total === 1 ? ERRORS_HEADER + csvLine(found) : csvLine(found));
  }

  /** Completes the list and returns the error for `rows` rows. */
  async refusal(source: SheetSource, writing: Writing, rows: number): Promise<SheetRefused> {
    await this.#list.commit();
    const problems = await withExcerpts(this.#first, source, writing);
    const byCode = Object.fromEntries(this.#byCode);
    return new SheetRefused(
      { problems, total: this.#total, byCode, rows },
      `${this.#place.store.location}/${this.#place.file}`,
    );
  }

  /** Discards an unfinished list; does nothing after {@link refusal}. */
  async discard(): Promise<void> {
    await this.#list.discard();
  }
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
    const { code, message, exit, hint, cause, place, correction } = found;
    const excerpt = place?.line === undefined ? undefined : excerpts.get(place.line);
    if (place === undefined || excerpt === undefined) return found;
    return new RunsheetError(code, message, { exit, hint, cause, correction, place: { ...place, excerpt } });
  });
}

async function linesAt(
  wanted: ReadonlySet<number>,
  source: SheetSource,
  writing: Writing,
): Promise<ReadonlyMap<number, string>> {
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
