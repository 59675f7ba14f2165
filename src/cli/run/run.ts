// run: checks the sheet, starts its batch and follows it. submit: the same, without following.

import { EXIT } from '../../errors/error.ts';
import { findBatch } from '../../library/handle/find-batch.ts';
import type { FoundBatch } from '../../library/handle/found-batch.ts';
import type { Session } from '../../library/session.ts';
import type { Summary } from '../../results/summary.ts';
import { printerFor, type Context, type Printer } from '../context.ts';
import { checkFlags, configOf, withOwnGpus } from '../flags/batch-options.ts';
import type { RunFlags, SheetFlags } from '../flags/flags.ts';
import { printEnd } from '../follow/batch-end.ts';
import { followAsking } from '../follow/follow.ts';
import { printEndedRows } from '../follow/row-stream.ts';
import { nextOfEnded, sayLeft } from '../next-command.ts';
import { serversFor } from '../session.ts';
import { isInto, sendInto, type IntoFlags } from './into.ts';
import { sayDone, sendNew, type Sending } from './new-batch.ts';
import { isPipeline, refuseBothSheets, sheetOr } from './from.ts';
import { batchOfWatched, continueWatched, refuseUnwatchable, watchSheet } from './watch-sheet.ts';

export async function run(this: Context, flags: RunFlags, sheet?: string): Promise<number> {
  if (isPipeline(sheet)) return (await import('../pipeline/run-pipeline.ts')).runPipeline(this, flags, sheet);
  // Asks only if the user can answer.
  const asks = flags.output === 'text' && sheet !== '-';
  const request = { context: this, command: 'run', flags, sheet, asks };
  return send(request, {
    done: async ({ printer }, batchFolder, summary) => {
      if (flags.output === 'jsonl') await printEndedRows(batchFolder, this.process.stdout);
      return printEnd({ printer, batchFolder }, summary);
    },
    next: (sending, session, batchFolder) =>
      flags.watch
        ? watchSheet({ ...sending, hasLimits: true }, session, batchFolder)
        : followAsking({
            session,
            batchFolder,
            printer: sending.printer,
            process: this.process,
          }),
  });
}

export async function submit(this: Context, flags: SheetFlags, sheet?: string): Promise<number> {
  if (isPipeline(sheet))
    return (await import('../pipeline/run-pipeline.ts')).submitPipeline(this, flags, sheet);
  const request = { context: this, command: 'submit', flags, sheet, asks: false };
  return send(request, {
    done: async ({ printer }, batchFolder, summary) => {
      await printSubmitted(printer, flags, batchFolder);
      printer.next(...nextOfEnded(batchFolder, summary));
      return EXIT.ok;
    },
    next: async ({ printer }, session, batchFolder) => {
      await printSubmitted(printer, flags, batchFolder, session);
      sayLeft(printer, session, batchFolder);
      return EXIT.ok;
    },
  });
}

/** Prints the batch id on stdout, also for a batch that exists or has ended. */
async function printSubmitted(
  printer: Printer,
  { output }: SheetFlags,
  batchFolder: FoundBatch,
  session?: Session,
): Promise<void> {
  if (output !== 'json') printer.name(batchFolder.batch);
  // Loaded on demand: only -o json needs it.
  else await (await import('../batch/status.ts')).printBatchJson(printer, batchFolder, session);
}

type SendRequest = Pick<Sending, 'context' | 'flags' | 'asks'> & {
  readonly command: string;
  readonly sheet: string | undefined;
};

type Ways = {
  readonly next: (sending: Sending, session: Session, found: FoundBatch) => Promise<number>;
  readonly done: (sending: Sending, found: FoundBatch, summary: Summary) => Promise<number>;
};

async function send(
  { command, sheet: named, ...request }: SendRequest,
  { next, done }: Ways,
): Promise<number> {
  const { context, flags: asFlags } = request;
  refuseBothSheets(command, asFlags, named);
  const sheet = sheetOr(named, asFlags);
  const printer = printerFor(context, asFlags);
  await checkFlags(sheet, asFlags);
  refuseUnwatchable(asFlags, sheet);
  await using servers = serversFor(configOf(asFlags), printer);
  const flags = await withOwnGpus(servers, asFlags);
  const sending: Sending = {
    ...request,
    flags,
    sheet,
    printer,
    servers,
    next: (session, batchFolder) => next(sending, session, batchFolder),
    done: (batchFolder, summary) => done(sending, batchFolder, summary),
  };
  const into = async (wanted: IntoFlags): Promise<number> =>
    flags.watch
      ? continueWatched(sending, await findBatch(servers.config, wanted.into))
      : sendInto({ ...sending, flags: wanted });
  const followed = isInto(flags) ? undefined : await batchOfWatched(servers.config, flags, sheet);
  // Awaited here, because returning releases the servers.
  if (followed !== undefined) return await continueWatched(sending, followed);
  if (isInto(flags)) return await into(flags);
  return await sendNew(sending, {
    into: (batch) => into({ ...flags, into: batch }),
    whenDone: (batchFolder, summary) =>
      flags.watch ? continueWatched(sending, batchFolder) : sayDone(sending, batchFolder, summary),
  });
}
