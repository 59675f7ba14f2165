// Reads rows by their place in the sending order. The queue of a batch lists, for each lane, the rows in sending order, one per line.
// A place is a lane and a position in it, so a place's number determines its file. A batch with a single lane in sheet order has no
// queue: its places are row numbers.

import { type InputChange, changedInputs } from './input-change.ts';
import { parseExactly } from '../host/formats/exact-json.ts';
import { recentlyRead, type Parsed } from '../store/recently-read.ts';
import { type Store, within } from '../store/store.ts';
import { openPage, pageOf, type Page, type SheetRow, readPagesLines } from './pages.ts';
import { problem } from '../errors/error.ts';
import { laneOf, numberOf } from '../batch/state/lanes.ts';
import type { BatchFile } from '../store/batch-file.ts';
import { FIRST_PASS, newestPass, readPasses } from '../store/passes.ts';

/** A row as one of its places sends it. */
export type PlacedRow = SheetRow & Pick<Queued, 'before' | 'change' | 'fetch'>;

/** Rarely more than two full pages are in use at the same time. */
const PAGES_BYTES = 64 * 1024 * 1024;

/** Pages of 700,000 short rows fit in these bytes: a batch in random order needs another page for each row. */
const SCATTERED_PAGES = 4_000;

export type PlacedRows = (
  layout: Store,
  sheet: Layout,
  places: readonly number[],
) => Promise<ReadonlyMap<number, PlacedRow>>;

/**
 * Reads rows by place and keeps the `most` pages used last, because groups read a page one after another; of a batch
 * with a queue it keeps as many as fit. A page is kept as bytes, because each time only one of its rows may be needed.
 */
export function cacheRows(most: number, mostBytes: number = PAGES_BYTES): PlacedRows {
  const pages = recentlyRead<Page>(most, mostBytes);
  const scattered = recentlyRead<Page>(Math.max(most, SCATTERED_PAGES), mostBytes);
  const queues = recentlyRead<readonly Queued[]>(most, mostBytes);
  const queued = async (layout: Store, sheet: Layout, place: number): Promise<Queued | undefined> => {
    const row = rowAtOnce(sheet, place);
    if (row !== undefined) return { row };
    const page = await queues(`${layout.location} ${queueNameOf(place)}`, () => readQueuePage(layout, place));
    return queuedAt(page, place);
  };
  return async (layout, sheet, places) => {
    const rowsByPlace = new Map<number, PlacedRow>();
    for (const place of places) {
      const at = await queued(layout, sheet, place);
      if (at === undefined) continue;
      const page = pageOf(at.row);
      const from = folderIn(layout, at.in ?? '');
      const kept = sheet.isQueued ? scattered : pages;
      const opened = await kept(`${from.location} ${page}`, () => openPage(from, page));
      const line = opened.line(at.row);
      if (line === undefined) continue;
      const row = parseExactly(line) as SheetRow;
      rowsByPlace.set(place, { ...row, ...at, inputs: changedInputs(row.inputs, at.change) });
    }
    return rowsByPlace;
  };
}

/** Positions per file. Rows that are added later begin a new file, because files never change. */
export const QUEUE_ROWS = 5_000;

export type Queued = {
  readonly row: number;
  /** The GPU of this place, if it is not the row's own. */
  readonly gpu?: string;
  /** The part with the row's record, if the row is sent again; empty: the row was cancelled before it was sent. */
  readonly before?: string;
  /** The run that the row has paid for: its files are fetched, and no run is bought. */
  readonly fetch?: string;
  /** The inputs of this place, where they are not those of the sheet. */
  readonly change?: InputChange;
  /** The folder with the page of an appended row. */
  readonly in?: string;
};

/** The file of a position; both count from 1. */
export const queuePageOf = (number: number): number => Math.ceil(number / QUEUE_ROWS);

export const queueName = (lane: number, page: number): string =>
  `queue/${String(lane).padStart(2, '0')}/${String(page).padStart(5, '0')}.jsonl`;

