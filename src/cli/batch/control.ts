// pause, scale, cancel: control a running batch. Each ends when the batch has acknowledged that the command is in force.

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
import { ifPaid, plural } from '../format.ts';
import { printBatchJson } from './status.ts';
import { askLiving, serversFor, withSession, type Session } from '../session.ts';
import { isStarted, isUnderWay, summaryOfDone } from '../../library/start/start-or-attach.ts';

export const commandOptions = ({
  reason,
  timeout,
}: Pick<ControlFlags, 'reason' | 'timeout'>): CommandOptions => definedOnly({ reason, timeoutMs: timeout });

export async function pause(this: Context, flags: ControlFlags, name: string): Promise<void> {
  const printer = printerFor(this, flags);
  const found = await findBatch(configOf(flags), name);
  if (await hasEnded(found, printer, 'pause')) return;
  const done = await whileRunning(flags, found, printer, (session) =>
    session.batches.pause(refOf(found), commandOptions(flags)),
  );
  if (done === undefined) {
    // Servers that this command does not see may be running it.
    if (await isStarted(found)) throw await notRunning(flags, found, printer);
    return sayNeverStarted(found, printer, '; there is nothing to pause');
  }
  const { progress, note = 'paused' } = done;
  printer.notice(
    `${note}; ${plural(progress.running, 'run')} ${progress.running === 1 ? 'finishes' : 'finish'}`,
  );
  printer.next(toContinue(found));
}

export async function scale(this: Context, flags: ControlFlags & LimitFlags, name: string): Promise<number> {
  const printer = printerFor(this, flags);
  const limits = limitsOf(flags);
  if (Object.keys(limits).length === 0)
    throw problem('E602', { what: 'no limit is given', hint: `for example: runsheet scale ${name} -c 20` });
  const found = await findBatch(configOf(flags), name);
  if (await hasEnded(found, printer, 'scale')) return EXIT.usage;
  await using servers = serversFor(configOf(flags), printer);
  await servers.check(limits, found);
  const done = await whileRunning(flags, found, printer, async (session) => {
    await servers.check(limits, found, session);
    return session.batches.scale(refOf(found), limits, commandOptions(flags));
  });
  if (done === undefined) throw await notRunning(flags, found, printer);
  printer.notice(done.note ?? '');
  printer.next(['status', nextCommand('status', found)]);
  return EXIT.ok;
}

export async function cancel(
  this: Context,
  flags: ControlFlags & { readonly running: boolean },
  name: string,
): Promise<number> {
  const printer = printerFor(this, flags);
  const found = await findBatch(configOf(flags), name);
  if (await hasEnded(found, printer, 'cancel')) return EXIT.ok;
  await serversFor(configOf(flags), printer).refuseElsewhere(found);
  return withSession(flags, found, printer, async (session) => {
    // startOrAttach would resume a paused batch before it is cancelled.
    if (!(await isUnderWay(session, found))) {
      await sayNeverStarted(found, printer, '; there is nothing to cancel');
      return EXIT.ok;
    }
    const done = await session.batches.cancel(refOf(found), flags.running, commandOptions(flags));
    printer.notice(cancelled(found, done, flags.running));
    // Embedded servers end with this command, so it waits until the batch has ended.
    const code = session.stack && (await follow({ session, found, printer, process: this.process }));
    if (code === undefined) {
      printer.next(toFollow(found));
      await printBatchJson(printer, found, session);
    }
    return code === EXIT.interrupted ? code : EXIT.ok;
  });
}

export async function hasEnded(found: FoundBatch, printer: Printer, verb: string): Promise<boolean> {
  const summary = await summaryOfDone(found);
  if (summary === undefined) return false;
  printer.notice(`${found.batch} has ended; there is nothing to ${verb}`);
  printer.next(...nextOfEnded(found, summary));
  await printBatchJson(printer, found);
  return true;
}

export async function sayNeverStarted(found: FoundBatch, printer: Printer, more = ''): Promise<void> {
  printer.notice(`${found.batch} was never started${more}`);
  printer.next(toContinue(found));
  await printBatchJson(printer, found);
}

const notRunning = (flags: ControlFlags, found: FoundBatch, printer: Printer): Promise<Error> =>
  serversFor(configOf(flags), printer).notRunning(found);

/** Gives a command to a batch that runs here or on the cluster, and prints it as JSON; undefined if it does not run. */
const whileRunning = (
  flags: ControlFlags,
  found: FoundBatch,
  printer: Printer,
  give: (session: Session) => Promise<Acknowledged>,
): Promise<Acknowledged | undefined> =>
  askLiving(flags, printer, async (session) => {
    if (!(await isUnderWay(session, found))) return undefined;
    const done = await give(session);
    await printBatchJson(printer, found, session);
    return done;
  });

function cancelled({ file }: FoundBatch, { progress }: Acknowledged, isToEnd: boolean): string {
  const { rows, running, costUsd, tally, collecting } = progress;
  const left = rows - rowsDone(tally) - collecting - running - progress.sending - progress.unconfirmed;
  const end = isToEnd && file.service.api !== 'v1' ? 'will be cancelled' : 'will finish';
  const why = isToEnd && file.service.api === 'v1' ? ', because V1 cannot cancel runs' : '';
  // Some have their outcome already when the batch answers.
  return `${plural(tally.outcomes.cancelled + left, 'row')} cancelled, ${plural(running, 'run')} ${end}${why}${ifPaid(costUsd, (amount) => `; ${amount} spent`)}`;
}
