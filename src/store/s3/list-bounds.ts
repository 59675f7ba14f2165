// The bounds of a list of S3, which comes page by page: each page names the next one, and a hostile or broken server can go on
// without an end.

import { hash } from 'node:crypto';
import type { S3Client } from './s3-client.ts';

/** Of a thousand keys each: more than the files of the largest batch. */
const PAGES_MOST = 20_000;
/** In a row: a bucket with versions has a few where many objects were removed. */
const EMPTY_MOST = 100;
/** Of names that are in memory together: about four million files. */
const LETTERS_MOST = 256 << 20;

export class PageCount {
  readonly #client: S3Client;
  readonly #seen = new Set<string>();
  #empty = 0;

  constructor(client: S3Client) {
    this.#client = client;
  }

  /** Counts a page that names a next one. Throws E612 for a list without an end. */
  add(next: string, isEmpty: boolean): void {
    // A token can be large.
    const mark = hash('sha256', next, 'base64');
    if (this.#seen.has(mark)) throw this.#client.unexpected('its list begins again where it began');
    this.#seen.add(mark);
    this.#empty = isEmpty ? this.#empty + 1 : 0;
    if (this.#empty > EMPTY_MOST)
      throw this.#client.unexpected(`its list has more than ${EMPTY_MOST} empty pages in a row`);
    if (this.#seen.size >= PAGES_MOST)
      throw this.#client.unexpected(`its list has more than ${PAGES_MOST} pages`);
  }
}

export class LetterCount {
  readonly #client: S3Client;
  #letters = 0;

  constructor(client: S3Client) {
    this.#client = client;
  }

  /** Throws E612 if the names of a list have too many letters. */
  add(name: string): void {
    this.#letters += name.length;
    if (this.#letters > LETTERS_MOST)
      throw this.#client.unexpected(`its list has names of more than ${LETTERS_MOST >> 20} MiB`);
  }
}
