// verify: compares summary.json with the batch's parts and files and with the service's run list; writes and checks receipts.

import type { Finding } from '../audit/verify.ts';
import { EXIT, problem } from '../errors/error.ts';
import { shellWord, terminalLine } from '../errors/outside-text.ts';
import { findBatch } from '../library/found-batch.ts';
import { verifyBatch } from '../library/verification.ts';
import { checkGiven } from './receipt.ts';
import { printerFor, type Context } from './context.ts';
import { configOf } from './batch-options.ts';
import { verificationJson } from './json/verification.ts';

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
    if (name !== undefined || flags.receipt !== undefined)
      throw problem('E602', checkedAlone(flags.checkReceipt));
    return checkGiven(printer, flags.checkReceipt, flags.output);
  }
  const found = await findBatch(configOf(flags).out, name);
  const {
    findings: all,
    holds,
    listed,
    receipt,
  } = await verifyBatch(configOf({}), found, {
    files: flags.files,
    receipt: flags.receipt === '' ? true : (flags.receipt ?? false),
  });
  const wrong = all.filter((one) => !one.holds);
  if (flags.output === 'json')
    printer.json(
      verificationJson({
        batch: found.batch,
        holds,
        lists_checked: listed,
        findings: all,
        receipt: receipt && { ...receipt, batch: found.batch, holds },
      }),
    );
  else for (const finding of all) printer.data(lineOf(finding));
  // stdout has one document: `holds` says the same.
  if (!holds && flags.output === 'json') return EXIT.unexpected;
  if (!holds) throw problem('E510', { batch: found.batch, wrong: wrong.map(({ claim }) => claim) });
  printer.notice(`${found.batch} adds up${listed ? '' : '; the run list of the service was not checked'}`);
  if (receipt) printer.notice(`its receipt is ${receipt.file}; sha256 ${receipt.sha256}`);
  return EXIT.ok;
}

const checkedAlone = (file: string) => ({
  what: '--check-receipt takes neither a batch nor --receipt',
  hint: `a receipt is checked without its batch: runsheet verify --check-receipt ${shellWord(file)}`,
});

const lineOf = ({ claim, holds, message }: Finding): string =>
  terminalLine(`${holds ? 'ok ' : 'NOT'}  ${claim}: ${message}`);
