// Which rows are shown, and in which order.

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
 * @property {ReadonlySet<number>} [deep] rows whose full cells contain the text
 */

/** @returns {Wish} */
export const everything = () => ({
  text: '',
  outcome: '',
  gpu: '',
  column: -1,
  value: '',
  same: 0,
  picked: '',
  sort: 'row',
  down: false,
});

/**
 * @param {Table} table
 * @param {Wish} wish
 * @param {Picks} picks
 * @returns {Uint32Array} rows from 0, in the order shown
 */
export function arrange(table, wish, picks) {
  const found = new Uint32Array(table.rows);
  const tests = testsOf(table, wish, picks);
  let length = 0;
  for (let row = 0; row < table.rows; row += 1) if (tests.every((test) => test(row))) found[length++] = row;
  return sorted(table, found.slice(0, length), wish, picks);
}

/**
 * @param {Table} table
 * @param {Wish} wish
 * @param {Picks} picks
 * @returns {((row: number) => boolean)[]}
 */
function testsOf(table, wish, picks) {
  /** @type {((row: number) => boolean)[]} */
  const tests = [];
  const { outcome, column, value } = wish;
  const good = table.outcomeNumber('succeeded');
  if (outcome === 'others') tests.push((row) => table.outcome[row] !== good && table.outcome[row] !== 127);
  else if (outcome !== '') tests.push((row) => table.outcomeName(row) === outcome);
  const gpu = table.gpus.indexOf(wish.gpu);
  if (wish.gpu !== '') tests.push((row) => table.gpu[row] === gpu);
  if (column >= 0) tests.push((row) => (table.cells[column]?.[row] ?? '') === value);
  if (wish.same > 0) tests.push((row) => table.same[row] === wish.same);
  if (wish.picked !== '') tests.push((row) => picks.isPicked(table.key[row] ?? '', wish.picked));
  if (wish.text !== '') tests.push(textTest(table, wish));
  return tests;
}

/**
 * @param {Table} table
 * @param {Wish} wish
 */
function textTest({ key, reason, cells }, { text, deep }) {
  const wanted = text.toLowerCase();
  const columns = [key, reason, ...cells];
  return (/** @type {number} */ row) =>
    columns.some((column) => (column[row] ?? '').toLowerCase().includes(wanted)) || deep?.has(row) === true;
}

/**
 * @param {Table} table
 * @param {Uint32Array} rows
 * @param {Wish} wish
 * @param {Picks} picks
 */
function sorted(table, rows, { sort, down }, picks) {
  const sign = down ? -1 : 1;
  if (sort === 'row') return down ? rows.reverse() : rows;
  const order = orderOf(table, sort, picks);
  // Rows without a value come last in both directions; equal ones keep the order of the sheet.
  return rows.sort((a, b) => order(a, b, sign) || a - b);
}

/**
 * @param {Table} table
 * @param {string} sort
 * @param {Picks} picks
 * @returns {(a: number, b: number, sign: number) => number}
 */
function orderOf(table, sort, picks) {
  /** @type {Record<string, ArrayLike<number>>} */
  const numbers = {
    outcome: table.outcome.map((one) => (one === 0 ? 120 : one)),
    gpu: table.gpu,
    seconds: table.seconds,
    queue: table.queue,
    cost: table.cost,
    attempts: table.tries,
    ended: table.ended,
    bytes: table.bytes,
  };
  const known = numbers[sort];
  if (known !== undefined) return byNumber(known, new Set(['seconds', 'ended', 'queue']).has(sort) ? 0 : -1);
  if (sort === 'stars')
    return byNumber(
      Float64Array.from(table.key, (key) => picks.weight(key)),
      0,
    );
  const cells = sort === 'key' ? table.key : (table.cells[Number(sort.slice(1))] ?? []);
  const values = Float64Array.from({ length: table.rows }, (_, row) => numberIn(cells[row] ?? ''));
  if (cells.every((cell, row) => cell === '' || !Number.isNaN(values[row])))
    return byNumber(values, Number.NaN);
  const texts = Array.from({ length: table.rows }, (_, row) => (cells[row] ?? '').toLowerCase());
  return (a, b, sign) =>
    lastIfEmpty(texts[a] === '', texts[b] === '') ?? sign * byText(texts[a] ?? '', texts[b] ?? '');
}

/** @param {string} cell */
const numberIn = (cell) => (cell.trim() === '' ? Number.NaN : Number(cell));

/**
 * @param {string} a
 * @param {string} b
 */
const byText = (a, b) => (a < b ? -1 : Number(a > b));

/**
 * @param {ArrayLike<number>} values
 * @param {number} none the value of a row without one
 * @returns {(a: number, b: number, sign: number) => number}
 */
const byNumber = (values, none) => (a, b, sign) => {
  const [one, other] = [values[a] ?? none, values[b] ?? none];
  return lastIfEmpty(Object.is(one, none), Object.is(other, none)) ?? sign * (one - other);
};

/**
 * @param {boolean} isEmpty
 * @param {boolean} isOtherEmpty
 */
const lastIfEmpty = (isEmpty, isOtherEmpty) => {
  if (isEmpty || isOtherEmpty) return Number(isEmpty) - Number(isOtherEmpty);
  return undefined;
};
