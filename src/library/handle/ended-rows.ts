// Reads the rows of a batch in the order in which they ended, from its parts. Workers write several parts at the same time, so a
// part may be missing while a later one exists: reading stops there, until it exists too. So a cursor, the place of a row in its
// part, names everything before it, also in another process.
//
//   pass 0        the rows of earlier batches; it is complete as soon as a part of the workflow exists
//   pass 1        those of the workflow, also if rows are sent again
//   pass 2, …     those of a batch that was rebuilt, from part 1 on

import { isRawNumber } from '../../host/exact-json.ts';
import { problem } from '../../errors/error.ts';
import { recordOf } from '../../results/batch-rows.ts';
import type { Part } from '../../results/parts-seal.ts';
import { parsePart, partIn, partName, partNames } from '../../results/parts.ts';
import type { PartRecord, RowRecord } from '../../results/row-record.ts';
import type { SheetRow } from '../../sheet/pages.ts';
import { cacheRows, type PlacedRows, folderIn, readBatchSheet } from '../../sheet/placed-rows.ts';
import { layoutOf } from '../../store/batch-file.ts';
import { readStarted } from '../../store/started.ts';
import type { FoundBatch } from './found-batch.ts';
import { attemptsIn, partsWithAttempts, readEvents, type AttemptEvent } from '../../results/all-events.ts';
import type { BatchEvent } from '../../batch/events.ts';
import { reasonWithRows } from '../../results/batch-rows.ts';
import { readSummary } from '../../results/summary.ts';

/** Where reading continues: after this row. */
export type Cursor = string;

/** A row with an outcome. Fields are named as in results.jsonl; integers beyond 2^53 are bigints. */
export type RowResult = RowRecord & {
  /** Reading continues after this row with `rows({ after })`. */
  readonly cursor: Cursor;
};

type Place = Part & { readonly line: number };

const BEGIN: Place = { pass: 0, part: 0, line: 0 };

/** Pages in memory: rows that end one after another are often on different ones. */
const PAGES = 4_000;

export class EndedRows {
  readonly #batchFolder: FoundBatch;
  readonly #pages: PlacedRows = cacheRows(PAGES);
  #next: Place;

  /** Throws E602 for another text than a cursor. */
  constructor(batchFolder: FoundBatch, after: Cursor | undefined) {
    this.#batchFolder = batchFolder;
    this.#next = after === undefined ? BEGIN : placeAfter(after);
  }

  /** The rows that have ended since the last time. `hasEnded`: no further part will be written. */
  async *read(hasEnded: boolean): AsyncGenerator<RowResult> {
    for (;;) {
      const text = await this.#batchFolder.store.read(partName(this.#next.pass, this.#next.part));
      if (text === undefined) {
        const next = nextPart(await partNames(this.#batchFolder.store), this.#next, hasEnded);
        if (next === undefined) return;
        this.#next = { ...next, line: 0 };
        continue;
      }
      yield* this.#rowsIn(parsePart(text));
      const { pass, part } = this.#next;
      this.#next = { pass, part: part + 1, line: 0 };
    }
  }

  async *#rowsIn(all: readonly PartRecord[]): AsyncGenerator<RowResult> {
    const { pass, part, line } = this.#next;
    for (const [at, record] of (await this.#whole(all.slice(line))).entries()) {
      const next = line + at + 1;
      // Set before the row is given away, because the reader may stop after it.
      this.#next = { pass, part, line: next };
      yield { ...withBigints(record), cursor: `${pass}-${part}:${next}` };
    }
  }

  /** The rows of one part, wherever reading is; undefined as long as it is not written. */
  async part(pass: number, part: number): Promise<readonly RowRecord[] | undefined> {
    const text = await this.#batchFolder.store.read(partName(pass, part));
    return text === undefined ? undefined : this.#whole(parsePart(text));
  }

  async #whole(records: readonly PartRecord[]): Promise<readonly RowRecord[]> {
    const rows = await this.#rowsOf(records.map(({ row }) => row));
    return records.map((record) => {
      const row = rows.get(record.row);
      if (row === undefined) throw problem('E504', { what: `the page of row ${record.row} is missing` });
      return recordOf({ row, record }, this.#batchFolder.file);
    });
  }

  /** The rows with these numbers, of the sheet and of what was appended. */
  async #rowsOf(numbers: readonly number[]): Promise<ReadonlyMap<number, SheetRow>> {
    const { store, file } = this.#batchFolder;
    const layout = layoutOf(store, file);
    const rows = new Map<number, SheetRow>();
    for (const { folder, first, rows: count } of (await readBatchSheet(store, file)).ranges) {
      const here = numbers.filter((row) => row >= first && row < first + count);
      if (here.length === 0) continue;
      // Places that are row numbers need no queue.
      const sheet = { rows: first + count - 1, isQueued: false };
      for (const [row, found] of await this.#pages(folderIn(layout, folder), sheet, here))
        rows.set(row, found);
    }
    return rows;
  }
}

/** The first existing part from here on; undefined if one is missing that may still be written. */
function nextPart(names: readonly string[], here: Part, hasEnded: boolean): Part | undefined {
  const later = names.map(partIn).filter((one) => isAtLeast(one, here));
  const [next] = later;
  if (next === undefined || hasEnded) return next;
  // A higher pass begins with part 1, and then nothing is written before it.
  const isNext = next.pass > here.pass ? next.part === 1 : here.pass === 0;
  return isNext || later.some(({ pass, part }) => pass > here.pass && part === 1) ? next : undefined;
}

const isAtLeast = (one: Part, other: Part): boolean =>
  one.pass > other.pass || (one.pass === other.pass && one.part >= other.part);

function placeAfter(cursor: Cursor): Place {
  const [, pass, part, line] = /^(\d{1,9})-(\d{1,9}):(\d{1,9})$/.exec(cursor) ?? [];
  if (line === undefined)
    throw problem('E602', { what: `${JSON.stringify(cursor)} is not a cursor of rows()` });
  return { pass: Number(pass), part: Number(part), line: Number(line) };
}

/** A number of JSON that has more digits than a number keeps becomes a bigint. */
export const withBigints = (record: RowRecord): RowRecord => ({
  ...record,
  inputs: bigintsIn(record.inputs) as RowRecord['inputs'],
});

function bigintsIn(value: unknown): unknown {
  if (isRawNumber(value)) return BigInt(value.rawJSON);
  if (Array.isArray(value)) return value.map(bigintsIn);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, bigintsIn(inner)]));
}

