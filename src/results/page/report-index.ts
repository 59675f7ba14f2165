// The index of rows: what the page needs of each to draw, sort and filter its cards, as columns. An ended batch has one of all its
// rows, compressed: the page decodes 100,000 of them in some tenths of a second, and memory holds only compressed bytes while it is
// written. While a batch runs, each part has one of its own rows.
//
//   of each row        outcome, attempts, files, bytes, path and checksum of the first file, a hash of the inputs, key,
//                      reason, and the beginning of each cell of the sheet
//   of each attempt    created (since the one before), ended (since created), queue, cold and run seconds, cost, GPU, outcome, kind

import { hash } from 'node:crypto';
import { idleBefore, type Idle } from '../idle.ts';
import { OUTCOMES } from '../../batch/outcome.ts';
import { FAILURE_KINDS } from '../../options/facts/failure-kind.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import type { AttemptRecord, RowRecord } from '../row-record.ts';
import { Deflated } from './deflated.ts';
import { beginningOf } from './report-row.ts';

/** Columns of the sheet in the index, and the characters of a cell: fewer if the batch has very many rows. */
export const COLUMNS_SHOWN = 16;
const MAX_CELL = 240;
const MIN_CELL = 12;
const COLUMN_CHARACTERS = 8_000_000;
const REASON_SHOWN = 160;

/** The unit of times between attempts, in milliseconds: 32 bits are more than a year. */
export const TICK_MS = 10;
/** The unit of costs, in US dollars. */
export const COST_UNIT = 1e-7;
/** The first tick is a day before the batch, because the service has a clock of its own. */
export const LEAD_MS = 86_400_000;

const NUMBERS = {
  outcome: 1,
  attempts: 1,
  files: 1,
  bytes: 4,
  inputs: 4,
  'a.created': 4,
  'a.ended': 4,
  'a.queue': 4,
  'a.cold': 4,
  'a.run': 4,
  'a.cost': 4,
  'a.gpu': 1,
  'a.outcome': 1,
  'a.kind': 1,
} as const;
type NumberColumn = keyof typeof NUMBERS;

export type Blob = { readonly name: string; readonly bytesEach: number; readonly data: string };

interface IndexColumns {
  add(name: string, value: string | number): void;
}

export class DeflatedColumns implements IndexColumns {
  readonly #columns = new Map<string, Deflated>();

  add(name: string, value: string | number): void {
    const existing = this.#columns.get(name);
    const column = existing ?? new Deflated();
    if (existing === undefined) this.#columns.set(name, column);
    if (typeof value === 'string') column.text(existing === undefined ? value : `\n${value}`);
    else if (NUMBERS[name as NumberColumn] === 1) column.uint8(value);
    else column.uint32(value);
  }

  /** Nothing can be added afterwards. */
  async *blobs(): AsyncGenerator<Blob> {
    for (const [name, column] of this.#columns)
      yield { name, bytesEach: NUMBERS[name as NumberColumn] ?? 0, data: await column.base64() };
  }
}

/** The columns of one part, which has few rows. */
export class ListedColumns implements IndexColumns {
  readonly all: Record<string, (string | number)[]> = {};

  add(name: string, value: string | number): void {
    (this.all[name] ??= []).push(value);
  }
}

type IndexParams = {
  readonly rows: number;
  /** The cells of a row that the index has, by position. */
  readonly shown: readonly number[];
  readonly startedAt: number;
  /** The index subtracts these from all times. */
  readonly idle?: readonly Idle[];
};

export class ReportIndex {
  readonly #columns: IndexColumns;
  readonly #shown: readonly number[];
  readonly #gpus = new Map<string, number>();
  readonly #cellShown: number;
  readonly #base: number;
  readonly #idle: readonly Idle[];
  #created = 0;

