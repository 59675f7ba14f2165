// What the page knows of all rows, as columns. Rows are counted from 0 here and from 1 everywhere that people read.

import { Attempts } from './attempts.js';

/** @import { Attempt } from './attempts.js' */
/** @import { Columns } from './decode.js' */

/**
 * @typedef {object} Facts
 * @property {string} batch
 * @property {string} mark
 * @property {number} rows
 * @property {string} deployment
 * @property {boolean} rehearsal
 * @property {boolean} isServed
 * @property {{ name: string, sha256: string }} sheet
 * @property {string[]} columns
 * @property {string[]} gpus
 * @property {number} startedAt
 * @property {Summary} [summary]
 * @property {{ name: string, seen: 'good' | 'bad' | 'odd' }[]} outcomes
 * @property {string[]} failureKinds
 * @property {number} tickMs
 * @property {number} leadMs
 * @property {number} costUnit
 * @property {number} rowsEach
 */

/**
 * @typedef {object} Summary
 * @property {number} runs
 * @property {number} bought_twice
 * @property {{ rows: number, cost_usd: number }} [undelivered]
 * @property {number} [unpriced]
 * @property {number} seconds
 * @property {number} cost_usd
 * @property {number} total_cost_usd
 * @property {string} started_at
 * @property {string} ended_at
 * @property {number} reused
 * @property {number} [restarts]
 * @property {'complete' | 'incomplete' | 'none'} lists
 */

/**
 * A row as the local server gives it.
 * @typedef {object} LiveRow
 * @property {number} row
 * @property {string} key
 * @property {string} outcome
 * @property {string} [reason]
 * @property {string[]} cells
 * @property {number} files
 * @property {string} [file]
 * @property {number} [bytes]
 * @property {string} [sha]
 * @property {boolean} [reused]
 * @property {{ outcome: string, created?: number, ended?: number, queue?: number, cold?: number, run?: number, cost?: number, gpu?: string, kind?: string, climbed?: boolean }[]} attempts
 */

/** The outcome of a row that has none. */
export const OPEN = 127;

export class Table {
  /** @param {Facts} facts */
  constructor(facts) {
    const { rows } = facts;
    this.facts = facts;
    this.rows = rows;
    this.gpus = [...facts.gpus];
    this.key = /** @type {readonly string[]} */ ([]);
    this.file = /** @type {readonly string[]} */ ([]);
    this.reason = /** @type {readonly string[]} */ ([]);
    this.cells = /** @type {(readonly string[])[]} */ (facts.columns.map(() => []));
    this.outcome = new Uint8Array(rows).fill(OPEN);
    this.reused = new Uint8Array(rows);
    this.files = new Uint8Array(rows);
    this.bytes = new Uint32Array(rows);
    this.same = new Uint32Array(rows);
    /** Whether the row has a small copy of its picture. */
    this.small = /** @type {Uint8Array} */ (new Uint8Array());
    this.gpu = new Uint8Array(rows);
    this.tries = new Uint8Array(rows);
    this.cost = new Float64Array(rows);
    this.seconds = new Float32Array(rows);
    this.queue = new Float32Array(rows);
    this.ended = new Float64Array(rows);
    this.attempts = new Attempts();
  }