/** What of it is wanted. */
export type EventFilter = {
  /** Also each attempt of a row: its times, GPU, outcome and cost. */
  readonly rows?: boolean;
  /** Only events from this time on. */
  readonly since?: Date;
};

export class EventReader {
  readonly #batchFolder: FoundBatch;
  readonly #filter: EventFilter;
  readonly #shown = new Set<string>();
  readonly #parts = new Set<string>();
  /** Whether the last of the events was the end of the batch. */
  hasFinished = false;

  constructor(batchFolder: FoundBatch, filter: EventFilter) {
    this.#batchFolder = batchFolder;
    this.#filter = filter;
  }

  async *fresh(): AsyncGenerator<ShownEvent | AttemptEvent> {
    const all = await eventsOf(this.#batchFolder);
    for (const event of all.filter(({ at }) => this.#isWanted(at))) {
      const text = JSON.stringify(event);
      if (this.#shown.has(text)) continue;
      this.#shown.add(text);
      yield event;
    }
    if (this.#filter.rows) yield* this.#attempts();
    this.hasFinished = all.at(-1)?.event === 'finished';
  }

  async *#attempts(): AsyncGenerator<AttemptEvent> {
    const { store } = this.#batchFolder;
    for (const name of await partsWithAttempts(store)) {
      if (this.#parts.has(name)) continue;
      this.#parts.add(name);
      for (const attempt of await attemptsIn(store, name)) if (this.#isWanted(attempt.at)) yield attempt;
    }
  }

  /** An attempt whose end the service did not name has no time. */
  #isWanted(at: string | undefined): boolean {
    const { since } = this.#filter;
    return since === undefined || (at !== undefined && Date.parse(at) >= since.getTime());
  }
}

/** `at`: in ISO 8601. */
export type ShownEvent = Omit<BatchEvent, 'at' | 'event' | 'places'> & {
  readonly at: string;
  readonly event: BatchEvent['event'] | 'created' | 'started' | 'finished';
};

/** Oldest first. */
export async function eventsOf({ file, store }: FoundBatch): Promise<readonly ShownEvent[]> {
  const [started, summary] = await Promise.all([readStarted(store), readSummary(store)]);
  const all: ShownEvent[] = [{ at: file.createdAt, event: 'created' }];
  if (started) all.push({ at: started.at, event: 'started' });
  for await (const { at, ...event } of readEvents(store))
    all.push({ at: new Date(at).toISOString(), ...(await reasonWithRows(store, file, event)) });
  all.sort((a, b) => a.at.localeCompare(b.at));
  if (summary) all.push({ at: summary.ended_at, event: 'finished' });
  return all;
}
