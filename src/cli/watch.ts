// watch: the live view again. wait: the same for scripts, without a word. cancel: ends a batch early.

import { EXIT } from '../errors/error.ts';
import { notSucceeded } from '../results/summary.ts';
import { findBatch, refOf, type FoundBatch } from './batch-name.ts';
import { configOf } from './batch-options.ts';
import { printerFor, type Context, type Printer } from './context.ts';
import { closing, follow } from './follow.ts';
import { openLivingSession, withSession } from './session.ts';
import { isUnderWay, notRunning, summaryOfDone } from './start-or-attach.ts';
import { count } from './format.ts';

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
    printer.say(`${found.batch} is done; there is nothing to cancel`);
    return EXIT.ok;
  }
  return withSession(flags, found, printer, async (session) => {
    // A paused batch must not go on for the moment that it takes to cancel it.
    if (!(await isUnderWay(session, found))) {
      printer.say(`${found.batch} was never started; there is nothing to cancel`);
      return EXIT.ok;
    }
    const progress = await session.batches.cancel(refOf(found), flags.running);
    printer.say(
      `${found.batch} sends nothing more; ${count(progress.running)} runs ${fateOf(found, flags.running)}`,
    );
    // Embedded servers end with this command, and the batch has not ended yet.
    const code =
      session.stack &&
      (await follow({ session, found, printer, process: this.process, output: flags.output }));
    if (code === undefined && flags.output === 'json') printer.json(progress);
    return code === EXIT.interrupted ? code : EXIT.ok;
  });
}

function fateOf({ file }: FoundBatch, isToEnd: boolean): string {
  if (!isToEnd) return 'go on to their end';
  return file.service.api === 'v1' ? 'go on to their end: V1 cannot cancel them' : 'are being cancelled';
}
