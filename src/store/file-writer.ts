// Writes small files on a thread of its own. The disk needs some tenths of a millisecond to create a file, and the thread that
// holds the leases of groups must not stand still meanwhile. Node's own thread pool needs three calls for a file.
//
//   write ─▶ waiting ──one message at a time──▶ the thread creates, writes and renames ──▶ done
//               ▲ files that are ordered meanwhile go with the next message

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

/** A whole file: it is written as `beside` and then renamed to `path`. */
export type FileOrder = { readonly beside: string; readonly path: string; readonly content: Uint8Array };

/** Why a file was not written; undefined if it was. */
export type FileError = { readonly message: string; readonly code: string | undefined } | undefined;

type Waiting = {
  readonly order: FileOrder;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
};

let writer: Writer | undefined;

/** Rejects with the error of the file system, which has its code. */
export function writeOnThread(order: FileOrder): Promise<void> {
  return new Promise((done, failed) => {
    writer ??= new Writer();
    writer.add({ order, done, failed });
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
    this.#waiting.push(one);
    if (this.#sent.length === 0) this.#send();
  }

  #send(): void {
    this.#sent = this.#waiting;
    this.#waiting = [];
    // A pending file keeps the process alive.
    if (this.#sent.length === 0) return this.#thread.unref();
    this.#thread.ref();
    // A view of a larger buffer would take all of it along.
    const orders = this.#sent.map(({ order }) => ({ ...order, content: new Uint8Array(order.content) }));
    this.#thread.postMessage(
      orders,
      orders.map(({ content }) => content.buffer),
    );
  }

  #answered(errors: readonly FileError[]): void {
    for (const [at, { done, failed }] of this.#sent.entries()) {
      const error = errors[at];
      if (error === undefined) done();
      else failed(Object.assign(new Error(error.message), { code: error.code }));
    }
    this.#send();
  }

  /** The next file starts another thread. */
  #ended(error: Error): void {
    if (writer === this) writer = undefined;
    for (const { failed } of [...this.#sent, ...this.#waiting]) failed(error);
    this.#sent = this.#waiting = [];
  }
}
