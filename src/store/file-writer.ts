// Writes small files on a thread of its own. The disk needs some tenths of a millisecond to create a file, and the thread that
// holds the leases of groups must not stand still meanwhile. Node's own thread pool needs three calls for a file.
//
//   write ─▶ waiting ──one message at a time──▶ the thread creates, writes and renames ──▶ done
//               ▲ files that are ordered meanwhile go with the next message

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

/** A whole file: it is written as `beside` and then renamed to `path`. */
type FileToWrite = { readonly beside: string; readonly path: string; readonly content: Uint8Array };

/** Files for the thread: their contents one after another, because each object of a message costs as much as a small file. */
export type FileBatch = {
  /** `beside` and `path` of each file. */
  readonly paths: readonly string[];
  /** Where each content ends. */
  readonly ends: readonly number[];
  readonly contents: Uint8Array;
};

/** Why the file at this place of the batch was not written. */
export type FileError = { readonly at: number; readonly message: string; readonly code: string | undefined };

type Waiting = {
  readonly file: FileToWrite;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
};

/** Each message wakes the thread, which costs as much as a file; a row waits longer for its line. */
const GATHER_MS = 5;

let writer: Writer | undefined;

/** Rejects with the error of the file system, which has its code. */
export function writeOnThread(file: FileToWrite): Promise<void> {
  return new Promise((done, failed) => {
    writer ??= new Writer();
    writer.add({ file, done, failed });
  });
}

class Writer {
  readonly #thread = new Worker(new URL(`file-writer-thread${extname(import.meta.url)}`, import.meta.url));
  #waiting: Waiting[] = [];
  #sent: readonly Waiting[] = [];

  constructor() {
    this.#thread.unref();
    this.#thread.on('message', (errors: readonly FileError[]) => this.#answered(errors));
    this.#thread.once('error', (error) => this.#ended(error));
    this.#thread.once('exit', (code) =>
      this.#ended(new Error(`the thread that writes files ended with ${code}`)),
    );
  }

  add(one: Waiting): void {
    if (this.#waiting.push(one) === 1 && this.#sent.length === 0) setTimeout(() => this.#send(), GATHER_MS);
  }

  #send(): void {
    this.#sent = this.#waiting;
    this.#waiting = [];
    // A pending file keeps the process alive.
    this.#thread.ref();
    const files = batchOf(this.#sent.map(({ file }) => file));
    this.#thread.postMessage(files, [files.contents.buffer]);
  }

  #answered(errors: readonly FileError[]): void {
    const sent = this.#sent;
    for (const { at, message, code } of errors) sent[at]?.failed(Object.assign(new Error(message), { code }));
    // A promise that has failed stays so.
    for (const { done } of sent) done();
    this.#sent = [];
    if (this.#waiting.length > 0) setTimeout(() => this.#send(), GATHER_MS);
    else this.#thread.unref();
  }

  /** The next file starts another thread. */
  #ended(error: Error): void {
    if (writer === this) writer = undefined;
    for (const { failed } of [...this.#sent, ...this.#waiting]) failed(error);
    this.#sent = this.#waiting = [];
  }
}

function batchOf(given: readonly FileToWrite[]): FileBatch & { readonly contents: Uint8Array<ArrayBuffer> } {
  const ends: number[] = [];
  let bytes = 0;
  for (const { content } of given) ends.push((bytes += content.byteLength));
  const contents = new Uint8Array(bytes);
  for (const [at, { content }] of given.entries())
    contents.set(content, (ends[at] ?? 0) - content.byteLength);
  return { paths: given.flatMap(({ beside, path }) => [beside, path]), ends, contents };
}
