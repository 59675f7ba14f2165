// Writes the receipt of a batch to where the user wants it, and checks one that the user has.

import { basename, dirname } from 'node:path';
import { checkReceipt } from '../../audit/check-receipt.ts';
import { RECEIPT_START } from '../../audit/receipt-lines.ts';
import { RECEIPT_FILE, writeReceipt, type WrittenReceipt } from '../../audit/receipt.ts';
import { problem } from '../../errors/error.ts';
import type { Summary } from '../../results/summary.ts';
import { linesOf } from '../../store/lines.ts';
import { openStore } from '../../store/open-store.ts';
import { startOf } from '../../store/start-of.ts';
import type { Store } from '../../store/store.ts';
import { filePlaceOf } from '../connect-options.ts';
import type { FoundBatch } from './found-batch.ts';

/** A receipt in a file: its path, and the hash of its last line, which stands for all of it. */
export type ReceiptFile = WrittenReceipt & {
  /** The path of the receipt. */
  readonly file: string;
};

/** Without a path, the batch folder has the receipt. Throws E602 for a file that is something else. */
export async function writeReceiptFile(
  { store, file }: FoundBatch,
  summary: Summary,
  given: string | URL | undefined,
): Promise<ReceiptFile> {
  const place = given === undefined ? undefined : filePlaceOf(given);
  const into = place === undefined ? store : openStore(dirname(place));
  const name = place === undefined ? RECEIPT_FILE : basename(place);
  const path = place ?? store.localPath?.(name) ?? `${store.location}/${name}`;
  if ((await into.exists(name)) && !(await isReceipt(into, name)))
    throw problem('E602', {
      what: `the receipt would replace ${path}, which is no receipt`,
      hint: 'name a new file; without a file, the receipt is written to the batch folder',
    });
  return { file: path, ...(await writeReceipt({ store, file, summary }, into, name)) };
}

const isReceipt = async (store: Store, name: string): Promise<boolean> =>
  (await startOf(store, name, RECEIPT_START.length)) === RECEIPT_START;

/** What a receipt says that holds. */
export type CheckedReceipt = {
  /** The path of the receipt. */
  readonly file: string;
  /** The id of its batch. */
  readonly batch: string;
  /** What distinguishes the batch from all others. */
  readonly mark: string;
  /** The number of its lines. */
  readonly lines: number;
  /** The hash of its last line, which stands for all of it. */
  readonly sha256: string;
  /** The sums of its last line. */
  readonly total: Omit<Awaited<ReturnType<typeof checkReceipt>>['total'], 'kind' | 'sha256'>;
};

/** Needs only the file. Throws E520 for the first wrong line. */
export async function readReceiptFile(given: string | URL): Promise<CheckedReceipt> {
  const file = filePlaceOf(given);
  const content = linesOf(openStore(dirname(file)), basename(file));
  const { head, total, lines, sha256 } = await checkReceipt(file, content);
  const { kind: _kind, sha256: _hash, ...sums } = total;
  const { batch, mark } = head;
  return { file, batch, mark, lines, sha256, total: sums };
}
