// verify: compares summary.json with the batch's parts and files and with the service's run list; writes and checks receipts.

import type { Finding } from '../../audit/verify.ts';
import { EXIT, problem } from '../../errors/error.ts';
import { shellWord, terminalLine } from '../../errors/outside-text.ts';
import { isS3Address } from '../../host/batches-address.ts';
import { findBatch, type FoundBatch } from '../../library/handle/found-batch.ts';
import { verifyBatch, type Verification } from '../../library/handle/verification.ts';
import { withLocalService } from '../session.ts';
import { checkGiven } from './receipt.ts';
import { printerFor, type Context, type Printer } from '../context.ts';
import { configOf } from '../flags/batch-options.ts';
import { nextCommand, sayNext, type Next } from '../next-command.ts';
import { verificationJson } from '../json/verification.ts';

type Flags = {
  readonly files: boolean;
  readonly lists: boolean;
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
    // Only a receipt in S3 needs settings: its keys.
    if (isS3Address(flags.checkReceipt)) configOf(flags);
    return checkGiven(printer, flags.checkReceipt, flags.output);
  }
  const found = await findBatch(configOf(flags).out, name);
  const verified = (): Promise<Verification> =>
    verifyBatch(configOf({}), found, {
      files: flags.files,
      lists: flags.lists,
      receipt: flags.receipt === '' ? true : (flags.receipt ?? false),
    });
  // The list of a rehearsal is in its own run service.
  const verification = flags.lists
    ? await withLocalService(flags, found, printer, verified)
    : await verified();
  return say(printer, flags, found, verification);
}

function say(
  printer: Printer,
  flags: Flags,
  found: FoundBatch,
  { findings: all, holds, listed, unread, receipt }: Verification,
): number {
  const wrong = all.filter((one) => !one.holds);
  if (flags.output === 'json')
    printer.json(
      verificationJson({
        batch: found.batch,
        holds,
        lists_checked: listed,
        lists_unread: unread,
        findings: all,
        receipt: receipt && { ...receipt, batch: found.batch, holds },
      }),
    );
  else {
    for (const finding of all) printer.data(lineOf(finding));
    if (unread !== undefined)
      printer.data(terminalLine(`?    the run list of the service: not read: ${unread}`));
  }
  // stdout has one document: `holds` says the same.
  if (!holds && flags.output === 'json') return EXIT.unexpected;
  if (!holds) throw problem('E510', { batch: found.batch, wrong: wrong.map(({ claim }) => claim) });
  if (unread === undefined || flags.output === 'json')
    printer.notice(`${found.batch} adds up${listed ? '' : withoutLists(flags, unread)}`);
  if (receipt) printer.notice(`its receipt is ${receipt.file}; sha256 ${receipt.sha256}`);
  const next: Next = receipt
    ? ['check', `runsheet verify --check-receipt ${shellWord(receipt.file)}`]
    : ['receipt', nextCommand('verify', found, { more: '--receipt' })];
  if (unread !== undefined && flags.output !== 'json')
    throw problem('E522', { batch: found.batch, reason: unread });
  sayNext(printer, flags.output, next);
  return unread === undefined ? EXIT.ok : EXIT.unreachable;
}

const withoutLists = ({ lists }: Flags, unread: string | undefined): string =>
  unread !== undefined
    ? ' in its folder; the run list of the service was not read'
    : lists
      ? '; the service has no run list'
      : ' in its folder';

const checkedAlone = (file: string) => ({
  what: '--check-receipt takes neither a batch nor --receipt',
  hint: `a receipt is checked without its batch: runsheet verify --check-receipt ${shellWord(file)}`,
});

const lineOf = ({ claim, holds, message }: Finding): string =>
  terminalLine(`${holds ? 'ok ' : 'NOT'}  ${claim}: ${message}`);
