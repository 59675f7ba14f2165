// run and submit without --into: create the batch of the sheet and start it, or attach to the batch with the same rows.

import { sourceOf, fromNotes } from './from.ts';
import { resolve } from 'node:path';
import type { Proposal } from '../../batches/propose.ts';
import type { Config } from '../../host/settings/config.ts';
import { type FoundBatch } from '../../library/handle/found-batch.ts';
import type { Servers } from '../../library/servers.ts';
import type { Session } from '../../library/session.ts';
import { estimateOf } from '../../library/start/estimate.ts';
import {
  begin,
  changeLimits,
  ignoredText,
  makeBatch,
  type Changed,
} from '../../library/start/start-batch.ts';
import { summaryOfDone } from '../../library/start/start-or-attach.ts';
import { noteWatched } from '../../library/watched/saved-sheet.ts';
import { errorMessage } from '../../errors/error.ts';
import type { Summary } from '../../results/summary.ts';
import { type Context, type Printer, nextLine } from '../context.ts';
import { limitsOf, requestOf, settingsOf } from '../flags/batch-options.ts';
import type { RunFlags, SheetFlags } from '../flags/flags.ts';
import { sameCommand } from '../next-command.ts';
import { printBatch } from './plan-text.ts';
import { forecastLines } from './forecast.ts';
import { policyOf } from './answer-policy.ts';

export type Sending = {
  readonly context: Context;
  readonly flags: RunFlags;
  readonly sheet: string;
  readonly printer: Printer;
  readonly servers: Servers;
  readonly asks: boolean;
};

/** The result of sending a sheet: its batch runs, or it has ended before, so nothing was sent. */
export type SentSheet =
  | (SentRows & { readonly kind: 'running'; readonly session: Session })
  | (SentRows & { readonly kind: 'ended'; readonly summary: Summary });

/** `isUnread`: rows of the sheet could not be read, and are not in the batch. */
type SentRows = { readonly batch: FoundBatch; readonly isUnread?: boolean };

/** The user adds the rows of the sheet to this batch instead. */
export const rowsInto = (batch: string) => ({ kind: 'into', into: batch }) as const;

/** The messages while a batch is proposed. */
export const shownWith = (printer: Printer, config: Config) => ({
  ...fromNotes(printer),
  show: async ({ draft }: Proposal): Promise<void> => {
    if (draft === undefined) return;
    printBatch(printer, config, draft);
    for (const line of forecastLines(await estimateOf(config.out, draft))) printer.notice(line);
  },
});

export async function sendNew(sending: Sending): Promise<SentSheet | ReturnType<typeof rowsInto>> {
  const { context, flags, sheet, printer, servers, asks } = sending;
  const { config } = servers;
  const { process } = context;
  const policy = policyOf({ printer, process, asks });
  const request = requestOf(config, flags, policy.ask !== undefined && !flags.yes);
  const rows = await sourceOf(config, context, flags, sheet);
  const made = await makeBatch(servers, request, rows, {
    ...policy,
    ...shownWith(printer, config),
  });
  if ('into' in made) return rowsInto(made.into);
  const summary = await summaryOfDone(made);
  if (summary) return { kind: 'ended', batch: made, summary };
  if (made.laidOut === undefined) printBatch(printer, config, made);
  if (flags.watch && made.laidOut !== undefined)
    await noteWatched(made, { path: resolve(sheet), deployment: flags.deployment ?? '' });
  const { session, isAttached, ...changed } = await begin(servers, made, limitsOf(flags));
  if (isAttached) {
    printer.notice(`This sheet is already batch ${made.batch}. Attached.`);
    sayIgnored(printer, flags, made);
    sayChanged(printer, changed);
  }
  return { kind: 'running', batch: made, session };
}

export function sayIgnored(printer: Printer, flags: SheetFlags, batchFolder: FoundBatch): void {
  const ignored = ignoredText(batchFolder, settingsOf(flags));
  if (ignored !== undefined) printer.notice(printer.paint('yellow', ignored));
}

function sayChanged(printer: Printer, { note, refused }: Changed): void {
  if (note !== undefined) printer.notice(note);
  if (refused !== undefined) printer.notice(printer.paint('yellow', errorMessage(refused)));
}

export const giveLimits = async (
  { printer, flags }: Pick<Sending, 'printer' | 'flags'>,
  session: Session,
  batchFolder: FoundBatch,
): Promise<void> => sayChanged(printer, await changeLimits(session, batchFolder, limitsOf(flags)));

export function sayDone({ context: { args = [] }, printer, flags }: Sending, batchFolder: FoundBatch): void {
  printer.notice(
    `This sheet is batch ${batchFolder.batch}, which has ended. To make a new batch of the same sheet:`,
  );
  printer.notice(nextLine(['new', sameCommand(args, args[0] ?? 'run', { add: ['--again'] })]));
  sayIgnored(printer, flags, batchFolder);
}
