// Pages: 500 consecutive rows as one file of the batch folder, one row a line. A page's name follows from its rows, so
// whoever knows a row's number knows its file.

import { parseExactly } from '../batch/digits.ts';
import { problem } from '../errors/error.ts';
import { Pieces } from '../store/pieces.ts';
import type { Store } from '../store/store.ts';

export const PAGE_ROWS = 500;

/**
 * Bytes of a page: a worker parses a whole page to send one of its rows, and 32 MiB take it a quarter of a second, while
 * 64 KiB a row are more than any prompt needs.
 */
export const PAGE_BYTES = 32 * 1024 * 1024;

export type SheetRow = {
  /** From 1, the header not counted. */
  readonly row: number;
  readonly key: string;
  /** Absent where none was asked. */
  readonly gpu?: string;
  readonly inputs: Readonly<Record<string, unknown>>;
};

/** The page that holds a row; both count from 1. */
export const pageOf = (row: number): number => Math.ceil(row / PAGE_ROWS);

export const pageName = (page: number): string => `rows/${String(page).padStart(5, '0')}.jsonl`;

/** The rows of a page, their integers digit for digit. Throws E504 where the folder has no such page. */
export const readPage = async (store: Store, page: number): Promise<readonly SheetRow[]> =>
  (await readSizedPage(store, page)).rows;

/** The same, with the bytes that the page has. */
export async function readSizedPage(
  store: Store,
  page: number,
): Promise<{ readonly rows: readonly SheetRow[]; readonly bytes: number }> {
  const text = await store.read(pageName(page));
  if (text === undefined) throw problem('E504', { what: `${store.location} has no ${pageName(page)}` });
  const lines = text.split('\n').filter((line) => line !== '');
  return { rows: lines.map((line) => parseExactly(line) as SheetRow), bytes: Buffer.byteLength(text) };
}

/** A row as it stands in its page; `inputs` is JSON text. */
export function rowLine(row: number, key: string, gpu: string | undefined, inputs: string): string {
  const asked = gpu === undefined ? '' : `,"gpu":${JSON.stringify(gpu)}`;
  return `{"row":${row},"key":${JSON.stringify(key)}${asked},"inputs":${inputs}}\n`;
}

/** Adds up the bytes of each page, so that one that would be too large is found before anything is sent. */
export class PageSizes {
  readonly #most: number;
  #page = 1;
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get mostWords(): string {
    const mebibytes = this.#most / 1024 / 1024;
    return Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${this.#most.toLocaleString('en-US')} bytes`;
  }

  /** The rows of the page, where this line is the first that the page has no room for. */
  add(row: number, line: string): { readonly first: number; readonly last: number } | undefined {
    if (pageOf(row) !== this.#page) this.#bytes = 0;
    this.#page = pageOf(row);
    const fitted = this.#bytes <= this.#most;
    this.#bytes += Buffer.byteLength(line);
    if (!fitted || this.#bytes <= this.#most) return undefined;
    return { first: (this.#page - 1) * PAGE_ROWS + 1, last: this.#page * PAGE_ROWS };
  }
}

/** Pages that are being finished at once: a disk takes several milliseconds to confirm one, and they wait side by side. */
const MOST_FINISHING = 8;

/**
 * Writes pages as rows arrive. A page grows in memory, up to a piece of it; a full page is finished while the next ones
 * grow. Only where too many are unfinished do rows have to wait, for the oldest.
 */
export class PageWriter {
  readonly #store: Store;
  #rows = 0;
  #page: Pieces | undefined;
  /** The oldest first; each ends with what went wrong, because a rejection that nobody awaits yet ends the process. */
  readonly #finishing: Promise<unknown>[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  get pages(): number {
    return pageOf(this.#rows);
  }

  /** Rows come in order, from 1. A promise where the caller has to wait before the next. */
  add(line: string): Promise<void> | undefined {
    this.#rows += 1;
    const name = pageName(this.pages);
    this.#page ??= new Pieces(() => this.#store.draft(name));
    const written = this.#page.add(line);
    return this.#rows % PAGE_ROWS === 0 ? this.#turn(this.#page, written) : written;
  }

  /** Finishes every page. */
  async end(): Promise<void> {
    if (this.#page) await this.#turn(this.#page, undefined);
    while (this.#finishing.length > 0) await this.#oldest();
  }

  /** Gives the page up that is not full; the full ones stay. */
  async abandon(): Promise<void> {
    await Promise.all(this.#finishing);
    await this.#page?.discard();
  }

  async #turn(page: Pieces, written: Promise<void> | undefined): Promise<void> {
    await written;
    this.#page = undefined;
    this.#finishing.push(page.commit().then(nothing, (error: unknown) => error));
    if (this.#finishing.length > MOST_FINISHING) await this.#oldest();
  }

  async #oldest(): Promise<void> {
    const error = await this.#finishing.shift();
    if (error !== undefined) throw error;
  }
}

const nothing = (): undefined => undefined;
