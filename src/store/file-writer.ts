// Writes small files on a thread of its own. The disk needs some tenths of a millisecond to create a file, and the
// thread that holds the leases of groups must not stall meanwhile. Node's own thread pool needs three calls for a
// file.
//
//   write ─▶ waiting ──one message at a time──▶ the thread creates, writes and renames ──▶ done
//               ▲ files that are ordered meanwhile go with the next message

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

/** A whole file, which is written as `beside` and then renamed to `path`. */
type FileToWrite = { readonly beside: string; readonly path: string; readonly content: Uint8Array };

/** Files for the thread: their contents concatenated, because each object of a message costs as much as a small file. */
export type FileBatch = {
  /** `beside` and `path` of each file. */
  readonly paths: readonly string[];
  /** Where each content ends. */
  readonly ends: readonly number[];
  readonly contents: Uint8Array;
};

/** The reason why the file at this place of the batch was not written. */
export type FileError = { readonly at: number; readonly message: string; readonly code: string | undefined };

type WaitingFile = {
  readonly file: FileToWrite;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
};

/** How long files gather for a message: each message wakes the thread, which costs as much as a file. */
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
  #waiting: WaitingFile[] = [];
  #sent: readonly WaitingFile[] = [];

  constructor() {
    this.#thread.unref();
    this.#thread.on('message', (errors: readonly FileError[]) => this.#answered(errors));
    this.#thread.once('error', (error) => this.#ended(error));
    this.#thread.once('exit', (code) =>
      this.#ended(new Error(`the thread that writes files ended with ${code}`)),
    );
  }

  add(waitingFile: WaitingFile): void {
    if (this.#waiting.push(waitingFile) === 1 && this.#sent.length === 0)
      setTimeout(() => this.#send(), GATHER_MS);
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
    // A promise that has already failed stays failed.
    for (const { done } of sent) done();
    this.#sent = [];
    if (this.#waiting.length > 0) setTimeout(() => this.#send(), GATHER_MS);
    else this.#thread.unref();
  }

  /** Ends the writer; the next file starts another thread. */
  #ended(error: Error): void {
    if (writer === this) writer = undefined;
    for (const { failed } of [...this.#sent, ...this.#waiting]) failed(error);
    this.#sent = this.#waiting = [];
  }
}

function batchOf(files: readonly FileToWrite[]): FileBatch & { readonly contents: Uint8Array<ArrayBuffer> } {
  const ends: number[] = [];
  let bytes = 0;
  for (const { content } of files) ends.push((bytes += content.byteLength));
  const contents = new Uint8Array(bytes);
  for (const [at, { content }] of files.entries())
    contents.set(content, (ends[at] ?? 0) - content.byteLength);
  return { paths: files.flatMap(({ beside, path }) => [beside, path]), ends, contents };
}
