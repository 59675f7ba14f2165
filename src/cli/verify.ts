// verify: compares summary.json with the batch's parts and files and with the service's run list; writes and checks receipts.

import type { Finding } from '../audit/verify.ts';
import { EXIT, problem } from '../errors/error.ts';
import { terminalLine } from '../errors/outside-text.ts';
import { findBatch } from '../library/found-batch.ts';
import { verification } from '../library/verification.ts';
import { checkGiven, writeGiven } from './receipt.ts';
import { summaryOfDone } from '../library/start-or-attach.ts';
import { printerFor, type Context } from './context.ts';
import { configOf } from './batch-options.ts';

type Flags = {
  readonly files: boolean;
  /** Empty: without a file. */
  readonly receipt?: string;
  readonly checkReceipt?: string;
  readonly out?: string;
  readonly output: 'text' | 'json';
};

export default async function verify(this: Context, flags: Flags, name: string | undefined): Promise<number> {
  const printer = printerFor(this);
  if (flags.checkReceipt !== undefined) {
    if (name !== undefined || flags.receipt !== undefined) throw problem('E602', CHECKED_ALONE);
    return checkGiven(printer, flags.checkReceipt, flags.output);
  }
  const found = await findBatch(configOf(flags).out, name);
  const summary = await summaryOfDone(found);
  if (summary === undefined) throw problem('E509', { batch: found.batch });
  const { findings: all, holds, listed } = await verification(configOf({}), found, summary, flags.files);
  const wrong = all.filter((one) => !one.holds);
  // A receipt states what adds up only.
  const receipt =
    flags.receipt === undefined || !holds ? undefined : await writeGiven(found, summary, flags.receipt);
  // Rows that are sent again meanwhile may be in only one half of what was read.
  if ((await summaryOfDone(found))?.ended_at !== summary.ended_at)
    throw problem('E509', { batch: found.batch });
  if (flags.output === 'json')
    printer.json({ batch: found.batch, holds, findings: all, ...(receipt && { receipt }) });
  else for (const finding of all) printer.data(lineOf(finding));
  if (!holds) throw problem('E510', { batch: found.batch, wrong: wrong.map(({ claim }) => claim) });
  printer.notice(`${found.batch} adds up${listed ? '' : '; the run list of the service was not checked'}`);
  if (receipt) printer.notice(`its receipt is ${receipt.file}; sha256 ${receipt.sha256}`);
  return EXIT.ok;
}

const CHECKED_ALONE = {
  what: '--check-receipt takes neither a batch nor --receipt',
  hint: 'a receipt is checked without its batch: runsheet verify --check-receipt <file>',
};

const lineOf = ({ claim, holds, message }: Finding): string =>
  terminalLine(`${holds ? 'ok ' : 'NOT'}  ${claim}: ${message}`);
