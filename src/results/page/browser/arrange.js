// Which rows are shown, and in which order.

import { OPEN } from './all-rows.js';

/** @import { Table } from './all-rows.js' */
/** @import { Picks } from './picks.js' */

/** `deep`: rows whose full cells contain the text. @typedef {typeof EVERYTHING & { deep?: ReadonlySet<number> | undefined }} Wish */
/** @typedef {(row: number) => boolean} Test */

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

/** Rows from 0, in the order shown. @type {(table: Table, wish: Wish, picks: Picks) => Uint32Array} */
export function arrange(table, wish, picks) {
  const found = new Uint32Array(table.rows);
  const tests = testsOf(table, wish, picks);
  let length = 0;
  for (let row = 0; row < table.rows; row += 1) if (tests.every((test) => test(row))) found[length++] = row;
  const rows = found.slice(0, length);
  const sign = wish.down ? -1 : 1;
  if (wish.sort === 'row') return wish.down ? rows.reverse() : rows;
  const values = valuesOf(table, wish.sort, picks);
  const isNone = (row) => Number(values[row] === '' || Number.isNaN(values[row]));
  const order = (a, b) => (values[a] < values[b] ? -sign : values[a] > values[b] ? sign : 0);
  // Rows without a value come last in both directions; equal ones keep the order of the sheet.
  return rows.sort((a, b) => isNone(a) - isNone(b) || order(a, b) || a - b);
}

/** @type {(table: Table, wish: Wish, picks: Picks) => Test[]} */
function testsOf(table, { outcome, column, value, gpu, same, picked, text, deep }, picks) {
  const { of, cells } = table;
  const good = table.outcomeNumber('succeeded');
  const number = table.gpus.indexOf(gpu);
  const wanted = text.toLowerCase();
  const columns = [table.key, table.reason, ...cells];
  /** @type {[isWished: boolean, test: Test][]} */
  const tests = [
    [outcome === 'others', (row) => of.outcome[row] !== good && of.outcome[row] !== OPEN],
    [!['', 'others'].includes(outcome), (row) => table.outcomeName(row) === outcome],
    [gpu !== '', (row) => of.gpu[row] === number],
    [column >= 0, (row) => (cells[column]?.[row] ?? '') === value],
    [same > 0, (row) => of.same[row] === same],
    [picked !== '', (row) => picks.isPicked(table.key[row] ?? '', picked)],
    [
      text !== '',
      (row) => columns.some((one) => (one[row] ?? '').toLowerCase().includes(wanted)) || !!deep?.has(row),
    ],
  ];
  return tests.flatMap(([isWished, test]) => (isWished ? [test] : []));
}

/** Numbers that are 0 if a row has none. */
const MAY_MISS = new Set(['seconds', 'ended', 'queue', 'stars']);

/** What rows are sorted by; NaN and the empty text: the row has none. @type {(table: Table, sort: string, picks: Picks) => ArrayLike<any>} */
function valuesOf({ of, key, cells, rows }, sort, picks) {
  /** @type {Record<string, ArrayLike<number>>} */
  const numbers = {
    ...of,
    outcome: of.outcome.map((one) => (one === 0 ? 120 : one)),
    stars: key.map((one) => picks.weight(one)),
  };
  const none = MAY_MISS.has(sort) ? 0 : -1;
  if (numbers[sort]) return Float64Array.from(numbers[sort], (one) => (one === none ? Number.NaN : one));
  const column = sort === 'key' ? key : (cells[Number(sort.slice(1))] ?? []);
  const texts = Array.from({ length: rows }, (_, row) => (column[row] ?? '').toLowerCase());
  const values = Float64Array.from(texts, numberIn);
  return texts.every((text, row) => text === '' || !Number.isNaN(values[row])) ? values : texts;
}

/** @param {string} cell */
const numberIn = (cell) => (cell.trim() === '' ? Number.NaN : Number(cell));

/** @typedef {{ column: number, name: string, values: Map<string, number> }} FewValues how many rows have each value */

/** The columns of at most `most` values, of which some repeat, and those of `own` names; the values in order. @type {(table: Table, most: number, own?: readonly string[]) => FewValues[]} */
export const fewValues = (table, most, own = []) =>
  table.cells.flatMap((cells, column) => {
    const name = table.facts.columns[column] ?? '';
    /** @type {Map<string, number>} */
    const values = new Map();
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

/** A value as people read it. @param {string} value */
export const valueText = (value) => (value === '' ? '(empty)' : value);

/** Rows that failed for the same reason, most first. @typedef {{ reason: string, outcome: string, rows: number[], gpus: Set<string> }} Group */

/** @type {(table: Table) => Group[]} */
export function failureGroups(table) {
  const isGood = new Set(['succeeded', 'open']);
  const rows = [...table.of.outcome.keys()].filter((row) => !isGood.has(table.outcomeName(row)));
  const reasonOf = (row) => table.reason[row] || table.outcomeName(row);
  const groups = Map.groupBy(
    rows,
    (row) => `${table.outcomeName(row)} ${reasonOf(row).replaceAll(/[0-9a-f]{8,}|\d+/gi, '#')}`,
  );
  return [...groups.values()]
    .map((all) => ({
      reason: reasonOf(all[0]),
      outcome: table.outcomeName(all[0] ?? 0),
      rows: all,
      gpus: new Set(all.map((row) => table.gpuName(row)).filter(Boolean)),
    }))
    .sort((a, b) => b.rows.length - a.rows.length);
}

/** Groups of identical pictures of rows with different inputs, and how many rows each has, most first. @param {Table} table */
export const sameGroups = ({ of: { same } }) =>
  [...Map.groupBy(same.filter(Boolean), (group) => group)]
    .map(([group, all]) => /** @type {[number, number]} */ ([group, all.length]))
    .sort(([, a], [, b]) => b - a);
