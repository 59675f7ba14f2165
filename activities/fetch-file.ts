// Downloads one file of a run into the batch folder. A small file is held in memory. A large one is streamed to a
// draft; if the transfer breaks, the remaining bytes are requested, provided that the host confirms that the file is
// the same. A file whose content contradicts its name or type is not stored (R32).

import { createHash, type Hash } from 'node:crypto';
import { outputCheck, type OutputCheck } from '../src/host/formats/output-check.ts';
import { kindFault, type Promised } from '../src/host/formats/output-kind.ts';
import type { FileRecord } from '../src/results/row-record.ts';
import type { OutputFile } from '../src/service-client/contract/run.ts';
import type { Arriving, Download } from '../src/host/http/download.ts';
import { FEW_TRIES, FileFault, HostFault, ONE_TRY } from '../src/host/http/download-faults.ts';
import type { Store } from '../src/store/store.ts';
import { extensionOf } from './file-extension.ts';

export type FileJob = {
  readonly download: Download;
  readonly store: Store;
  readonly service: string;
  readonly file: OutputFile;
  /** The path of the file without its extension. */
  readonly stem: string;
  readonly limit: { readonly bytes: number; readonly reason: string };
  /** After an abort nothing more is written. */
  readonly signal: AbortSignal;
};

/** Files up to this size are held in memory. */
const SMALL_BYTES = 1 << 20;
/** A transfer that breaks after fewer bytes is not continued. */
const HEADWAY_BYTES = 1 << 20;

/** Throws a FileFault or a HostFault, the store's errors, and the reason of the signal. */
export async function fetchFile(job: FileJob): Promise<FileRecord> {
  const { download, file, service, signal, stem, store } = job;
  const arriving = await download(file.url, { service, signal });
  const chunks = limited(job, arriving);
  try {
    const { head, isWhole } = await headOf(chunks);
    if (!isWhole) await requireKind(job, head);
    const path = `${stem}.${await extensionOf(head, isWhole, file.filename)}`;
    if (!isWhole) return await fetchLarge(job, { arriving, path, head, chunks });
    const check = outputCheck(promisedBy(file));
    check.add(head);
    await requireDelivered(check, FEW_TRIES);
    signal.throwIfAborted();
    await store.write(path, head, 'cached');
    return recordOf(job, path, head.byteLength, createHash('sha256').update(head));
  } finally {
    await chunks.return(undefined);
  }
}

const promisedBy = ({ filename, type }: OutputFile): Promised => ({ name: filename, type });

/** Stops the download of a file of the wrong kind after its first bytes. */
async function requireKind({ file }: FileJob, head: Uint8Array): Promise<void> {
  const fault = await kindFault(head, promisedBy(file));
  if (fault !== undefined) throw new FileFault(fault, FEW_TRIES);
}

async function requireDelivered(check: OutputCheck, tries: number): Promise<void> {
  const fault = await check.fault();
  if (fault !== undefined) throw new FileFault(fault, tries);
}

const recordOf = ({ file }: FileJob, path: string, bytes: number, hash: Hash): FileRecord => ({
  path,
  bytes,
  sha256: hash.digest('hex'),
  name: file.filename,
});

/** The chunks, until an abort or the size limit. */
async function* limited(job: FileJob, { bytes, from, chunks }: Arriving): AsyncGenerator<Uint8Array> {
  const { limit, signal } = job;
  let at = from;
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    at += chunk.byteLength;
    if (Math.max(at, bytes ?? 0) > limit.bytes) throw new FileFault(limit.reason, ONE_TRY);
    yield chunk;
  }
}

type Head = { readonly head: Uint8Array; readonly isWhole: boolean };

/** The first bytes of a file, or the whole file if it is small. */
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

type LargeFile = {
  readonly arriving: Arriving;
  readonly path: string;
  readonly head: Uint8Array;
  readonly chunks: AsyncGenerator<Uint8Array>;
};

async function fetchLarge(job: FileJob, { arriving, path, head, chunks }: LargeFile): Promise<FileRecord> {
  const { signal, store } = job;
  const draft = await store.draft(path);
  const [hash, check] = [createHash('sha256'), outputCheck(promisedBy(job.file))];
  let bytes = 0;
  const take = async (some: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> => {
    for await (const chunk of some) {
      signal.throwIfAborted();
      await draft.write(chunk);
      hash.update(chunk);
      check.add(chunk);
      bytes += chunk.byteLength;
    }
  };
  try {
    await take([head]);
    for (let pending = chunks, isWhole = false; !isWhole;) {
      const from = bytes;
      try {
        await take(pending);
        isWhole = true;
      } catch (error) {
        const mayGoOn = error instanceof HostFault && bytes - from >= HEADWAY_BYTES;
        if (!mayGoOn || arriving.validator === undefined) throw error;
        pending = await restFrom(job, bytes, arriving.validator);
      }
    }
    const { bytes: whole = bytes } = arriving;
    if (bytes !== whole)
      throw new HostFault(hostOf(job), `the transfer ended after ${bytes} of ${whole} bytes`, FEW_TRIES);
    // A retry downloads the whole file again, so this check waits longer.
    await requireDelivered(check, ONE_TRY);
    signal.throwIfAborted();
    await draft.commit();
    return recordOf(job, path, bytes, hash);
  } finally {
    await draft.discard();
  }
}

const hostOf = ({ file }: FileJob): string => new URL(file.url).host;

/** Throws a HostFault if the host sends another file, or all of it. */
async function restFrom(job: FileJob, from: number, validator: string): Promise<AsyncGenerator<Uint8Array>> {
  const { download, file, service, signal } = job;
  const transfer = await download(file.url, { service, signal, rest: { from, validator } });
  if (transfer.validator === validator && transfer.from === from) return limited(job, transfer);
  // The response has to be closed.
  for await (const _ of transfer.chunks) break;
  throw new HostFault(hostOf(job), 'the file changed during the download', FEW_TRIES);
}
