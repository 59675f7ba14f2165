// What the page knows of all rows, as columns. Rows are counted from 0 here and from 1 everywhere that people read.

import { factsText } from './text.js';

/** @import { Columns } from './data.js' */
/** @import { ReportFacts } from '../report.ts' */

/**
 * Times in milliseconds since 1970 (0: not known), durations in seconds (-1: not known); `nth`: of its row, from 1.
 * @typedef {{ row: number, nth: number, created: number, ended: number, queue: number, cold: number, run: number, cost: number, gpu: number, outcome: number, kind: number }} Attempt
 */
/** What is not known of an attempt. */
const NONE = { created: 0, ended: 0, queue: -1, cold: -1, run: -1, cost: 0, gpu: 0, outcome: 255, kind: 0 };

/** The outcome of a row that has none. */
export const OPEN = 127;

/** The numbers of a row. */
const COLUMNS = /** @type {const} */ ({
  outcome: Uint8Array,
  files: Uint8Array,
  bytes: Uint32Array,
  inputs: Uint32Array,
  same: Uint32Array,
  gpu: Uint8Array,
  tries: Uint8Array,
  cost: Float64Array,
  seconds: Float32Array,
  queue: Float32Array,
  ended: Float64Array,
});
/** @typedef {{ -readonly [N in keyof typeof COLUMNS]: InstanceType<(typeof COLUMNS)[N]> }} Numbers */

export class Table {
  rows = 0;
  /** In the order in which the page learned of them. */
  attempts = /** @type {Attempt[]} */ ([]);
  key = /** @type {string[]} */ ([]);
  file = /** @type {string[]} */ ([]);
  /** The beginning of the checksum of that file. */
  sha = /** @type {string[]} */ ([]);
  reason = /** @type {string[]} */ ([]);
  /** Whether the row has a small copy of its picture. */
  small = new Uint8Array();
  of = /** @type {Numbers} */ ({});
  /** Grows with every change, so that what was computed from the rows is computed again. */
  version = 0;
  #caption = -1;

  /** @param {ReportFacts} facts */
  constructor(facts) {
    this.facts = facts;
    this.gpus = [...facts.gpus];
    this.cells = /** @type {(readonly string[])[]} */ (facts.columns.map(() => []));
    this.grow(facts.rows);
  }

  /** Rows may be added to a batch while it runs. @param {number} rows */
  grow(rows) {
    if (rows <= this.rows && this.rows > 0) return;
    for (const [name, Column] of Object.entries(COLUMNS)) {
      const column = new Column(rows).fill(name === 'outcome' ? OPEN : 0);
      column.set(this.of[/** @type {keyof Numbers} */ (name)] ?? []);
      Object.assign(this.of, { [name]: column });
    }
    this.rows = rows;
  }

