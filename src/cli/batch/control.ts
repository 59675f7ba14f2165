// pause, scale, cancel: control a running batch. Each returns once the batch has acknowledged the command.

import { definedOnly } from '../../options/defined-only.ts';
import type { ControlFlags, LimitFlags } from '../flags/flags.ts';
import { EXIT, problem } from '../../errors/error.ts';
import { rowsDone } from '../../batch/accounting/tally.ts';
import type { Acknowledged, CommandOptions } from '../../temporal/batch-control.ts';
import { findBatch } from '../../library/handle/find-batch.ts';
import { refOf, type FoundBatch } from '../../library/handle/found-batch.ts';
import { configOf, limitsOf } from '../flags/batch-options.ts';
import { printerFor, type Context, type Printer } from '../context.ts';
import { follow } from '../follow/follow.ts';
import { toFollow, toContinue, nextCommand, nextOfEnded } from '../next-command.ts';
import { ifPaid } from '../format.ts';
import { plural } from '../../options/text/printed-numbers.ts';
import { printBatchJson } from './status.ts';
import { askLiving, serversFor, withSession, type Session } from '../command-session.ts';
import { isStarted, isUnderWay, summaryOfDone } from '../../library/start/start-or-attach.ts';

export const commandOptions = ({
  reason,
  timeout,
}: Pick<ControlFlags, 'reason' | 'timeout'>): CommandOptions => definedOnly({ reason, timeoutMs: timeout });

export async function pause(this: Context, flags: ControlFlags, name: string): Promise<void> {
  const printer = printerFor(this, flags);
  const batchFolder = await findBatch(configOf(flags), name);
  if (await reportIfEnded(batchFolder, printer, 'pause')) return;
  const done = await whileRunning(flags, batchFolder, printer, (session) =>
    session.batches.pause(refOf(batchFolder), commandOptions(flags)),
  );
  if (done === undefined) {
    // The batch may run on servers that this command cannot see.
    if (await isStarted(batchFolder)) throw await notRunning(flags, batchFolder, printer);
    return sayNeverStarted(batchFolder, printer, '; there is nothing to pause');
  }
  const { progress, note = 'paused' } = done;
  printer.notice(
    `${note}; ${plural(progress.running, 'run')} ${progress.running === 1 ? 'finishes' : 'finish'}`,
  );
  printer.next(toContinue(batchFolder));
}

export async function scale(this: Context, flags: ControlFlags & LimitFlags, name: string): Promise<number> {
  const printer = printerFor(this, flags);
  const limits = limitsOf(flags);
  if (Object.keys(limits).length === 0)
    throw problem('E602', { what: 'no limit is given', hint: `for example: runsheet scale ${name} -c 20` });
  const batchFolder = await findBatch(configOf(flags), name);
  if (await reportIfEnded(batchFolder, printer, 'scale')) return EXIT.usage;
  await using servers = serversFor(configOf(flags), printer);
  await servers.check(limits, batchFolder);
  const done = await whileRunning(flags, batchFolder, printer, async (session) => {
    await servers.check(limits, batchFolder, session);
    return session.batches.scale(refOf(batchFolder), limits, commandOptions(flags));
  });
  if (done === undefined) throw await notRunning(flags, batchFolder, printer);
  printer.notice(done.note ?? '');
  printer.next(['status', nextCommand('status', batchFolder)]);
  return EXIT.ok;
}

export async function cancel(
  this: Context,
  flags: ControlFlags & { readonly running: boolean },
  name: string,
): Promise<number> {
  const printer = printerFor(this, flags);
  const batchFolder = await findBatch(configOf(flags), name);
  if (await reportIfEnded(batchFolder, printer, 'cancel')) return EXIT.ok;
  await serversFor(configOf(flags), printer).refuseElsewhere(batchFolder);
  return withSession(flags, batchFolder, printer, async (session) => {
    // startOrAttach would resume a paused batch before it is cancelled.
    if (!(await isUnderWay(session, batchFolder))) {
      await sayNeverStarted(batchFolder, printer, '; there is nothing to cancel');
      return EXIT.ok;
    }
    const done = await session.batches.cancel(refOf(batchFolder), flags.running, commandOptions(flags));
    printer.notice(cancelled(batchFolder, done, flags.running));
    // Embedded servers end with this command, so it waits until the batch has ended.
    const code = session.stack && (await follow({ session, batchFolder, printer, process: this.process }));
    if (code === undefined) {
      printer.next(toFollow(batchFolder));
      await printBatchJson(printer, batchFolder, session);
    }
    return code === EXIT.interrupted ? code : EXIT.ok;
  });
}

export async function reportIfEnded(
  batchFolder: FoundBatch,
  printer: Printer,
  verb: string,
): Promise<boolean> {
  const summary = await summaryOfDone(batchFolder);
  if (summary === undefined) return false;
  printer.notice(`${batchFolder.batch} has ended; there is nothing to ${verb}`);
  printer.next(...nextOfEnded(batchFolder, summary));
  await printBatchJson(printer, batchFolder);
  return true;
}

export async function sayNeverStarted(batchFolder: FoundBatch, printer: Printer, more = ''): Promise<void> {
  printer.notice(`${batchFolder.batch} was never started${more}`);
  printer.next(toContinue(batchFolder));
  await printBatchJson(printer, batchFolder);
}

const notRunning = (flags: ControlFlags, batchFolder: FoundBatch, printer: Printer): Promise<Error> =>
  serversFor(configOf(flags), printer).notRunning(batchFolder);

/**
 * Sends a command to a batch that runs here or on the cluster, and prints the batch as JSON. Returns
 * undefined if the batch is not running.
 */
const whileRunning = (
  flags: ControlFlags,
  batchFolder: FoundBatch,
  printer: Printer,
  give: (session: Session) => Promise<Acknowledged>,
): Promise<Acknowledged | undefined> =>
  askLiving(flags, printer, async (session) => {
    if (!(await isUnderWay(session, batchFolder))) return undefined;
    const done = await give(session);
    await printBatchJson(printer, batchFolder, session);
    return done;
  });

function cancelled({ file }: FoundBatch, { progress }: Acknowledged, isToEnd: boolean): string {
  const { rows, running, costUsd, tally, collecting } = progress;
  const left = rows - rowsDone(tally) - collecting - running - progress.sending - progress.unconfirmed;
  const end = isToEnd && file.service.api !== 'v1' ? 'will be cancelled' : 'will finish';
  const why = isToEnd && file.service.api === 'v1' ? ', because V1 cannot cancel runs' : '';
  // Some of the cancelled rows already have their outcome when the batch answers.
  return `${plural(tally.outcomes.cancelled + left, 'row')} cancelled, ${plural(running, 'run')} ${end}${why}${ifPaid(costUsd, (amount) => `; ${amount} spent`)}`;
}
