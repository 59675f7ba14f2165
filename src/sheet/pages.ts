// Writes and reads pages: files with up to 500 consecutive rows, one per line. A row's number determines its page's name.

import { parseExactly } from '../host/formats/exact-json.ts';
import { problem, type RunsheetError } from '../errors/error.ts';
import { Pieces, readAhead } from '../store/pieces.ts';
import type { Parsed } from '../store/recently-read.ts';
import type { Store } from '../store/store.ts';
import { count } from '../options/text/printed-numbers.ts';

export const PAGE_ROWS = 500;

/**
 * Maximum bytes of a page. A worker parses a whole page to send one of its rows, and 32 MiB take a quarter of a second;
 * 64 KiB per row are more than any prompt needs.
 */
export const PAGE_BYTES = 32 * 1024 * 1024;

export type SheetRow = {
  /** From 1, the header not counted. */
  readonly row: number;
  readonly key: string;
  /** Absent if the row names none. */
  readonly gpu?: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** The name of its files, if it does not follow from the key alone. */
  readonly name?: string;
  /** Why the row could not be read (`invalid: 'skip'`): it has no inputs and no place, and ends as refused. */
  readonly refused?: string;
};

/** The page that holds a row; both count from 1. */
export const pageOf = (row: number): number => Math.ceil(row / PAGE_ROWS);

export const pageName = (page: number): string => `rows/${String(page).padStart(5, '0')}.jsonl`;

/** The rows of a page, with all digits of integers. Throws E504 if the page is missing. */
export async function readPage(store: Store, page: number): Promise<readonly SheetRow[]> {
  return linesIn(await textOf(store, page)).map((line) => parseExactly(line) as SheetRow);
}

/** The lines of a range of pages, page by page; both ends included. Throws E504 if a page is missing. */
export async function* readPagesLines(
  store: Store,
  first: number,
  last: number,
): AsyncGenerator<readonly string[]> {
  const names = Array.from({ length: last - first + 1 }, (_, at) => pageName(first + at));
  let page = first;
  for await (const text of readAhead(store, names)) {
    if (text === '') throw missing(store, page);
    page += 1;
    yield linesIn(text);
  }
}

/** The page, to read single rows. Throws E504 if it is missing. */
export async function openPage(store: Store, page: number): Promise<Parsed<Page>> {
  const bytes = Buffer.from(await textOf(store, page));
  return { value: new Page(bytes), bytes: bytes.byteLength };
}

async function textOf(store: Store, page: number): Promise<string> {
  const text = await store.read(pageName(page));
  if (text === undefined) throw missing(store, page);
  return text;
}

const missing = (store: Store, page: number): RunsheetError =>
  problem('E504', { what: `${store.location} has no ${pageName(page)}` });

const linesIn = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');

/** A page as bytes outside the heap, which would otherwise grow to several times the size of the cached pages. */
export class Page {
  readonly #bytes: Buffer;
  readonly #first: number;
  /** Line starts, as far as rows were requested. */
  readonly #starts = [0];

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#first = firstIn(bytes);
  }

  /** undefined if the page ends before the row. */
  line(row: number): string | undefined {
    const at = row - this.#first;
    for (let from = this.#starts.at(-1); this.#starts.length <= at; from = this.#starts.at(-1)) {
      const start = this.#bytes.indexOf(LINE_FEED, from) + 1;
      if (start === 0) return undefined;
      this.#starts.push(start);
    }
    const start = this.#starts[at];
    const end = this.#bytes.indexOf(LINE_FEED, start);
    return this.#bytes.toString('utf8', start, end < 0 ? undefined : end) || undefined;
  }
}

const LINE_FEED = 10;

/** Appended rows begin in the middle of a page. */
const firstIn = (page: Buffer): number => Number(ROW_NUMBER.exec(page.toString('latin1', 0, 32))?.[1] ?? 0);
const ROW_NUMBER = /^\{"row":(\d+),/;

type PageExtras = {
  readonly cells?: readonly string[];
  readonly name?: string | undefined;
  readonly refused?: string | undefined;
};

/** A row as a line of its page; `inputs` is JSON text. */
export function rowLine(
  row: number,
  key: string,
  gpu: string | undefined,
  inputs: string,
  { cells, name, refused }: PageExtras = {},
): string {
  const gpuMember = gpu === undefined ? '' : `,"gpu":${JSON.stringify(gpu)}`;
  const shown = cells === undefined ? '' : `,"cells":${JSON.stringify(cells)}`;
  const named = name === undefined ? '' : `,"name":${JSON.stringify(name)}`;
  const why = refused === undefined ? '' : `,"refused":${JSON.stringify(refused)}`;
  return `{"row":${row},"key":${JSON.stringify(key)}${gpuMember},"inputs":${inputs}${named}${why}${shown}}\n`;
}

/** The line of a row that could not be read. */
export const refusedLine = (row: number, key: string, refused: string): string =>
  rowLine(row, key, undefined, '{}', { refused });

/** Adds up the bytes of each page, to find a page that is too large before anything is sent. */
export class PageSizes {
  readonly #most: number;
  #page = 1;
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get mostWords(): string {
    const mebibytes = this.#most / 1024 / 1024;
    return Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${count(this.#most)} bytes`;
  }

  /** The page's rows if this line is the first that exceeds its size. */
  add(row: number, line: string): { readonly first: number; readonly last: number } | undefined {
    if (pageOf(row) !== this.#page) this.#bytes = 0;
    this.#page = pageOf(row);
    const fitted = this.#bytes <= this.#most;
    this.#bytes += Buffer.byteLength(line);
    if (!fitted || this.#bytes <= this.#most) return undefined;
    return { first: (this.#page - 1) * PAGE_ROWS + 1, last: this.#page * PAGE_ROWS };
  }
}

/** Maximum pages that are synced concurrently: a disk takes several milliseconds for each. */
const MAX_FINISHING = 8;

/**
 * Writes pages as rows arrive. A full page is synced while the next ones are filled. If too many pages are unfinished, rows
 * wait for the oldest.
 */
export class PageWriter {
  readonly #store: Store;
  #rows;
  #page: Pieces | undefined;
  /** The oldest first. Each resolves with its error, because an unhandled rejection would end the process. */
  readonly #finishing: Promise<unknown>[] = [];

  /** `first`: the number of the first row. */
  constructor(store: Store, first = 1) {
    this.#store = store;
    this.#rows = first - 1;
  }

  get pages(): number {
    return pageOf(this.#rows);
  }

  /** Takes rows in order. Returns a promise if the caller has to wait. */
  add(line: string): Promise<void> | undefined {
    this.#rows += 1;
    const name = pageName(this.pages);
    this.#page ??= new Pieces(() => this.#store.draft(name));
    const written = this.#page.add(line);
    return this.#rows % PAGE_ROWS === 0 ? this.#turn(this.#page, written) : written;
  }

  async end(): Promise<void> {
    if (this.#page) await this.#turn(this.#page, undefined);
    while (this.#finishing.length > 0) await this.#oldest();
  }

  /** Discards the unfinished page; full pages stay. */
  async discard(): Promise<void> {
    await Promise.all(this.#finishing);
    await this.#page?.discard();
  }

  async #turn(page: Pieces, written: Promise<void> | undefined): Promise<void> {
    await written;
    this.#page = undefined;
    this.#finishing.push(page.commit().then(nothing, (error: unknown) => error));
    if (this.#finishing.length > MAX_FINISHING) await this.#oldest();
  }

  async #oldest(): Promise<void> {
    const error = await this.#finishing.shift();
    if (error !== undefined) throw error;
  }
}

const nothing = (): undefined => undefined;
