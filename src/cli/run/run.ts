// run: checks the sheet, starts its batch and follows it. submit: the same, without following.

import { EXIT } from '../../errors/error.ts';
import { findBatch } from '../../library/handle/find-batch.ts';
import type { FoundBatch } from '../../library/handle/found-batch.ts';
import type { Session } from '../../library/session.ts';
import { printerFor, type Context, type Printer } from '../context.ts';
import { checkFlags, configOf } from '../flags/batch-options.ts';
import { withOwnGpus } from '../flags/gpu-flags.ts';
import type { RunFlags, SheetFlags } from '../flags/flags.ts';
import { printEnd } from '../follow/batch-end.ts';
import { followAsking } from '../follow/follow.ts';
import { printEndedRows } from '../follow/row-stream.ts';
import { nextOfEnded, sayLeft } from '../next-command.ts';
import { serversFor } from '../command-session.ts';
import { isInto, sendInto } from './into.ts';
import { rowsInto, sayDone, sendNew, type Sending, type SentSheet } from './run-new-batch.ts';
import { isPipeline, refuseBothSheets, sheetOr } from './from.ts';
import { batchOfWatched, continueWatched, refuseUnwatchable, watchSheet } from './watch-sheet.ts';

export async function run(this: Context, flags: RunFlags, sheet?: string): Promise<number> {
  if (isPipeline(sheet)) return (await import('../pipeline/run-pipeline.ts')).runPipeline(this, flags, sheet);
  // Asks only if the user can answer.
  const asks = flags.output === 'text' && sheet !== '-';
  return withServers({ context: this, command: 'run', flags, sheet, asks }, (sending) =>
    sending.flags.watch ? runWatched(sending) : runOnce(sending),
  );
}

async function runOnce(sending: Sending): Promise<number> {
  const sent = await sendSheet(sending);
  const code = await endOf(sending, sent);
  return code === EXIT.ok && sent.isUnread === true ? EXIT.someRowsFailed : code;
}

async function endOf({ context, flags, printer }: Sending, sent: SentSheet): Promise<number> {
  const batchFolder = sent.batch;
  if (sent.kind === 'running') {
    const { session } = sent;
    return followAsking({ session, batchFolder, printer, process: context.process });
  }
  if (flags.output === 'jsonl') await printEndedRows(batchFolder, context.process.stdout);
  return printEnd({ printer, batchFolder }, sent.summary);
}

/** The batch of a watched sheet goes on, whatever the sheet contains now. */
async function runWatched(sending: Sending): Promise<number> {
  const { flags, sheet, servers } = sending;
  const followed = isInto(flags) ? undefined : await batchOfWatched(servers.config, flags, sheet);
  if (followed !== undefined) return continueWatched(sending, followed);
  const made = isInto(flags) ? rowsInto(flags.into) : await sendNew(sending);
  switch (made.kind) {
    case 'running':
      return watchSheet({ ...sending, hasLimits: true }, made.session, made.batch);
    case 'ended':
      return continueWatched(sending, made.batch);
    case 'into':
      return continueWatched(sending, await findBatch(servers.config, made.into));
  }
}

export async function submit(this: Context, flags: SheetFlags, sheet?: string): Promise<number> {
  if (isPipeline(sheet))
    return (await import('../pipeline/run-pipeline.ts')).submitPipeline(this, flags, sheet);
  return withServers({ context: this, command: 'submit', flags, sheet, asks: false }, async (sending) => {
    const sent = await sendSheet(sending);
    const session = sent.kind === 'running' ? sent.session : undefined;
    await printSubmitted(sending.printer, flags, sent.batch, session);
    if (sent.kind === 'running') sayLeft(sending.printer, sent.session, sent.batch);
    else sending.printer.next(...nextOfEnded(sent.batch, sent.summary));
    return EXIT.ok;
  });
}

/** Sends the rows of a sheet to a batch of their own, or to the one that the user names. */
async function sendSheet(sending: Sending): Promise<SentSheet> {
  const { flags } = sending;
  const made = isInto(flags) ? rowsInto(flags.into) : await sendNew(sending);
  if (made.kind === 'into') return sendInto({ ...sending, flags: { ...flags, into: made.into } });
  if (made.kind === 'ended') sayDone(sending, made.batch);
  return made;
}

/** Prints the batch id on stdout, even for a batch that exists or has ended. */
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

/** The servers are released when `send` has ended. */
async function withServers(
  { command, sheet: named, flags: asFlags, ...request }: SendRequest,
  send: (sending: Sending) => Promise<number>,
): Promise<number> {
  refuseBothSheets(command, asFlags, named);
  const sheet = sheetOr(named, asFlags);
  const printer = printerFor(request.context, asFlags);
  await checkFlags(sheet, asFlags);
  refuseUnwatchable(asFlags, sheet);
  await using servers = serversFor(configOf(asFlags), printer);
  const flags = await withOwnGpus(servers, asFlags);
  return await send({ ...request, flags, sheet, printer, servers });
}
