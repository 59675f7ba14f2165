// Reads the rows of a batch from its parts, in the order in which they ended. Workers write several parts concurrently, so a part
// may be missing while a later one exists. Reading stops at the gap until it is filled, so a cursor, the place of a row in its part,
// stands for everything before it, even in another process.
//
//   pass 0        rows reused from earlier batches; complete as soon as the workflow has written a part
//   pass 1        rows of the workflow, including retries
//   pass 2, …     rows after a rebuild, from part 1 on

import { isRawNumber } from '../../host/formats/exact-json.ts';
import { problem } from '../../errors/error.ts';
import { recordOf, reasonWithRows } from '../../results/batch-rows.ts';
import type { PartNumber } from '../../results/parts-seal.ts';
import { parsePart, partIn, partName, partNames } from '../../results/parts.ts';
import type { PartRecord, RowRecord } from '../../results/row-record.ts';
import type { SheetRow } from '../../sheet/pages.ts';
import { cacheRows, type PlacedRows, folderIn, readBatchSheet } from '../../sheet/placed-rows.ts';
import { layoutOf } from '../../store/batch-file.ts';
import { readStarted } from '../../store/started.ts';
import type { FoundBatch } from './found-batch.ts';
import { attemptsIn, partsWithAttempts, readEvents, type AttemptEvent } from '../../results/all-events.ts';
import type { BatchEvent } from '../../batch/events.ts';
import { readSummary } from '../../results/summary.ts';

/** A position after a row, from which reading continues. */
export type Cursor = string;

/** A row with an outcome. Fields are named as in results.jsonl; integers beyond 2^53 are bigints. */
export type RowResult = RowRecord & {
  /** Pass it to `rows({ after })` to continue after this row. */
  readonly cursor: Cursor;
};

type RowPlace = PartNumber & { readonly line: number };

const BEGIN: RowPlace = { pass: 0, part: 0, line: 0 };

/** Cached pages: rows that end one after another are often on different pages. */
const PAGES = 4_000;

export class EndedRows {
  readonly #batchFolder: FoundBatch;
  readonly #pages: PlacedRows = cacheRows(PAGES);
  #next: RowPlace;

  /** Throws E602 for a text that is not a cursor. */
  constructor(batchFolder: FoundBatch, after: Cursor | undefined) {
    this.#batchFolder = batchFolder;
    this.#next = after === undefined ? BEGIN : placeAfter(after);
  }

  /** The rows that have ended since the last call. `hasEnded`: no further part will be written. */
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

  async *#rowsIn(records: readonly PartRecord[]): AsyncGenerator<RowResult> {
    const { pass, part, line } = this.#next;
    for (const [at, record] of (await this.#whole(records.slice(line))).entries()) {
      const next = line + at + 1;
      // Advance before yielding, because the reader may stop after this row.
      this.#next = { pass, part, line: next };
      yield { ...withBigints(record), cursor: `${pass}-${part}:${next}` };
    }
  }

  /** The rows of one part, independent of the cursor; undefined until the part is written. */
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

  /** Reads the rows with these numbers, from the sheet and from appended rows. */
  async #rowsOf(numbers: readonly number[]): Promise<ReadonlyMap<number, SheetRow>> {
    const { store, file } = this.#batchFolder;
    const layout = layoutOf(store, file);
    const rows = new Map<number, SheetRow>();
    for (const { folder, first, rows: count } of (await readBatchSheet(store, file)).ranges) {
      const here = numbers.filter((row) => row >= first && row < first + count);
      if (here.length === 0) continue;
      // Rows in sheet order need no queue.
      const sheet = { rows: first + count - 1, isQueued: false };
      for (const [row, sheetRow] of await this.#pages(folderIn(layout, folder), sheet, here))
        rows.set(row, sheetRow);
    }
    return rows;
  }
}

/** The first existing part from `here` on; undefined if a part that may still be written comes first. */
function nextPart(names: readonly string[], here: PartNumber, hasEnded: boolean): PartNumber | undefined {
  const later = names.map(partIn).filter((part) => isAtLeast(part, here));
  const [next] = later;
  if (next === undefined || hasEnded) return next;
  // A pass starts with part 1, and by then all earlier passes are complete.
  const isNext = next.pass > here.pass ? next.part === 1 : here.pass === 0;
  return isNext || later.some(({ pass, part }) => pass > here.pass && part === 1) ? next : undefined;
}

const isAtLeast = (part: PartNumber, bound: PartNumber): boolean =>
  part.pass > bound.pass || (part.pass === bound.pass && part.part >= bound.part);

function placeAfter(cursor: Cursor): RowPlace {
  const [, pass, part, line] = /^(\d{1,9})-(\d{1,9}):(\d{1,9})$/.exec(cursor) ?? [];
  if (line === undefined)
    throw problem('E602', { what: `${JSON.stringify(cursor)} is not a cursor of rows()` });
  return { pass: Number(pass), part: Number(part), line: Number(line) };
}

/** A JSON integer beyond 2^53 becomes a bigint. */
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

/** Selects events. */
export type EventFilter = {
  /** Include each attempt of a row: its times, GPU, outcome and cost. */
  readonly rows?: boolean;
  /** Only events from this time on. */
  readonly since?: Date;
};

export class EventReader {
  readonly #batchFolder: FoundBatch;
  readonly #filter: EventFilter;
  readonly #shown = new Set<string>();
  readonly #parts = new Set<string>();
  /** Whether the batch's end has been read. */
  hasFinished = false;

  constructor(batchFolder: FoundBatch, filter: EventFilter) {
    this.#batchFolder = batchFolder;
    this.#filter = filter;
  }

  async *fresh(): AsyncGenerator<ShownEvent | AttemptEvent> {
    const events = await eventsOf(this.#batchFolder);
    for (const event of events.filter(({ at }) => this.#isWanted(at))) {
      const text = JSON.stringify(event);
      if (this.#shown.has(text)) continue;
      this.#shown.add(text);
      yield event;
    }
    if (this.#filter.rows) yield* this.#attempts();
    this.hasFinished = events.at(-1)?.event === 'finished';
  }

  async *#attempts(): AsyncGenerator<AttemptEvent> {
    const { store } = this.#batchFolder;
    for (const name of await partsWithAttempts(store)) {
      if (this.#parts.has(name)) continue;
      this.#parts.add(name);
      for (const attempt of await attemptsIn(store, name)) if (this.#isWanted(attempt.at)) yield attempt;
    }
  }

  /** Attempts without an end time always match. */
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
  const events: ShownEvent[] = [{ at: file.createdAt, event: 'created' }];
  if (started) events.push({ at: started.at, event: 'started' });
  for await (const { at, ...event } of readEvents(store))
    events.push({ at: new Date(at).toISOString(), ...(await reasonWithRows(store, file, event)) });
  events.sort((a, b) => a.at.localeCompare(b.at));
  if (summary) events.push({ at: summary.ended_at, event: 'finished' });
  return events;
}
