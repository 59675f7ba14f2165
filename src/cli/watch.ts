// watch: shows the progress of a batch until it ends. wait: the same without output, for scripts. cancel: stops sending rows.

import { EXIT } from '../errors/error.ts';
import { notSucceeded } from '../results/summary.ts';
import { findBatch, refOf, type FoundBatch } from './batch-name.ts';
import { configOf } from './batch-options.ts';
import { printerFor, type Context, type Printer } from './context.ts';
import { closing, follow } from './follow.ts';
import { openLivingSession, withSession } from './session.ts';
import { isUnderWay, notRunning, summaryOfDone } from './start-or-attach.ts';
import { plural } from './format.ts';

type Flags = { readonly out?: string; readonly output: 'text' | 'json' };

export async function watch(
  this: Context,
  flags: Flags & { readonly quiet: boolean },
  name: string | undefined,
): Promise<number> {
  return attach(this, flags, name, printerFor(this, flags), undefined);
}

export async function wait(
  this: Context,
  flags: Flags & { readonly timeout?: number },
  name: string | undefined,
): Promise<number> {
  return attach(this, flags, name, printerFor(this, { quiet: true }), flags.timeout);
}

async function attach(
  context: Context,
  { output, ...flags }: Flags,
  name: string | undefined,
  printer: Printer,
  timeoutMs: number | undefined,
): Promise<number> {
  const found = await findBatch(configOf(flags).out, name);
  const summary = await summaryOfDone(found);
  if (summary !== undefined) {
    printer.raw(closing(summary, found.folder, printer.paint));
    if (output === 'json') printer.json({ ...summary, folder: found.folder });
    else printer.data(found.folder);
    return notSucceeded(summary) === 0 ? EXIT.ok : EXIT.someRowsFailed;
  }
  const session = await openLivingSession({ config: configOf(flags), local: false, printer });
  if (session === undefined) throw notRunning(found);
  try {
    if (!(await isUnderWay(session, found))) throw notRunning(found);
    const timeout = timeoutMs === undefined ? {} : { timeoutMs };
    return await follow({
      session,
      found,
      printer,
      process: context.process,
      output,
      reads: true,
      ...timeout,
    });
  } finally {
    await session.close();
  }
}

export async function cancel(
  this: Context,
  flags: Flags & { readonly running: boolean },
  name: string,
): Promise<number> {
  const printer = printerFor(this);
  const found = await findBatch(configOf(flags).out, name);
  if (await summaryOfDone(found)) {
    printer.notice(`${found.batch} has ended; there is nothing to cancel`);
    return EXIT.ok;
  }
  return withSession(flags, found, printer, async (session) => {
    // startOrAttach would resume a paused batch before it is cancelled.
    if (!(await isUnderWay(session, found))) {
      printer.notice(`${found.batch} was never started; there is nothing to cancel`);
      return EXIT.ok;
    }
    const progress = await session.batches.cancel(refOf(found), flags.running);
    printer.notice(
      `${found.batch} sends no more rows; ${plural(progress.running, 'run')} ${plannedEndOf(found, flags.running)}`,
    );
    // Embedded servers end with this command, so it waits until the batch has ended.
    const code =
      session.stack &&
      (await follow({ session, found, printer, process: this.process, output: flags.output }));
    if (code === undefined && flags.output === 'json') printer.json(progress);
    return code === EXIT.interrupted ? code : EXIT.ok;
  });
}

function plannedEndOf({ file }: FoundBatch, isToEnd: boolean): string {
  if (!isToEnd) return 'will finish';
  return file.service.api === 'v1' ? 'will finish, because V1 cannot cancel runs' : 'will be cancelled';
}
