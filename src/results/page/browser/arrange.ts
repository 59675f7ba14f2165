// Chooses the rows to show, and their order.

import { OPEN, type Table } from './all-rows.ts';
import type { Picks } from './viewer-choices.ts';

/** `deep`: rows whose full cells contain the text. */
export type Wish = typeof EVERYTHING & { deep?: ReadonlySet<number> | undefined };
type RowTest = (row: number) => boolean;

export const EVERYTHING = {
  text: '',
  /** An outcome, `others` for all but succeeded, or nothing. */
  outcome: '',
  gpu: '',
  /** -1: none. */
  column: -1,
  value: '',
  /** A group of the same picture; 0: all. */
  same: 0,
  /** `picked`, `rejected`, `1` to `5` stars at least, or nothing. */
  picked: '',
  sort: 'row',
  down: false,
};

/** Rows from 0, in the order shown. */
export function arrange(table: Table, wish: Wish, picks: Picks): Uint32Array {
  const matches = new Uint32Array(table.rows);
  const tests = testsOf(table, wish, picks);
  let length = 0;
  for (let row = 0; row < table.rows; row += 1) if (tests.every((test) => test(row))) matches[length++] = row;
  const rows = matches.slice(0, length);
  const sign = wish.down ? -1 : 1;
  if (wish.sort === 'row') return wish.down ? rows.reverse() : rows;
  const values = valuesOf(table, wish.sort, picks);
  const valueOf = (row: number): number | string => values[row] ?? '';
  const isNone = (row: number) => Number(valueOf(row) === '' || Number.isNaN(values[row]));
  const order = (a: number, b: number) =>
    valueOf(a) < valueOf(b) ? -sign : valueOf(a) > valueOf(b) ? sign : 0;
  // Rows without a value come last in both directions; equal ones keep the order of the sheet.
  return rows.sort((a, b) => isNone(a) - isNone(b) || order(a, b) || a - b);
}

function testsOf(table: Table, wish: Wish, picks: Picks): RowTest[] {
  const { outcome, column, value, gpu, same, picked, text, deep } = wish;
  const { of, cells } = table;
  const good = table.outcomeNumber('succeeded');
  const number = table.gpus.indexOf(gpu);
  const wanted = text.toLowerCase();
  const columns = [table.key, table.reason, ...cells];
  const tests: [isWished: boolean, test: RowTest][] = [
    [outcome === 'others', (row) => of.outcome[row] !== good && of.outcome[row] !== OPEN],
    [!['', 'others'].includes(outcome), (row) => table.outcomeName(row) === outcome],
    [gpu !== '', (row) => of.gpu[row] === number],
    [column >= 0, (row) => (cells[column]?.[row] ?? '') === value],
    [same > 0, (row) => of.same[row] === same],
    [picked !== '', (row) => picks.isPicked(table.key[row] ?? '', picked)],
    [
      text !== '',
      (row) => columns.some((texts) => (texts[row] ?? '').toLowerCase().includes(wanted)) || !!deep?.has(row),
    ],
  ];
  return tests.flatMap(([isWished, test]) => (isWished ? [test] : []));
}

/** Numbers that are 0 if a row has none. */
const MAY_MISS = new Set(['seconds', 'ended', 'queue', 'stars']);

/** The values that rows are sorted by; NaN or the empty text if a row has none. */
function valuesOf({ of, key, cells, rows }: Table, sort: string, picks: Picks): ArrayLike<number | string> {
  const numbers: Record<string, ArrayLike<number>> = {
    ...of,
    outcome: of.outcome.map((outcome) => (outcome === 0 ? 120 : outcome)),
    stars: key.map((name) => picks.weight(name)),
  };
  const none = MAY_MISS.has(sort) ? 0 : -1;
  if (numbers[sort])
    return Float64Array.from(numbers[sort], (value) => (value === none ? Number.NaN : value));
  const column = sort === 'key' ? key : (cells[Number(sort.slice(1))] ?? []);
  const texts = Array.from({ length: rows }, (_, row) => (column[row] ?? '').toLowerCase());
  const values = Float64Array.from(texts, numberIn);
  return texts.every((text, row) => text === '' || !Number.isNaN(values[row])) ? values : texts;
}

const numberIn = (cell: string): number => (cell.trim() === '' ? Number.NaN : Number(cell));

/** `values`: how many rows have each value. */
export type FewValues = { column: number; name: string; values: Map<string, number> };

/** The columns of at most `most` values, some of them repeated, and those of `own` names; the values in order. */
export const fewValues = (table: Table, most: number, own: readonly string[] = []): FewValues[] =>
  table.cells.flatMap((cells, column) => {
    const name = table.facts.columns[column] ?? '';
    const values = new Map<string, number>();
    for (let row = 0; row < table.rows && values.size <= most; row += 1) {
      const cell = cells[row];
      if (cell !== undefined) values.set(cell, (values.get(cell) ?? 0) + 1);
    }
    if (values.size < 2 || values.size > most) return [];
    if (values.size > table.rows / 2 && !own.includes(name)) return [];
    const isNumeric = [...values.keys()].every((value) => !Number.isNaN(numberIn(value)));
    const sorted = isNumeric ? [...values].sort(([a], [b]) => Number(a) - Number(b)) : [...values];
    return [{ column, name, values: new Map(sorted) }];
  });

/** A value as people read it. */
export const valueText = (value: string): string => (value === '' ? '(empty)' : value);

/** Rows that failed for the same reason. */
export type FailureGroup = { reason: string; outcome: string; rows: number[]; gpus: Set<string> };

/** Most rows first. */
export function failureGroups(table: Table): FailureGroup[] {
  const good = new Set(['succeeded', 'open']);
  const unsuccessful = [...table.of.outcome.keys()].filter((row) => !good.has(table.outcomeName(row)));
  const reasonOf = (row: number) => table.reason[row] || table.outcomeName(row);
  const groups = Map.groupBy(
    unsuccessful,
    (row) => `${table.outcomeName(row)} ${reasonOf(row).replaceAll(/[0-9a-f]{8,}|\d+/gi, '#')}`,
  );
  return [...groups.values()]
    .map((rows) => ({
      reason: reasonOf(rows[0] ?? 0),
      outcome: table.outcomeName(rows[0] ?? 0),
      rows,
      gpus: new Set(rows.map((row) => table.gpuName(row)).filter(Boolean)),
    }))
    .sort((a, b) => b.rows.length - a.rows.length);
}

/** Groups of identical pictures of rows with different inputs, and how many rows each has, most first. */
export const sameGroups = ({ of: { same } }: Table): [group: number, rows: number][] =>
  [...Map.groupBy(same.filter(Boolean), (group) => group)]
    .map(([group, rows]): [number, number] => [group, rows.length])
    .sort(([, a], [, b]) => b - a);
