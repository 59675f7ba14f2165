// Partial files that a later try can continue, also in another process. S3 cannot read an upload that is not complete, so the
// parts are hidden objects, next to the final one: `.<id>.<hash of the mark>.<number>`, and `.tail` for the last bytes of a try
// that ended. At the end the server copies them into one object. Two writers with the same id and mark write the same parts.

import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { ResumableDraft, Resumption } from '../store.ts';
import type { S3Client } from './s3-client.ts';
import { Waiting, Multipart, PART_BYTES } from './multipart.ts';
import { LetterCount, pagesOf, removeAll } from './listing.ts';
import { look, put, read } from './objects.ts';

type Part = { readonly key: string; readonly etag: string };

/** Continues the parts of this id and mark; removes those of other marks, whose content is outdated. */
export async function openResumable(
  client: S3Client,
  path: string,
  { id, mark }: Resumption,
): Promise<ResumableDraft> {
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const ours = `${folder}.${id}.${hash('sha256', mark, 'hex').slice(0, 16)}.`;
  const found = await keysOf(client, `${folder}.${id}.`);
  await removeAll(
    client,
    found.filter((key) => !key.startsWith(ours)),
  );
  const draft = new PartFiles(client, path, ours);
  await draft.take(new Set(found));
  return draft;
}

/** Removes the parts in `folder`, which ends with a slash, whose ids begin with `ids`. */
export async function dropResumable(client: S3Client, folder: string, ids: string): Promise<void> {
  await removeAll(client, await keysOf(client, `${folder}.${ids}`));
}

async function keysOf(client: S3Client, prefix: string): Promise<readonly string[]> {
  const keys: string[] = [];
  const letters = new LetterCount(client);
  for await (const page of pagesOf(client, prefix))
    for (const key of page.keys) {
      letters.add(key);
      keys.push(key);
    }
  return keys;
}

class PartFiles implements ResumableDraft {
  kept = 0;
  readonly #client: S3Client;
  readonly #path: string;
  readonly #prefix: string;
  readonly #waiting = new Waiting();
  /** The whole parts, in order, and the bytes after them from an earlier try. */
  #parts: Part[] = [];
  #tail: Buffer = Buffer.of();
  #isTailNew = false;
  /** A part could not be stored, so the bytes after it must not be kept. */
  #hasGap = false;
  #closed = false;

  constructor(client: S3Client, path: string, prefix: string) {
    this.#client = client;
    this.#path = path;
    this.#prefix = prefix;
  }

  /** Takes what an earlier try has written. */
  async take(keys: ReadonlySet<string>): Promise<void> {
    for (let key = this.#keyOf(1); keys.has(key); key = this.#keyOf(this.#parts.length + 1)) {
      const there = await look(this.#client, key);
      if (there?.bytes !== PART_BYTES) break;
      this.#parts.push({ key, etag: there.etag });
    }
    const tail = `${this.#prefix}${this.#parts.length}.tail`;
    if (keys.has(tail)) this.#tail = (await read(this.#client, tail)) ?? Buffer.of();
    this.kept = this.#parts.length * PART_BYTES + this.#tail.byteLength;
    this.#waiting.add(this.#tail);
  }

  read(): Readable {
    return Readable.from(this.#keptChunks(), { objectMode: false, highWaterMark: 1 << 18 });
  }

  async *#keptChunks(): AsyncGenerator<Uint8Array> {
    const parts = [...this.#parts];
    const tail = this.#tail;
    for (const { key } of parts) yield (await read(this.#client, key)) ?? this.#gone();
    if (tail.byteLength > 0) yield tail;
  }

  restart(): void {
    this.#parts = [];
    this.#tail = Buffer.of();
    this.#waiting.take();
    this.#hasGap = false;
  }

  async write(content: string | Uint8Array): Promise<void> {
    this.#requireNoGap();
    this.#waiting.add(content);
    this.#isTailNew = true;
    while (this.#waiting.bytes >= PART_BYTES) {
      const key = this.#keyOf(this.#parts.length + 1);
      this.#parts.push({ key, etag: await this.#store(key, this.#waiting.take(PART_BYTES)) });
    }
  }

  async #store(key: string, bytes: Buffer): Promise<string> {
    this.#hasGap = true;
    const etag = await put(this.#client, key, bytes);
    this.#hasGap = false;
    return etag;
  }

  async commit(): Promise<void> {
    this.#requireNoGap();
    if (this.#parts.length === 0) await put(this.#client, this.#path, this.#waiting.take());
    else await this.#join();
    this.#closed = true;
    await this.#drop();
  }

  async #join(): Promise<void> {
    const upload = await Multipart.begin(this.#client, this.#path);
    try {
      for (const { key, etag } of this.#parts)
        if (!(await upload.copy(this.#client.place.bucket, key, etag))) this.#gone();
      if (this.#waiting.bytes > 0) await upload.add(this.#waiting.take());
      await upload.complete();
    } catch (error) {
      await upload.abort();
      throw error;
    }
  }

  async leave(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#isTailNew && !this.#hasGap && this.#waiting.bytes > 0)
      await put(this.#client, `${this.#prefix}${this.#parts.length}.tail`, this.#waiting.take());
  }

  async discard(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#drop();
  }

  async #drop(): Promise<void> {
    if (this.kept > 0 || this.#parts.length > 0)
      await removeAll(this.#client, await keysOf(this.#client, this.#prefix));
  }

  #keyOf(number: number): string {
    return `${this.#prefix}${String(number).padStart(5, '0')}`;
  }

  #requireNoGap(): void {
    if (this.#hasGap) throw new Error(`${this.#path}: a part could not be stored`);
  }

  #gone(): never {
    throw new Error(`${this.#path} belongs to another attempt, which started over`);
  }
}
