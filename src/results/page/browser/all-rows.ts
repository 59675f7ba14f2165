// The rows of the batch as columns. Rows are counted from 0 here and from 1 everywhere that people read.

import type { ReportFacts } from '../report.ts';
import type { Columns } from './data.ts';
import { factsText } from './text.ts';

/** Times in milliseconds since 1970 (0: not known), durations in seconds (-1: not known); `nth`: of its row, from 1. */
export type Attempt = {
  row: number;
  nth: number;
  created: number;
  ended: number;
  queue: number;
  cold: number;
  run: number;
  cost: number;
  gpu: number;
  outcome: number;
  kind: number;
};
const ATTEMPT_COLUMNS = [
  'created',
  'ended',
  'queue',
  'cold',
  'run',
  'cost',
  'gpu',
  'outcome',
  'kind',
] as const;
/** The outcome of an attempt that is not known. */
const UNKNOWN = 255;

/** The outcome of a row that has none. */
export const OPEN = 127;

/** The numbers of a row. */
const COLUMNS = {
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
} as const;
type ColumnName = keyof typeof COLUMNS;
type ColumnNumbers = { -readonly [Name in ColumnName]: InstanceType<(typeof COLUMNS)[Name]> };

type LoadedFrom = { startedAt: number; gpus: readonly string[] };

export class Table {
  rows = 0;
  /** In the order in which the page learned of them. */
  attempts: Attempt[] = [];
  key: string[] = [];
  file: string[] = [];
  /** The beginning of the checksum of that file. */
  sha: string[] = [];
  reason: string[] = [];
  /** Whether the row has a small copy of its picture. */
  small: Uint8Array = new Uint8Array();
  of = {} as ColumnNumbers;
  /** Grows with every change, so that what was computed from the rows is computed again. */
  version = 0;
  facts: ReportFacts;
  gpus: string[];
  cells: string[][];
  #caption = -1;

  constructor(facts: ReportFacts) {
    this.facts = facts;
    this.gpus = [...facts.gpus];
    this.cells = facts.columns.map(() => []);
    this.grow(facts.rows);
  }

  /** Rows may be added to a batch while it runs. */
  grow(rows: number): void {
    if (rows <= this.rows && this.rows > 0) return;
    for (const [name, Column] of Object.entries(COLUMNS)) {
      const column = new Column(rows).fill(name === 'outcome' ? OPEN : 0);
      column.set(this.of[name as ColumnName] ?? []);
      Object.assign(this.of, { [name]: column });
    }
    this.rows = rows;
  }

