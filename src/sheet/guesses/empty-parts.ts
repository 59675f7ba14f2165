// Finds rows whose template lacks a cell: "a photo of a lamp in  style" would be sent.

import { list } from '../../errors/error.ts';
import type { ColumnMapping } from '../column-mapping.ts';
import { cellText, type SheetRecord } from '../sheet-record.ts';
import type { SheetOptions } from '../sheet-source.ts';
import { columnsIn, withOptional } from '../templates.ts';
import { GroupedCells } from './grouped-cells.ts';
import { NOTHING, type Guess, type GuessPart, or, toConfirm } from './guess.ts';
import { conditionOf } from '../where/condition-word.ts';
import { linesText } from './long-rows.ts';

const MAX_LINES = 20;

type EmptyRows = { readonly lines: number[]; count: number };

export class EmptyParts {
  /** Input → columns that its template needs and rows lack. */
  readonly lacking = new Map<string, Map<number, EmptyRows>>();
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

  take({ cells, marks, line }: SheetRecord): void {
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
  { lacking }: EmptyParts,
  plan: ColumnMapping,
  options: SheetOptions,
): GuessPart {
  const names = plan.columns.map(({ name }) => name);
  const texts: Record<string, string> = {};
  const guesses = [...lacking].map(([input, byColumn]): Guess => {
    const text = withOptional(options.set[input] ?? '', new Set(byColumn.keys()), names);
    texts[input] = text;
    const cells = [...byColumn].map(([column, rows]) => `"${names[column]}" in ${linesText(rows)}`);
    const conditions = [...byColumn.keys()].map((column) => conditionOf(names[column] ?? '', '!=', ''));
    const own = options.where === undefined ? [] : [`(${options.where})`];
    const what = `the text of ${input} lacks ${list(cells)}, and is sent without it`;
    const without = or('to leave these rows out', { where: [...own, ...conditions].join(' and ') });
    return toConfirm('values', what, { set: { [input]: text } }, without);
  });
  if (guesses.length === 0) return NOTHING;
  return { options: { set: { ...options.set, ...texts }, optionalParts: true }, guesses };
}