  /** The columns of an ended batch.
   * @param {Columns} columns
   */
  load(columns) {
    const numbers = (/** @type {string} */ name) =>
      /** @type {Uint32Array} */ (columns[name] ?? new Uint32Array());
    const texts = (/** @type {string} */ name) => /** @type {readonly string[]} */ (columns[name] ?? []);
    const { tickMs, leadMs, costUnit, startedAt } = this.facts;
    this.key = texts('key');
    this.file = texts('file');
    this.reason = texts('reason');
    this.cells = this.facts.columns.map((_, at) => texts(`c${at}`));
    this.outcome = Uint8Array.from(numbers('outcome'), (one) => one & 127);
    this.reused = Uint8Array.from(numbers('outcome'), (one) => one >> 7);
    this.files = new Uint8Array(numbers('files'));
    this.bytes = new Uint32Array(numbers('bytes'));
    this.same = new Uint32Array(numbers('same'));
    const tries = numbers('attempts');
    const [created, ended, queue, cold, run, cost] = ['created', 'ended', 'queue', 'cold', 'run', 'cost'].map(
      (name) => numbers(`a.${name}`),
    );
    const [gpu, outcome, kind] = ['gpu', 'outcome', 'kind'].map((name) => numbers(`a.${name}`));
    const base = startedAt - leadMs;
    let time = 0;
    let at = 0;
    for (let row = 0; row < this.rows; row += 1)
      for (let left = tries[row] ?? 0; left > 0; left -= 1, at += 1) {
        time = (time + (created?.[at] ?? 0)) >>> 0;
        const from = time === 0 ? 0 : base + time * tickMs;
        const took = ended?.[at] ?? 0;
        this.#attempt(row, {
          created: from,
          ended: took === 0 ? 0 : from + (took - 1) * tickMs,
          queue: secondsOf(queue?.[at]),
          cold: secondsOf(cold?.[at]),
          run: secondsOf(run?.[at]),
          cost: (cost?.[at] ?? 0) * costUnit,
          gpu: gpu?.[at] ?? 0,
          outcome: outcome?.[at] ?? 255,
          kind: kind?.[at] ?? 0,
        });
      }
  }

  /** Rows may be added to a batch while it runs.
   * @param {number} rows
   */
  grow(rows) {
    if (rows <= this.rows) return;
    const larger = (/** @type {any} */ column, fill = 0) => {
      const next = new column.constructor(rows).fill(fill);
      next.set(column);
      return next;
    };
    this.outcome = larger(this.outcome, OPEN);
    for (const name of /** @type {const} */ (['reused', 'files', 'gpu', 'tries']))
      this[name] = larger(this[name]);
    for (const name of /** @type {const} */ (['bytes', 'same'])) this[name] = larger(this[name]);
    for (const name of /** @type {const} */ (['cost', 'ended'])) this[name] = larger(this[name]);
    for (const name of /** @type {const} */ (['seconds', 'queue'])) this[name] = larger(this[name]);
    this.rows = rows;
  }

  /** Adds a row, or replaces it if it was sent again.
   * @param {LiveRow} given
   */
  put({ row, key, outcome, reason = '', cells, files, file = '', bytes = 0, reused = false, attempts }) {
    const at = row - 1;
    if (at >= this.rows) return;
    if (this.outcome[at] !== OPEN) this.attempts.remove(at);
    this.#write(this.key, at, key);
    this.#write(this.reason, at, reason);
    this.#write(this.file, at, file);
    for (const [column, cell] of cells.entries()) this.#write(this.cells[column] ?? [], at, cell);
    this.outcome[at] = this.outcomeNumber(outcome);
    this.reused[at] = Number(reused);
    this.files[at] = Math.min(files, 255);
    this.bytes[at] = bytes;
    this.tries[at] = 0;
    this.cost[at] = 0;
    for (const one of attempts)
      this.#attempt(at, {
        created: one.created ?? 0,
        ended: one.ended ?? 0,
        queue: one.queue ?? -1,
        cold: one.cold ?? -1,
        run: one.run ?? -1,
        cost: one.cost ?? 0,
        gpu: this.#gpuNumber(one.gpu),
        outcome: this.outcomeNumber(one.outcome),
        kind: this.facts.failureKinds.indexOf(one.kind ?? '') + 1 + (one.climbed ? 128 : 0),
      });
  }

  /** @param {number} row */
  outcomeName(row) {
    const outcome = this.outcome[row] ?? OPEN;
    return outcome === OPEN ? 'open' : (this.facts.outcomes[outcome]?.name ?? 'open');
  }

  /** What people call a row: its key, unless that is a hash. A row that is not done yet has no key here.
   * @param {number} row
   */
  title(row) {
    const key = this.key[row] ?? '';
    return key === '' || /^[0-9a-f]{16}$/.test(key) ? `Row ${row + 1}` : key;
  }

  /** @param {number} row */
  gpuName(row) {
    return this.gpus[this.gpu[row] ?? 0] ?? '';
  }

  /** The picture's caption: the longest cell says most.
   * @param {number} row
   */
  caption(row) {
    return this.captionColumn < 0 ? '' : (this.cells[this.captionColumn]?.[row] ?? '');
  }

  get captionColumn() {
    if (this.#caption === undefined || (this.#caption < 0 && this.key.length > 0))
      this.#caption = captionOf(this);
    return this.#caption;
  }

  /** @type {number | undefined} */
  #caption;

  /** @param {string} name */
  outcomeNumber(name) {
    const at = this.facts.outcomes.findIndex((one) => one.name === name);
    return at < 0 ? 255 : at;
  }

  /**
   * @param {number} row
   * @param {Attempt} attempt
   */
  #attempt(row, attempt) {
    this.attempts.add(row, attempt);
    this.tries[row] = (this.tries[row] ?? 0) + 1;
    this.cost[row] = (this.cost[row] ?? 0) + attempt.cost;
    // A row keeps its result if a later attempt did not succeed.
    const succeeded = this.outcomeNumber('succeeded');
    if (this.outcome[row] === succeeded && attempt.outcome !== succeeded) return;
    this.gpu[row] = attempt.gpu;
    this.seconds[row] = Math.max(0, attempt.run);
    this.queue[row] = attempt.queue;
    this.ended[row] = attempt.ended;
  }

  /** @param {string | undefined} name */
  #gpuNumber(name) {
    if (name === undefined) return 0;
    const known = this.gpus.indexOf(name);
    return known >= 0 ? known : this.gpus.push(name) - 1;
  }

  /**
   * @param {readonly string[]} texts
   * @param {number} at
   * @param {string} text
   */
  #write(texts, at, text) {
    /** @type {string[]} */ (texts)[at] = text;
  }
}

/** @param {number | undefined} milliseconds one more than they are; 0: not known */
const secondsOf = (milliseconds = 0) => (milliseconds === 0 ? -1 : (milliseconds - 1) / 1_000);

/**
 * The column with the longest text in the first rows.
 * @param {Table} table
 */
function captionOf({ cells }) {
  const lengths = cells.map((column) => column.slice(0, 200).reduce((sum, cell) => sum + cell.length, 0));
  const most = Math.max(0, ...lengths);
  return most === 0 ? -1 : lengths.indexOf(most);
}