  /** The columns of all rows, or of those with these numbers; rows that were sent again come once more. @type {(columns: Columns, of: { startedAt: number, gpus: readonly string[] }, rows?: readonly number[]) => void} */
  load(columns, { startedAt, gpus }, rows) {
    const column = (name) => /** @type {any} */ (columns[name] ?? []);
    const { tickMs, leadMs, costUnit } = this.facts;
    const length = rows?.length ?? this.rows;
    const rowOf = (nth) => (rows ? (rows[nth] ?? 0) - 1 : nth);
    const put = (known, name) => {
      if (rows === undefined) return column(name);
      for (const [nth, value] of column(name).entries()) known[rowOf(nth)] = value;
      return known;
    };
    this.version += 1;
    if (rows) {
      const again = new Set(rows.map((row) => row - 1).filter((row) => this.of.outcome[row] !== OPEN));
      if (again.size > 0) this.attempts = this.attempts.filter(({ row }) => !again.has(row));
    }
    for (const name of /** @type {const} */ (['key', 'file', 'sha', 'reason']))
      this[name] = put(this[name], name);
    this.cells = this.cells.map((cells, at) => put(cells, `c${at}`));
    for (const name of /** @type {const} */ (['outcome', 'files', 'bytes', 'inputs']))
      if (rows) put(this.of[name], name);
      else this.of[name].set(column(name));
    const tries = column('attempts');
    const [created, ended, queue, cold, run, cost, gpu, outcome, kind] = Object.keys(NONE).map((name) =>
      column(`a.${name}`),
    );
    const gpuNumbers = gpus.map((name) => this.#gpuNumber(name));
    let time = 0;
    let at = 0;
    for (let nth = 0; nth < length; nth += 1) {
      const row = rowOf(nth);
      this.of.tries[row] = 0;
      this.of.cost[row] = 0;
      for (let left = tries[nth] ?? 0; left > 0; left -= 1, at += 1) {
        const took = ended[at];
        time = (time + created[at]) >>> 0;
        const from = time === 0 ? 0 : startedAt - leadMs + time * tickMs;
        this.#attempt({
          row,
          created: from,
          ended: took === 0 ? 0 : from + (took - 1) * tickMs,
          queue: secondsOf(queue[at]),
          cold: secondsOf(cold[at]),
          run: secondsOf(run[at]),
          cost: cost[at] * costUnit,
          gpu: gpuNumbers[gpu[at]],
          outcome: outcome[at],
          kind: kind[at],
        });
      }
    }
  }

  /** Numbers the groups of rows whose pictures are the same and whose inputs differ. */
  markSame() {
    const { same, inputs } = this.of;
    same.fill(0);
    for (const [first = 0, ...rows] of Map.groupBy(this.sha.keys(), (row) => this.sha[row] || row).values())
      if (rows.some((row) => inputs[row] !== inputs[first]))
        for (const row of [first, ...rows]) same[row] = first + 1;
  }

  /** @param {number} row */
  outcomeName(row) {
    return this.facts.outcomes[this.of.outcome[row] ?? OPEN] ?? 'open';
  }

  /** What people call a row: its key, unless that is a hash. A row that is not done yet has no key here. @param {number} row */
  title(row) {
    const key = this.key[row] ?? '';
    return key === '' || /^[0-9a-f]{16}$/.test(key) ? `Row ${row + 1}` : key;
  }

  /** How many rows have each outcome; `open`: not done yet. */
  counts() {
    const counts = new Map([...this.facts.outcomes, 'open'].map((name) => [name, 0]));
    for (let row = 0; row < this.rows; row += 1) {
      const name = this.outcomeName(row);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return counts;
  }

  /** What a row took, in a line. @param {number} row */
  factsText(row) {
    const { seconds, cost, tries } = this.of;
    return factsText({
      outcome: this.outcomeName(row),
      gpu: this.gpuName(row),
      seconds: seconds[row] ?? 0,
      cost: cost[row] ?? 0,
      attempts: tries[row] ?? 0,
    });
  }

  /** @param {number} row */
  gpuName(row) {
    return this.gpus[this.of.gpu[row] ?? 0] ?? '';
  }

  /** The picture's caption. @param {number} row */
  caption(row) {
    return this.cells[this.captionColumn]?.[row] ?? '';
  }

  /** The column with the longest text in the first rows says most; -1: none has any. */
  get captionColumn() {
    if (this.#caption >= 0) return this.#caption;
    const lengths = this.cells.map((column) => column.slice(0, 200).join('').length);
    const most = Math.max(0, ...lengths);
    return (this.#caption = most === 0 ? -1 : lengths.indexOf(most));
  }

  /** @param {string} name */
  outcomeNumber(name) {
    const at = this.facts.outcomes.findIndex((one) => one === name);
    return at < 0 ? 255 : at;
  }

  /** @param {{ [N in keyof Attempt]?: Attempt[N] | undefined } & { row: number }} given */
  #attempt(given) {
    const { of } = this;
    const nth = (of.tries[given.row] ?? 0) + 1;
    const attempt = /** @type {Attempt} */ ({ ...NONE, ...given, nth });
    this.attempts.push(attempt);
    const { row, cost, outcome, gpu, run, queue, ended } = attempt;
    of.tries[row] = nth;
    of.cost[row] = (of.cost[row] ?? 0) + cost;
    // A row keeps its result if a later attempt did not succeed.
    const succeeded = this.outcomeNumber('succeeded');
    if (of.outcome[row] === succeeded && outcome !== succeeded) return;
    of.gpu[row] = gpu;
    of.seconds[row] = Math.max(0, run);
    of.queue[row] = queue;
    of.ended[row] = ended;
  }

  /** @param {string} name */
  #gpuNumber(name) {
    const known = this.gpus.indexOf(name);
    return known >= 0 ? known : this.gpus.push(name) - 1;
  }
}

/** @param {number | undefined} milliseconds one more than they are; 0: not known */
const secondsOf = (milliseconds = 0) => (milliseconds === 0 ? -1 : (milliseconds - 1) / 1_000);