  /** The columns of all rows, or of those with these numbers; rows that were sent again come once more. */
  load(columns: Columns, { startedAt, gpus }: LoadedFrom, rows?: readonly number[]): void {
    const numbers = (name: string) => (columns[name] ?? []) as ArrayLike<number>;
    const texts = (name: string) => (columns[name] ?? []) as string[];
    const { tickMs, leadMs, costUnit } = this.facts;
    const length = rows?.length ?? this.rows;
    const rowOf = (nth: number) => (rows ? (rows[nth] ?? 0) - 1 : nth);
    const put = (cells: string[], name: string): string[] => {
      if (rows === undefined) return texts(name);
      for (const [nth, text] of texts(name).entries()) cells[rowOf(nth)] = text;
      return cells;
    };
    this.version += 1;
    if (rows) {
      const again = new Set(rows.map((row) => row - 1).filter((row) => this.of.outcome[row] !== OPEN));
      if (again.size > 0) this.attempts = this.attempts.filter(({ row }) => !again.has(row));
    }
    for (const name of ['key', 'file', 'sha', 'reason'] as const) this[name] = put(this[name], name);
    this.cells = this.cells.map((cells, at) => put(cells, `c${at}`));
    for (const name of ['outcome', 'files', 'bytes', 'inputs'] as const)
      if (rows === undefined) this.of[name].set(numbers(name));
      else for (const [nth, value] of Array.from(numbers(name)).entries()) this.of[name][rowOf(nth)] = value;
    const tries = numbers('attempts');
    const attemptColumns = Object.fromEntries(
      ATTEMPT_COLUMNS.map((name) => [name, numbers(`a.${name}`)]),
    ) as Record<(typeof ATTEMPT_COLUMNS)[number], ArrayLike<number>>;
    const { created, ended, queue, cold, run, cost, gpu, outcome, kind } = attemptColumns;
    const gpuNumbers = gpus.map((name) => this.#gpuNumber(name));
    let time = 0;
    let at = 0;
    for (let nth = 0; nth < length; nth += 1) {
      const row = rowOf(nth);
      this.of.tries[row] = 0;
      this.of.cost[row] = 0;
      for (let left = tries[nth] ?? 0; left > 0; left -= 1, at += 1) {
        const took = ended[at] ?? 0;
        time = (time + (created[at] ?? 0)) >>> 0;
        const from = time === 0 ? 0 : startedAt - leadMs + time * tickMs;
        this.#addAttempt({
          row,
          created: from,
          ended: took === 0 ? 0 : from + (took - 1) * tickMs,
          queue: secondsOf(queue[at]),
          cold: secondsOf(cold[at]),
          run: secondsOf(run[at]),
          cost: (cost[at] ?? 0) * costUnit,
          gpu: gpuNumbers[gpu[at] ?? 0] ?? 0,
          outcome: outcome[at] ?? UNKNOWN,
          kind: kind[at] ?? 0,
        });
      }
    }
  }

  /** Numbers the groups of rows whose pictures are the same and whose inputs differ. */
  markSame(): void {
    const { same, inputs } = this.of;
    same.fill(0);
    for (const [first = 0, ...rows] of Map.groupBy(this.sha.keys(), (row) => this.sha[row] || row).values())
      if (rows.some((row) => inputs[row] !== inputs[first]))
        for (const row of [first, ...rows]) same[row] = first + 1;
  }

  outcomeName(row: number): string {
    return this.facts.outcomes[this.of.outcome[row] ?? OPEN] ?? 'open';
  }

  /** The key of a row, unless that is a hash. A row that is not done yet has no key here. */
  title(row: number): string {
    const key = this.key[row] ?? '';
    return key === '' || /^[0-9a-f]{16}$/.test(key) ? `Row ${row + 1}` : key;
  }

  /** How many rows have each outcome; `open`: not done yet. */
  counts(): Map<string, number> {
    const counts = new Map<string, number>([...this.facts.outcomes, 'open'].map((name) => [name, 0]));
    for (let row = 0; row < this.rows; row += 1) {
      const name = this.outcomeName(row);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return counts;
  }

  /** The outcome, GPU, time and cost of a row in a line. */
  factsText(row: number): string {
    const { seconds, cost, tries } = this.of;
    return factsText({
      outcome: this.outcomeName(row),
      gpu: this.gpuName(row),
      seconds: seconds[row] ?? 0,
      cost: cost[row] ?? 0,
      attempts: tries[row] ?? 0,
    });
  }

  gpuName(row: number): string {
    return this.gpus[this.of.gpu[row] ?? 0] ?? '';
  }

  /** The picture's caption. */
  caption(row: number): string {
    return this.cells[this.captionColumn]?.[row] ?? '';
  }

  /** The column with the longest text in the first rows says most; -1: none has any. */
  get captionColumn(): number {
    if (this.#caption >= 0) return this.#caption;
    const lengths = this.cells.map((column) => column.slice(0, 200).join('').length);
    const most = Math.max(0, ...lengths);
    return (this.#caption = most === 0 ? -1 : lengths.indexOf(most));
  }

  outcomeNumber(name: string): number {
    const at = this.facts.outcomes.findIndex((outcome) => outcome === name);
    return at < 0 ? 255 : at;
  }

  #addAttempt(attempt: Omit<Attempt, 'nth'>): void {
    const { of } = this;
    const { row, cost, outcome, gpu, run, queue, ended } = attempt;
    const nth = (of.tries[row] ?? 0) + 1;
    this.attempts.push({ ...attempt, nth });
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

  #gpuNumber(name: string): number {
    const number = this.gpus.indexOf(name);
    return number >= 0 ? number : this.gpus.push(name) - 1;
  }
}

/** `milliseconds`: one more than they are; 0: not known. */
const secondsOf = (milliseconds = 0): number => (milliseconds === 0 ? -1 : (milliseconds - 1) / 1_000);
