// The answers of a program that stays: lines of JSON that it appends to the file $RUNSHEET_ANSWERS.
//
//      {"ready":true}   {"id":"…","progress":0.4}   {"id":"…","ok":true}   {"id":"…","error":"…"}   {"ready":false}
//
// The first answer to a run counts. Lines of any other form are ignored.

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** `atMs`: when the line was there, by the clock of the file system. */
export type RunAnswer = { readonly atMs: number } & (
  | { readonly kind: 'ok' }
  | { readonly kind: 'error'; readonly reason: string }
);

const CHUNK_BYTES = 64 << 10;
/** The start of the file, which has the id of its first answer. */
const HEAD_BYTES = 256;
/** A longer line is no answer. */
const MAX_LINE_BYTES = 1 << 20;
/** A program that writes more than this is ended. */
const MAX_BYTES = 256 << 20;

export class Answers {
  isReady = false;
  /** The program is about to exit, and gets no more runs. */
  isLeaving = false;
  /** How many runs were answered. */
  count = 0;
  isFlooded = false;
  readonly #file: string;
  readonly #isAwaited: (id: string) => boolean;
  readonly #runs = new Map<string, RunAnswer>();
  readonly #progress = new Map<string, number>();
  #offset = 0;
  #head = Buffer.alloc(0);
  #part = Buffer.alloc(0);

  /** `isAwaited`: whether a run with this id was given to the program. */
  constructor(file: string, isAwaited: (id: string) => boolean) {
    [this.#file, this.#isAwaited] = [file, isAwaited];
  }

  /** The answer to a run; undefined until there is one. */
  to(id: string): RunAnswer | undefined {
    this.read();
    return this.#runs.get(id);
  }

  progressOf = (id: string): number | undefined => this.#progress.get(id);

  forget(id: string): void {
    this.#runs.delete(id);
    this.#progress.delete(id);
  }

  /** Reads what was appended since the last look. */
  read(): void {
    let file: number;
    try {
      file = openSync(this.#file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch {
      return;
    }
    try {
      const { size, mtimeMs } = fstatSync(file);
      this.#seek(file, size);
      this.isFlooded = size > MAX_BYTES;
      while (this.#offset < size && !this.isFlooded && this.#readChunk(file, size, mtimeMs));
    } finally {
      closeSync(file);
    }
  }

  /** A program that overwrites the file instead of appending is read again from the start. */
  #seek(file: number, size: number): void {
    const start = Buffer.alloc(HEAD_BYTES);
    const head = start.subarray(0, readSync(file, start, 0, HEAD_BYTES, 0));
    const isOther = size < this.#offset || !head.subarray(0, this.#head.length).equals(this.#head);
    if (isOther) [this.#offset, this.#part] = [0, Buffer.alloc(0)];
    this.#head = head;
  }

  /** Whatever was written after that time is left for the next look. */
  #readChunk(file: number, size: number, atMs: number): boolean {
    const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, size - this.#offset));
    const bytes = readSync(file, chunk, 0, chunk.length, this.#offset);
    if (bytes === 0) return false;
    this.#offset += bytes;
    let text = Buffer.concat([this.#part, chunk.subarray(0, bytes)]);
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      this.#add(text.subarray(0, end).toString('utf8'), atMs);
      text = text.subarray(end + 1);
    }
    // A last line without its end counts once it is whole.
    this.#add(text.toString('utf8'), atMs);
    this.#part = text.length > MAX_LINE_BYTES ? Buffer.alloc(0) : Buffer.from(text);
    return true;
  }

  #add(line: string, atMs: number): void {
    const said = saidIn(line);
    if (said === undefined) return;
    if (said.ready === true) this.isReady = true;
    if (said.ready === false) this.isLeaving = true;
    const { id, ok, error, progress } = said;
    if (typeof id !== 'string' || this.#runs.has(id) || !this.#isAwaited(id)) return;
    if (typeof progress === 'number' && progress >= 0 && progress <= 1) this.#progress.set(id, progress);
    if (ok === undefined && error === undefined) return;
    this.count += 1;
    this.#runs.set(
      id,
      ok === true && error === undefined
        ? { kind: 'ok', atMs }
        : { kind: 'error', reason: reasonOf(error), atMs },
    );
  }
}

const reasonOf = (error: unknown): string =>
  typeof error === 'string' && error.trim() !== '' ? error : 'the program names no reason';

function saidIn(line: string): Readonly<Record<string, unknown>> | undefined {
  // Most lines that are no answers are found without reading them as JSON.
  if (!/^[\s\0]*\{/.test(line) || !line.trimEnd().endsWith('}')) return undefined;
  try {
    return JSON.parse(line.replace(/^\0+/, '')) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}