  constructor(columns: IndexColumns, { rows, shown, startedAt, idle = [] }: IndexParams) {
    this.#columns = columns;
    this.#idle = idle;
    this.#shown = shown;
    this.#cellShown = Math.min(MAX_CELL, Math.max(MIN_CELL, Math.floor(COLUMN_CHARACTERS / rows)));
    this.#base = startedAt - LEAD_MS;
  }

  /** GPU names by the numbers of `a.gpu`; 0 is no GPU. */
  get gpus(): readonly string[] {
    return ['', ...this.#gpus.keys()];
  }

  add(record: RowRecord, cells: readonly string[]): void {
    const { outcome, attempts, files, key, reason = '' } = record;
    const [first] = files;
    this.#number('outcome', OUTCOMES.indexOf(outcome));
    this.#number('attempts', Math.min(attempts.length, 255));
    this.#number('files', Math.min(files.length, 255));
    this.#number('bytes', Math.min(first?.bytes ?? 0, 0xffffffff));
    this.#text('key', key);
    this.#text('file', first?.path ?? '');
    // Twelve characters and 16 bits are enough to compare pictures, and the inputs of equal pictures, whose cells may be cut or fill a template.
    this.#text('sha', first?.sha256.slice(0, 12) ?? '');
    this.#number('inputs', hash('sha256', JSON.stringify(record.inputs), 'buffer').readUInt16BE());
    this.#text('reason', beginningOf(reason, REASON_SHOWN));
    for (const at of this.#shown) this.#text(`c${at}`, beginningOf(cells[at] ?? '', this.#cellShown));
    for (const attempt of attempts.slice(-255)) this.#attempt(attempt);
  }

  #attempt(attempt: AttemptRecord): void {
    const { created_at, ended_at, queue_seconds, cold_start_seconds, run_seconds, cost_usd = 0 } = attempt;
    const created = this.#tick(created_at);
    const ended = this.#tick(ended_at);
    // An attempt without times keeps the time of the one before, so that differences stay small.
    const at = created === 0 ? this.#created : created;
    this.#number('a.created', at - this.#created);
    this.#created = at;
    this.#number('a.ended', created === 0 || ended === 0 ? 0 : Math.max(0, ended - at) + 1);
    this.#number('a.queue', milliseconds(queue_seconds));
    this.#number('a.cold', milliseconds(cold_start_seconds));
    this.#number('a.run', milliseconds(run_seconds));
    this.#number('a.cost', Math.min(Math.round(cost_usd / COST_UNIT), 0xffffffff));
    this.#number('a.gpu', this.#gpu(attempt.gpu_used));
    this.#number('a.outcome', attempt.outcome === 'absent' ? 255 : OUTCOMES.indexOf(attempt.outcome));
    const kind = attempt.failure === undefined ? 0 : FAILURE_KINDS.indexOf(attempt.failure) + 1;
    this.#number('a.kind', kind + (attempt.climbed ? 128 : 0));
  }

  #tick(time: string | undefined): number {
    if (time === undefined) return 0;
    const at = Date.parse(time);
    const tick = Math.round((at - idleBefore(this.#idle, at) - this.#base) / TICK_MS);
    return tick > 0 && tick < 0xffffffff ? tick : 0;
  }

  #gpu(name: string | undefined): number {
    if (name === undefined) return 0;
    const shown = terminalLine(name);
    const number = this.#gpus.get(shown) ?? this.#gpus.size + 1;
    if (number > 255) return 0;
    this.#gpus.set(shown, number);
    return number;
  }

  #number(name: NumberColumn, value: number): void {
    this.#columns.add(name, value);
  }

  /** The user's own cells keep their characters, except those that end a line. */
  #text(name: string, text: string): void {
    const line = name === 'reason' ? terminalLine(text) : text.replaceAll(/[\n\r]+/g, ' ').toWellFormed();
    this.#columns.add(name, line);
  }
}

/** 0: not known. A service with a wrong clock may report negative times. */
const milliseconds = (seconds: number | undefined): number =>
  seconds === undefined ? 0 : Math.min(Math.max(0, Math.round(seconds * 1_000)), 0xfffffffe) + 1;
