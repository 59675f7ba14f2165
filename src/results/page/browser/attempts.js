// All attempts of all rows, as columns, in the order in which the page learned of them.

/**
 * Times in milliseconds since 1970 (0: not known), durations in seconds (-1: not known).
 * @typedef {{ created: number, ended: number, queue: number, cold: number, run: number, cost: number, gpu: number, outcome: number, kind: number }} Attempt
 */

const FIELDS = /** @type {const} */ ([
  'created',
  'ended',
  'queue',
  'cold',
  'run',
  'cost',
  'gpu',
  'outcome',
  'kind',
]);

export class Attempts {
  length = 0;
  row = new Int32Array(1_024);
  #fields = Object.fromEntries(FIELDS.map((name) => [name, new Float64Array(1_024)]));

  /**
   * @param {number} row
   * @param {Attempt} attempt
   */
  add(row, attempt) {
    if (this.length === this.row.length) this.#grow();
    this.row[this.length] = row;
    for (const name of FIELDS) this.field(name)[this.length] = attempt[name];
    this.length += 1;
  }

  /** Attempts of a row that was sent again come once more, with the new ones.
   * @param {number} row
   */
  remove(row) {
    for (let at = 0; at < this.length; at += 1) if (this.row[at] === row) this.row[at] = -1;
  }

  /** @param {keyof Attempt} name */
  field(name) {
    return /** @type {Float64Array} */ (this.#fields[name]);
  }

  #grow() {
    const row = new Int32Array(this.row.length * 2);
    row.set(this.row);
    this.row = row;
    for (const name of FIELDS) {
      const field = new Float64Array(row.length);
      field.set(this.field(name));
      this.#fields[name] = field;
    }
  }
}
