// All attempts of all rows, as columns, in the order in which the page learned of them.

/**
 * Times in milliseconds since 1970 (0: not known), durations in seconds (-1: not known).
 * @typedef {{ row: number, created: number, ended: number, queue: number, cold: number, run: number, cost: number, gpu: number, outcome: number, kind: number }} Attempt
 */

/** @type {Attempt} */
const NONE = {
  row: 0,
  created: 0,
  ended: 0,
  queue: -1,
  cold: -1,
  run: -1,
  cost: 0,
  gpu: 0,
  outcome: 255,
  kind: 0,
};
const FIELDS = /** @type {(keyof Attempt)[]} */ (Object.keys(NONE));

export class Attempts {
  /** As the page carries them. */
  static SENT = FIELDS.slice(1);
  length = 0;
  #columns = FIELDS.map(() => new Float64Array(1_024));

  /** @param {{ [N in keyof Attempt]?: Attempt[N] | undefined }} attempt */
  add(attempt) {
    for (let nth = 0; nth < FIELDS.length; nth += 1) {
      const name = /** @type {keyof Attempt} */ (FIELDS[nth]);
      let column = /** @type {Float64Array} */ (this.#columns[nth]);
      if (this.length === column.length) {
        const larger = new Float64Array(this.length * 2);
        larger.set(column);
        this.#columns[nth] = column = larger;
      }
      column[this.length] = attempt[name] ?? NONE[name];
    }
    this.length += 1;
  }

  /** Attempts of a row that was sent again come once more, with the new ones. @param {number} row */
  remove(row) {
    const [rows = []] = this.#columns;
    for (let at = 0; at < this.length; at += 1) if (rows[at] === row) rows[at] = -1;
  }

  *[Symbol.iterator]() {
    for (let at = 0; at < this.length; at += 1) {
      const attempt = { ...NONE };
      for (const [nth, name] of FIELDS.entries()) attempt[name] = this.#columns[nth]?.[at] ?? 0;
      // Of one that was removed, the row is -1.
      if (attempt.row !== -1) yield attempt;
    }
  }

  /** Those whose begin and end are known. */
  *timed() {
    for (const one of this) if (one.created > 0 && one.ended > 0) yield one;
  }
}
