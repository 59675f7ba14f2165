// verify: compares summary.json with the batch's parts and files and with the service's run list.

import type { FlagsOf } from '../flags/flags.ts';
import type { verifyFlags } from './batch-flags.ts';
import type { Finding } from '../../audit/verify.ts';
import { EXIT, problem } from '../../errors/error.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import { findBatch } from '../../library/handle/find-batch.ts';
import type { FoundBatch } from '../../library/handle/found-batch.ts';
import { verifyBatch, type Verification } from '../../library/handle/verification.ts';
import { withLocalService } from '../command-session.ts';
import { printerFor, type Context, type Printer } from '../context.ts';
import { configOf } from '../flags/batch-options.ts';
import { nextCommand } from '../next-command.ts';
import { verificationSchema } from '../json/documents.ts';
import { shaped } from '../json/shape.ts';

type VerifyFlags = FlagsOf<typeof verifyFlags>;

export default async function verify(
  this: Context,
  flags: VerifyFlags,
  name: string | undefined,
): Promise<number> {
  const printer = printerFor(this, flags);
  const batchFolder = await findBatch(configOf(flags), name);
  const verified = (): Promise<Verification> =>
    verifyBatch(configOf({}), batchFolder, { files: flags.files, lists: flags.lists });
  // A rehearsal's run list is in its own run service.
  const verification = flags.lists
    ? await withLocalService(flags, batchFolder, printer, verified)
    : await verified();
  return say(printer, flags, batchFolder, verification);
}

function say(
  printer: Printer,
  flags: VerifyFlags,
  batchFolder: FoundBatch,
  { findings: allFindings, holds, listed, unread }: Verification,
): number {
  const wrong = allFindings.filter((finding) => !finding.holds);
  if (flags.output === 'json')
    printer.json(
      shaped(verificationSchema, {
        batch: batchFolder.batch,
        holds,
        lists_checked: listed,
        lists_unread: unread,
        findings: allFindings,
      }),
    );
  else {
    for (const finding of allFindings) printer.data(lineOf(finding));
    if (unread !== undefined)
      printer.data(terminalLine(`?    the run list of the service: not read: ${unread}`));
  }
  // stdout carries one document, and its `holds` field says the same.
  if (!holds && flags.output === 'json') return EXIT.unexpected;
  if (!holds) throw problem('E510', { batch: batchFolder.batch, wrong: wrong.map(({ claim }) => claim) });
  if (unread === undefined || flags.output === 'json')
    printer.notice(`${batchFolder.batch} adds up${listed ? '' : withoutLists(flags, unread)}`);
  if (unread !== undefined && flags.output !== 'json')
    throw problem('E522', { batch: batchFolder.batch, reason: unread });
  printer.next(['open', nextCommand('open', batchFolder)]);
  return unread === undefined ? EXIT.ok : EXIT.unreachable;
}

const withoutLists = ({ lists }: VerifyFlags, unread: string | undefined): string =>
  unread !== undefined
    ? ' in its folder; the run list of the service was not read'
    : lists
      ? '; the service has no run list'
      : ' in its folder';

const lineOf = ({ claim, holds, message }: Finding): string =>
  terminalLine(`${holds ? 'ok ' : 'NOT'}  ${claim}: ${message}`);