/** The facts that decide whether places are row numbers. */
type Layout = { readonly rows: number; readonly isQueued: boolean };

/** The row of a place if it needs no queue. */
export const rowAtOnce = ({ rows, isQueued }: Layout, place: number): number | undefined =>
  !isQueued && laneOf(place) === 0 && place <= rows ? place : undefined;

/** The file of a place. */
export const queueNameOf = (place: number): string => queueName(laneOf(place), queuePageOf(numberOf(place)));

/** The page of a place. Throws E504 if it is missing. */
export async function readQueuePage(layout: Store, place: number): Promise<Parsed<readonly Queued[]>> {
  const name = queueNameOf(place);
  const text = await layout.read(name);
  if (text === undefined) throw problem('E504', { what: `${layout.location} has no ${name}` });
  const lines = text.split('\n').filter((line) => line !== '');
  return { value: lines.map((line) => parseExactly(line) as Queued), bytes: Buffer.byteLength(text) };
}

/** The row at a place in its page; undefined if the lane has no such place. */
export const queuedAt = (page: readonly Queued[], place: number): Queued | undefined =>
  page[(numberOf(place) - 1) % QUEUE_ROWS];

export type LaneWriter = ReturnType<typeof laneWriter>;

export function laneWriter(layout: Store, lane: number) {
  let page = 1;
  let lines: string[] = [];
  const end = async (): Promise<void> => {
    if (lines.length === 0) return;
    const written = lines;
    lines = [];
    await layout.write(queueName(lane, page), `${written.join('\n')}\n`);
    page += 1;
  };
  /** A promise if the caller has to wait before the next. */
  const add = (queued: Queued): Promise<void> | undefined =>
    lines.push(JSON.stringify(queued)) === QUEUE_ROWS ? end() : undefined;
  return { add, end };
}

// The rows of a batch in order: rows of its sheet, then rows appended by later passes. Appended rows are in
// pages of their pass, with the cells that the results show.
/** Consecutive rows in one folder of the layout; '' for those of the sheet. */
type Range = { readonly folder: string; readonly first: number; readonly rows: number };

export type BatchSheet = { readonly rows: number; readonly ranges: readonly Range[] };

/** A row and the folder of its page. `cells`: the cells of an appended row, in the order of the batch's own columns. */
export type FoundRow = {
  readonly row: SheetRow;
  readonly folder: string;
  readonly cells?: readonly string[];
};

/** The sheet with the rows of all passes, or of those up to `through`. */
export async function readBatchSheet(
  store: Store,
  { sheet }: { readonly sheet: Pick<BatchFile['sheet'], 'rows'> },
  through?: number,
): Promise<BatchSheet> {
  const ranges: Range[] = [{ folder: '', first: 1, rows: sheet.rows }];
  let { rows } = sheet;
  for (const { appended } of await readPasses(store, FIRST_PASS, through ?? (await newestPass(store)))) {
    if (appended === undefined) continue;
    ranges.push({ ...appended, first: rows + 1 });
    rows += appended.rows;
  }
  return { rows, ranges };
}

/** Rows `from` to `to`, both included. Throws E504 if a page is missing. */
export async function* sheetRows(
  layout: Store,
  { ranges }: BatchSheet,
  from: number,
  to: number,
): AsyncGenerator<FoundRow> {
  for (const { folder, first, rows } of ranges) {
    const [begin, end] = [Math.max(from, first), Math.min(to, first + rows - 1)];
    const pages = folderIn(layout, folder);
    if (begin > end) continue;
    for await (const lines of readPagesLines(pages, pageOf(begin), pageOf(end)))
      for (const line of lines) {
        const { cells, ...row } = parseExactly(line) as SheetRow & Pick<FoundRow, 'cells'>;
        if (row.row >= begin && row.row <= end)
          yield { row, folder, ...(cells === undefined ? {} : { cells }) };
      }
  }
}

/** A folder of the layout that has pages. */
export const folderIn = (layout: Store, folder: string): Store =>
  folder === '' ? layout : within(layout, folder);
