// Writes the receipt of a batch to where the user wants it, and checks one that the user has.

import { createReadStream } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { checkReceipt } from '../audit/check-receipt.ts';
import { RECEIPT_START } from '../audit/receipt-lines.ts';
import { RECEIPT_FILE, writeReceipt, type WrittenReceipt } from '../audit/receipt.ts';
import { EXIT, problem } from '../errors/error.ts';
import { terminalLine } from '../errors/outside-text.ts';
import type { Summary } from '../results/summary.ts';
import { linesOf } from '../store/lines.ts';
import { openStore } from '../store/open-store.ts';
import type { FoundBatch } from '../library/found-batch.ts';
import type { Printer } from './context.ts';
import { count, money, plural } from './format.ts';

/** `given` is the file that the user named; empty: the batch folder has the receipt. */
export async function writeGiven(
  { store, file }: FoundBatch,
  summary: Summary,
  given: string,
): Promise<WrittenReceipt & { readonly file: string }> {
  const path = given === '' ? resolve(store.location, RECEIPT_FILE) : resolve(given);
  const into = openStore(dirname(path));
  const name = basename(path);
  if ((await into.exists(name)) && !(await isReceipt(path)))
    throw problem('E602', {
      what: `--receipt ${given} names a file that is no receipt`,
      hint: 'name a new file; without a file, the receipt is written to the batch folder',
    });
  return { file: path, ...(await writeReceipt({ store, file, summary }, into, name)) };
}

async function isReceipt(path: string): Promise<boolean> {
  const start = createReadStream(path, { encoding: 'utf8', end: RECEIPT_START.length - 1 });
  for await (const text of start) return text === RECEIPT_START;
  return false;
}

/** Throws E520 for the first wrong line. */
export async function checkGiven(printer: Printer, file: string, output: 'text' | 'json'): Promise<number> {
  const { head, total, lines, sha256 } = await checkReceipt(file, linesOf(createReadStream(file)));
  const { kind: _kind, sha256: _hash, ...sums } = total;
  const { batch, mark } = head;
  if (output === 'json') printer.json({ file, holds: true, batch, mark, lines, sha256, total: sums });
  else {
    printer.data(`ok   ${count(lines)} lines are as they were written: sha256 ${sha256}`);
    printer.data(
      `ok   ${plural(sums.rows, 'row')}, ${plural(sums.runs, 'run')}, ${count(sums.bought_twice)} bought twice, ${money(sums.cost_usd.total)} estimated`,
    );
  }
  printer.notice(terminalLine(`the receipt of batch ${batch} holds`));
  return EXIT.ok;
}
