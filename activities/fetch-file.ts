// Brings one file of a run into the batch folder. A small one is held in memory on its way. A large one is written beside
// its place as it comes; where it breaks off, the next try asks for the rest, if the host says that it is the same file.

import { createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FileRecord } from '../src/results/row-record.ts';
import type { OutputFile } from '../src/run-service/contract/run.ts';
import type { Arriving, Download } from '../src/run-service/download.ts';
import { FEW_TRIES, FileFault, HostFault, ONE_TRY } from '../src/run-service/file-faults.ts';
import type { ResumableDraft, Store } from '../src/store/store.ts';
import { extensionOf } from './extension.ts';

export type FileJob = {
  readonly download: Download;
  readonly store: Store;
  /** The base address of the run service. */
  readonly service: string;
  readonly file: OutputFile;
  /** What the service says that the file is: a half one is only of use to the same. */
  readonly source: string;
  /** Its path without the extension. */
  readonly stem: string;
  /** Names the half of it that is kept. */
  readonly id: string;
  readonly limit: { readonly bytes: number; readonly reason: string };
  /** Work that was given up writes nothing more. */
  readonly signal: AbortSignal;
  /** Told of bytes as they come. */
  onBytes(count: number): void;
  /** Told how many bytes a try that failed leaves for the next one, beyond those that it found. */
  onKept(count: number): void;
};

/** Files up to this size are held in memory, and begin anew. */
const SMALL_BYTES = 1 << 20;

/** Throws a FileFault or a HostFault, what the folder throws, and the reason of the signal. */
export async function fetchFile(job: FileJob): Promise<FileRecord> {
  const { download, file, service, signal, stem, store } = job;
  const arriving = await download(file.url, { service, signal });
  const chunks = watched(job, arriving);
  try {
    const { head, isWhole } = await headOf(chunks);
    const path = `${stem}.${await extensionOf(head, isWhole, file.filename)}`;
    if (!isWhole) return await fetchLarge(job, { arriving, path, head, chunks });
    signal.throwIfAborted();
    await store.write(path, head, 'cached');
    return recordOf(job, path, head.byteLength, createHash('sha256').update(head));
  } finally {
    await chunks.return(undefined);
  }
}

const recordOf = ({ file }: FileJob, path: string, bytes: number, hash: Hash): FileRecord => ({
  path,
  bytes,
  sha256: hash.digest('hex'),
  name: file.filename,
});

/** The chunks as long as anybody wants them, and no more than there may be. */
async function* watched(job: FileJob, { bytes, from, chunks }: Arriving): AsyncGenerator<Uint8Array> {
  const { limit, signal } = job;
  let at = from;
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    at += chunk.byteLength;
    if (Math.max(at, bytes ?? 0) > limit.bytes) throw new FileFault(limit.reason, ONE_TRY);
    job.onBytes(chunk.byteLength);
    yield chunk;
  }
}

type Head = { readonly head: Uint8Array; readonly isWhole: boolean };

/** The beginning of a file, or all of it. */
async function headOf(chunks: AsyncIterator<Uint8Array>): Promise<Head> {
  const taken: Uint8Array[] = [];
  let bytes = 0;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    taken.push(next.value);
    bytes += next.value.byteLength;
    if (bytes > SMALL_BYTES) return { head: Buffer.concat(taken), isWhole: false };
  }
  const [only] = taken;
  return { head: taken.length === 1 && only ? only : Buffer.concat(taken), isWhole: true };
}

/** A large file of which the beginning has come. */
type Begun = {
  readonly arriving: Arriving;
  readonly path: string;
  readonly head: Uint8Array;
  readonly chunks: AsyncGenerator<Uint8Array>;
};

async function fetchLarge(job: FileJob, begun: Begun): Promise<FileRecord> {
  const draft = await draftFor(job, begun);
  const sink = new Sink(draft, job);
  try {
    await fill(job, begun, sink);
    const { bytes = sink.bytes } = begun.arriving;
    if (sink.bytes !== bytes)
      throw new HostFault(hostOf(job), `it ended after ${sink.bytes} of ${bytes} bytes`, FEW_TRIES);
    job.signal.throwIfAborted();
    await draft.commit();
    return recordOf(job, begun.path, sink.bytes, sink.hash);
  } catch (error) {
    const mayGoOn = job.signal.aborted || error instanceof HostFault;
    if (mayGoOn) await draft.leave();
    if (mayGoOn) job.onKept(sink.bytes - draft.kept);
    throw error;
  } finally {
    await draft.discard();
  }
}

const hostOf = ({ file }: FileJob): string => new URL(file.url).host;

/** One that can be taken up again, where the host tells contents apart and the folder keeps half files. */
async function draftFor({ store, source, id }: FileJob, { path, arriving }: Begun): Promise<ResumableDraft> {
  const { validator } = arriving;
  if (validator !== undefined && store.resumable !== undefined)
    return store.resumable(path, { id, mark: `${source} ${validator}` });
  const draft = await store.draft(path);
  const read = (): Readable => Readable.from([]);
  return { ...draft, kept: 0, read, restart: () => undefined, leave: draft.discard };
}

const changed = (host: string): HostFault =>
  new HostFault(host, 'it changed while it was fetched', FEW_TRIES);

/** What is written of a file, and what it is so far. */
class Sink {
  hash = createHash('sha256');
  bytes = 0;
  readonly #draft: ResumableDraft;
  readonly #signal: AbortSignal;
  readonly #host: string;

  constructor(draft: ResumableDraft, job: FileJob) {
    this.#draft = draft;
    this.#signal = job.signal;
    this.#host = hostOf(job);
  }

  restart(): void {
    this.#draft.restart();
    this.hash = createHash('sha256');
    this.bytes = 0;
  }

  /** Takes what an earlier try left, unless that is less than has come by now. Throws where it begins otherwise. */
  async takeUp(head: Uint8Array, whole: number | undefined): Promise<boolean> {
    const { kept } = this.#draft;
    if (kept <= head.byteLength || kept > (whole ?? kept)) return false;
    for await (const chunk of this.#draft.read() as AsyncIterable<Uint8Array>) {
      this.#signal.throwIfAborted();
      const known = head.subarray(this.bytes, this.bytes + chunk.byteLength);
      if (!Buffer.from(known).equals(chunk.subarray(0, known.byteLength))) {
        await this.#draft.discard();
        throw changed(this.#host);
      }
      this.#count(chunk);
    }
    return true;
  }

  async write(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    for await (const chunk of chunks) {
      this.#signal.throwIfAborted();
      await this.#draft.write(chunk);
      this.#count(chunk);
    }
  }

  #count(chunk: Uint8Array): void {
    this.hash.update(chunk);
    this.bytes += chunk.byteLength;
  }
}

/** Asks for what is missing of a file that an earlier try left; takes it as it comes where there is none. */
async function fill(job: FileJob, { arriving, head, chunks }: Begun, sink: Sink): Promise<void> {
  const { download, file, service, signal } = job;
  const { validator, bytes } = arriving;
  if (validator === undefined || !(await sink.takeUp(head, bytes))) {
    sink.restart();
    await sink.write([head]);
    return sink.write(chunks);
  }
  await chunks.return(undefined);
  if (sink.bytes === bytes) return;
  const rest = await download(file.url, { service, signal, rest: { from: sink.bytes, validator } });
  if (rest.validator !== validator) throw changed(hostOf(job));
  // A host that gives no parts gives it whole again.
  if (rest.from === 0) sink.restart();
  await sink.write(watched(job, rest));
}
