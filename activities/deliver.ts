// Brings the files of a succeeded run into the batch folder (R14): succeeded means delivered. Their names are ours; the
// service's names are data, and its addresses are read again before each further try because they expire.

import { createHash, type Hash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { fileTypeFromBuffer } from 'file-type';
import { reasonOf } from '../src/errors.ts';
import type { OutputFile, Run } from '../src/run-service/contract/run.ts';
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

const TRIES = 4;
const TRY_AGAIN_MS = 400;

export async function deliver(hands: Hands, open: OpenBatch, runId: string, key: string): Promise<Delivery> {
  let reason = '';
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const run = await open.service.getRun(runId);
    try {
      const delivery = run && (await deliverOnce(hands, open.store, run, key));
      if (delivery) return delivery;
      reason = 'the run succeeded without any output';
    } catch (error) {
      reason = reasonOf(error);
    }
    open.service.forget(runId);
    if (tries < TRIES) await wait(TRY_AGAIN_MS * tries);
  }
  return { outcome: 'failed', reason: `outputs_missing: ${reason}`, files: [], texts: [] };
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
  await store.write(path, bytes, 'cached');
  return bytes.byteLength;
}

async function writeLarge(
  store: Store,
  path: string,
  head: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
  hash: Hash,
): Promise<number> {
  const draft = await store.draft(path);
  let bytes = head.byteLength;
  try {
    await draft.write(head);
    for (let next = await rest.next(); !next.done; next = await rest.next()) {
      await draft.write(next.value);
      hash.update(next.value);
      bytes += next.value.byteLength;
    }
    await draft.commit();
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
