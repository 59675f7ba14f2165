// Which rows are shown, and in which order.

import { OPEN } from './table.js';

/** @import { Table } from './table.js' */
/** @import { Picks } from './picks.js' */

/**
 * @typedef {object} Wish
 * @property {string} text
 * @property {string} outcome an outcome, `others` for all but succeeded, or nothing
 * @property {string} gpu
 * @property {number} column -1: none
 * @property {string} value
 * @property {number} same a group of the same picture; 0: all
 * @property {string} picked `picked`, `rejected`, `1` to `5` stars at least, or nothing
 * @property {string} sort
 * @property {boolean} down
 * @property {ReadonlySet<number> | undefined} [deep] rows whose full cells contain the text
 */
/** @typedef {(row: number) => boolean} Test */
/** @typedef {(a: number, b: number, sign: number) => number} Order */

/** @type {Wish} */
export const EVERYTHING = {
  text: '',
  outcome: '',
  gpu: '',
  column: -1,
  value: '',
  same: 0,
  picked: '',
  sort: 'row',
  down: false,
};

/** Rows from 0, in the order shown.
 * @type {(table: Table, wish: Wish, picks: Picks) => Uint32Array}
 */
export function arrange(table, wish, picks) {
  const found = new Uint32Array(table.rows);
  const tests = testsOf(table, wish, picks);
  let length = 0;
  for (let row = 0; row < table.rows; row += 1) if (tests.every((test) => test(row))) found[length++] = row;
  const rows = found.slice(0, length);
  const sign = wish.down ? -1 : 1;
  if (wish.sort === 'row') return wish.down ? rows.reverse() : rows;
  const order = orderOf(table, wish.sort, picks);
  // Rows without a value come last in both directions; equal ones keep the order of the sheet.
  return rows.sort((a, b) => order(a, b, sign) || a - b);
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

/** @type {(table: Table, sort: string, picks: Picks) => Order} */
function orderOf({ of, key, cells: columns, rows }, sort, picks) {
  /** @type {Record<string, ArrayLike<number>>} */
  const numbers = {
    ...of,
    outcome: of.outcome.map((one) => (one === 0 ? 120 : one)),
    stars: key.map((one) => picks.weight(one)),
  };
  const known = numbers[sort];
  if (known) return byNumber(known, MAY_MISS.has(sort) ? 0 : -1);
  const cells = sort === 'key' ? key : (columns[Number(sort.slice(1))] ?? []);
  const values = Float64Array.from({ length: rows }, (_, row) => numberIn(cells[row] ?? ''));
  if (cells.every((cell, row) => cell === '' || !Number.isNaN(values[row])))
    return byNumber(values, Number.NaN);
  const texts = Array.from({ length: rows }, (_, row) => (cells[row] ?? '').toLowerCase());
  return (a, b, sign) => {
    const [one = '', other = ''] = [texts[a], texts[b]];
    return lastIfEmpty(one === '', other === '') ?? sign * (one < other ? -1 : Number(one > other));
  };
}

/** @param {string} cell */
const numberIn = (cell) => (cell.trim() === '' ? Number.NaN : Number(cell));

/** `none`: the value of a row without one.
 * @type {(values: ArrayLike<number>, none: number) => Order}
 */
const byNumber = (values, none) => (a, b, sign) => {
  const [one = none, other = none] = [values[a], values[b]];
  return lastIfEmpty(Object.is(one, none), Object.is(other, none)) ?? sign * (one - other);
};

/** @type {(isEmpty: boolean, isOtherEmpty: boolean) => number | undefined} */
const lastIfEmpty = (isEmpty, isOtherEmpty) =>
  isEmpty || isOtherEmpty ? Number(isEmpty) - Number(isOtherEmpty) : undefined;

/** @typedef {{ column: number, name: string, values: Map<string, number> }} FewValues how many rows have each value */

/** The columns of at most `most` values, of which some repeat, and those of `own` names; the values in order.
 * @type {(table: Table, most: number, own?: readonly string[]) => FewValues[]}
 */
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
