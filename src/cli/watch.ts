// watch: shows the progress of a batch until it ends. wait: the same without output, for scripts.

import { EXIT } from '../errors/error.ts';
import { notSucceeded } from '../results/summary.ts';
import { findBatch } from './batch-name.ts';
import { configOf } from './batch-options.ts';
import { printerFor, type Context, type Printer } from './context.ts';
import { closing, follow } from './follow.ts';
import { openLivingSession } from './session.ts';
import { isUnderWay, notRunning, summaryOfDone } from './start-or-attach.ts';

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
