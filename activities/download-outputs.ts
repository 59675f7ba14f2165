// Brings the files of a succeeded run into the batch folder (R14): succeeded means delivered. Their names are ours; the
// service's names are data, and its addresses are read again before each further try because they expire.

import { createHash, type Hash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { fileTypeFromBuffer } from 'file-type';
import { reasonOf } from '../src/errors.ts';
import { isTerminal, type OutputFile, type Run } from '../src/run-service/contract/run.ts';
import type { FileRecord } from '../src/results/record.ts';
import { folderNameOf } from '../src/sheet/keys.ts';
import type { Store } from '../src/store/store.ts';
import type { Hands, OpenBatch } from './hands.ts';

export type Delivery = {
  readonly outcome: 'succeeded' | 'failed';
  readonly reason?: string | undefined;
  readonly files: readonly FileRecord[];
  readonly texts: readonly string[];
};

/**
 * What a row may spend on its files before it fails: a try that does not get them costs one, which makes a minute of them; a
 * run that is shown as ended without any costs two, which makes a few seconds.
 */
const PATIENCE = 8;
const EMPTY_COSTS = 2;
const AGAIN_MS = 400;
const AGAIN_MAX_MS = 20_000;

/** The batch folder failed, which says nothing about the run. */
class FolderFault extends Error {
  override readonly name = 'FolderFault';
}

/**
 * Delivered, or failed once the files were asked for often enough. Throws where the batch folder or the service itself
 * fails, to be tried again as a whole; with `isLastResort` a run that cannot be read is taken for one without files.
 */
export async function deliver(
  hands: Hands,
  open: OpenBatch,
  runId: string,
  key: string,
  isLastResort = false,
): Promise<Delivery> {
  let spent = 0;
  for (let tries = 1; ; tries += 1) {
    const { delivery, reason, costs } = await attemptDelivery(hands, open, { runId, key, isLastResort });
    if (delivery) return delivery;
    spent += costs;
    if (spent >= PATIENCE)
      return { outcome: 'failed', reason: `outputs_missing: ${reason}`, files: [], texts: [] };
    open.service.forget(runId);
    await wait(Math.min(AGAIN_MAX_MS, AGAIN_MS * 2 ** (tries - 1)));
  }
}

type Attempted = { readonly delivery?: Delivery; readonly reason: string; readonly costs: number };

async function attemptDelivery(
  hands: Hands,
  open: OpenBatch,
  { runId, key, isLastResort }: { runId: string; key: string; isLastResort: boolean },
): Promise<Attempted> {
  let run: Run | undefined;
  try {
    run = await open.service.getRun(runId);
  } catch (error) {
    if (!isLastResort) throw error;
    return { reason: `the run cannot be read: ${reasonOf(error)}`, costs: PATIENCE };
  }
  if (!run) return { reason: 'the service knows no such run any more', costs: 1 };
  try {
    const delivery = await deliverOnce(hands, open.store, run, key);
    if (delivery) return { delivery, reason: '', costs: 0 };
    // Its success was seen once; where it is shown as running again, it is the statement that is wrong.
    if (!isTerminal(run.status)) return { reason: `the run is shown as ${run.status} again`, costs: 1 };
    return { reason: 'the run succeeded without any output', costs: EMPTY_COSTS };
  } catch (error) {
    if (error instanceof FolderFault) throw error.cause;
    return { reason: reasonOf(error), costs: 1 };
  }
}

/** Tells what the folder did wrong from what a file's host did. */
async function inFolder<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new FolderFault(reasonOf(error), { cause: error });
  }
}

/** undefined while the run shows no output at all. */
async function deliverOnce(hands: Hands, store: Store, run: Run, key: string): Promise<Delivery | undefined> {
  const listed = run.outputs.flatMap(({ nodeId, files }) => files.map((file) => ({ nodeId, file })));
  const texts = run.outputs.flatMap((output) => output.texts);
  if (listed.length + texts.length === 0) return undefined;
  const files: FileRecord[] = [];
  for (const [index, { nodeId, file }] of listed.entries()) {
    const stem = `outputs/${folderNameOf(key)}/${index + 1}`;
    files.push({
      ...(await fetchInto(hands, store, stem, file)),
      ...(nodeId === undefined ? {} : { node: nodeId }),
    });
  }
  return { outcome: 'succeeded', files, texts };
}

/** Files up to this size are held in memory on their way. */
const SMALL_BYTES = 1 << 20;

/** Fetches a file to `<stem>.<extension>`; the extension comes from its first bytes. */
async function fetchInto(hands: Hands, store: Store, stem: string, file: OutputFile): Promise<FileRecord> {
  const chunks = hands.download(file.url)[Symbol.asyncIterator]();
  const head = await takeHead(chunks);
  const path = `${stem}.${await extensionOf(head.bytes, file.filename)}`;
  const hash = createHash('sha256').update(head.bytes);
  const bytes = head.isWhole
    ? await writeSmall(store, path, head.bytes)
    : await writeLarge(store, path, head.bytes, chunks, hash);
  return { path, bytes, sha256: hash.digest('hex'), name: file.filename };
}

/** The beginning of a file, or all of it. */
async function takeHead(
  chunks: AsyncIterator<Uint8Array>,
): Promise<{ readonly bytes: Uint8Array; readonly isWhole: boolean }> {
  const taken: Uint8Array[] = [];
  let bytes = 0;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    taken.push(next.value);
    bytes += next.value.byteLength;
    if (bytes > SMALL_BYTES) return { bytes: Buffer.concat(taken), isWhole: false };
  }
  const [only] = taken;
  return { bytes: taken.length === 1 && only ? only : Buffer.concat(taken), isWhole: true };
}

async function writeSmall(store: Store, path: string, bytes: Uint8Array): Promise<number> {
  await inFolder(store.write(path, bytes, 'cached'));
  return bytes.byteLength;
}

async function writeLarge(
  store: Store,
  path: string,
  head: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
  hash: Hash,
): Promise<number> {
  const draft = await inFolder(store.draft(path));
  let bytes = head.byteLength;
  try {
    await inFolder(draft.write(head));
    for (let next = await rest.next(); !next.done; next = await rest.next()) {
      await inFolder(draft.write(next.value));
      hash.update(next.value);
      bytes += next.value.byteLength;
    }
    await inFolder(draft.commit());
  } finally {
    await draft.discard();
  }
  return bytes;
}

/** Text has no signature: its own extension is believed where it is one of these. */
const PLAIN = new Set(['txt', 'json', 'csv', 'md', 'srt', 'vtt', 'obj', 'ply']);

async function extensionOf(head: Uint8Array, name: string): Promise<string> {
  const known = await fileTypeFromBuffer(head);
  const named = name.split('.').at(-1)?.toLowerCase() ?? '';
  return known?.ext ?? (PLAIN.has(named) ? named : 'bin');
}
