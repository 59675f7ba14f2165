// Finds rows whose template lacks a cell: "a photo of a lamp in  style" would be sent.

import { list } from '../../errors/error.ts';
import type { ColumnMapping } from '../column-mapping.ts';
import { cellText, shortened, type SheetRecord } from '../sheet-record.ts';
import type { SheetOptions } from '../sheet-source.ts';
import { columnsIn, withOptional } from '../templates.ts';
import { GroupedCells } from './grouped-cells.ts';
import { NOTHING, type Guess, type GuessPart, or, toConfirm } from './guess.ts';
import { isInCapitals } from '../text/speakers.ts';
import { alsoMet, conditionAmong, conditionOf } from '../where/condition-word.ts';
import { linesText } from './long-rows.ts';

const MAX_LINES = 20;

/** A row with one cell, in capitals, above the rows of its section. */
type Head = { readonly column: number; readonly text: string; readonly line: number };

type EmptyRows = { readonly lines: number[]; count: number };

export class EmptyParts {
  /** Input → columns that its template needs and rows lack. */
  readonly lacking = new Map<string, Map<number, EmptyRows>>();
  readonly #heads: Head[] = [];
  #rows = 0;
  #inCapitals = 0;
  readonly #cells = new Map<number, GroupedCells>();
  readonly #plan: ColumnMapping;
  readonly #needed: readonly { readonly input: string; readonly columns: readonly number[] }[];

  constructor(plan: ColumnMapping) {
    this.#plan = plan;
    // A template of one cell is not sent without it.
    this.#needed = plan.feeds.flatMap(({ input, from }) =>
      'template' in from && from.template.length > 1
        ? [{ input, columns: columnsIn(from.template, { isNeeded: true }) }]
        : [],
    );
  }

  /** The columns that only the first row of each group has, with the number of rows below these. */
  get grouped(): ReadonlyMap<number, number> {
    const lacking = this.#needed.flatMap(({ input }) => [...(this.lacking.get(input) ?? [])]);
    return new Map(
      lacking.flatMap(([column, { count }]) => (this.#cells.get(column)?.isGrouped ? [[column, count]] : [])),
    );
  }

  /** The heads of sections; none if other rows are written in capitals too. */
  get heads(): readonly Head[] {
    return this.#inCapitals * 2 <= this.#rows ? this.#heads : [];
  }

  #takeHead(texts: readonly string[], line: number): void {
    const column = texts.findIndex((text) => text.trim() !== '');
    const text = texts[column] ?? '';
    const isOnly = texts.length > 1 && texts.every((cell, at) => at === column || cell.trim() === '');
    if (isOnly && isInCapitals(text) && this.#heads.length < MAX_LINES)
      this.#heads.push({ column, text, line });
    else {
      this.#rows += 1;
      if (isInCapitals(text)) this.#inCapitals += 1;
    }
  }

  take({ cells, marks, line }: SheetRecord): void {
    if (this.#needed.length > 0) this.#takeHead(cells.map(cellText), line);
    for (const column of new Set(this.#needed.flatMap(({ columns }) => columns))) {
      const grouped = this.#cells.get(column) ?? new GroupedCells();
      this.#cells.set(column, grouped);
      grouped.take(cellText(cells[column]));
    }
    for (const { input, columns } of this.#needed)
      for (const column of columns) {
        const text = cellText(cells[column]).trim();
        if ((text !== '' && !this.#plan.nothings.has(text)) || marks?.has(column)) continue;
        const byColumn = this.lacking.get(input) ?? new Map<number, EmptyRows>();
        const rows = byColumn.get(column) ?? { lines: [], count: 0 };
        this.lacking.set(input, byColumn.set(column, rows));
        rows.count += 1;
        if (rows.lines.length < MAX_LINES) rows.lines.push(line);
      }
  }
}

/** The texts of templates without these columns where they are empty. */
export const textsWithout = (
  { lacking }: EmptyParts,
  columns: ReadonlySet<number>,
  names: readonly string[],
  { set }: SheetOptions,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...lacking.keys()].map((input) => [input, withOptional(set[input] ?? '', columns, names)]),
  );

/** Asks to send these texts without the cell, which brackets in the template state. */
export function emptyPartGuesses(
  { lacking, heads: allHeads }: EmptyParts,
  plan: ColumnMapping,
  options: SheetOptions,
): GuessPart {
  const heads = options.skipRows?.length === 0 ? [] : allHeads;
  const isHead = (line: number): boolean => heads.some((head) => head.line === line);
  const names = plan.columns.map(({ name }) => name);
  const texts: Record<string, string> = {};
  const guesses = [...lacking].flatMap(([input, emptyRows]): readonly Guess[] => {
    const byColumn = new Map(
      [...emptyRows].flatMap(([column, { lines, count }]) => {
        const own = lines.filter((line) => !isHead(line));
        return own.length === 0 ? [] : [[column, { lines: own, count: count - lines.length + own.length }]];
      }),
    );
    if (byColumn.size === 0) return [];
    const text = withOptional(options.set[input] ?? '', new Set(byColumn.keys()), names);
    texts[input] = text;
    const cells = [...byColumn].map(([column, rows]) => `"${names[column]}" in ${linesText(rows)}`);
    const conditions = [...byColumn.keys()].map((column) => conditionOf(names[column] ?? '', '!=', ''));
    const own = options.where === undefined ? [] : [`(${options.where})`];
    const what = `the text of ${input} lacks ${list(cells)}, and is sent without it`;
    const without = or('to leave these rows out', { where: [...own, ...conditions].join(' and ') });
    return [toConfirm('values', what, { set: { [input]: text } }, without)];
  });
  const [head] = heads;
  if (guesses.length === 0 && head === undefined) return NOTHING;
  const ofTexts = { set: { ...options.set, ...texts }, optionalParts: true } as const;
  if (head === undefined) return { options: ofTexts, guesses };
  const name = names[head.column] ?? '';
  const where = alsoMet(
    options.where,
    conditionAmong(name, '!=', [...new Set(heads.map(({ text }) => text))]),
  );
  const shown = list([...new Set(heads.map(({ text }) => `"${shortened(text)}"`))]);
  const what = `${shown} in "${name}" ${heads.length === 1 ? 'heads' : 'head'} the rows below, and ${heads.length === 1 ? 'is' : 'are'} left out`;
  const sendingAll = or('to send all rows', { skipRows: [] });
  const guess: Guess = { ...toConfirm('rows', what, { where }, sendingAll), isChoice: true };
  return { options: { ...(guesses.length > 0 && ofTexts), where }, guesses: [guess, ...guesses] };
}
