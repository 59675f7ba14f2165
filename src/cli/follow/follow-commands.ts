// follow: shows the progress of a batch until it ends. wait: prints nothing until the end, for scripts.

import { printEnd, type EndParams } from './batch-end.ts';
import { findBatch } from '../../library/handle/find-batch.ts';
import { configOf } from '../flags/batch-options.ts';
import { printerFor, type Context } from '../context.ts';
import { follow as followBatch } from './follow.ts';
import { printEndedRows } from './row-stream.ts';
import { serversFor } from '../command-session.ts';
import type { Servers } from '../../library/servers.ts';
import type { Summary } from '../../results/summary.ts';
import { summaryOfDone } from '../../library/start/start-or-attach.ts';

type FollowFlags = {
  readonly out?: string;
  readonly output: 'text' | 'json' | 'jsonl';
};

export async function follow(
  this: Context,
  flags: FollowFlags & { readonly quiet: boolean },
  name: string | undefined,
): Promise<number> {
  return attach(this, flags, name, { printer: printerFor(this, flags) });
}

export async function wait(
  this: Context,
  flags: FollowFlags & { readonly timeout?: number },
  name: string | undefined,
): Promise<number> {
  const printer = printerFor(this, { ...flags, quiet: true });
  const printClosingLine = printerFor(this).notice;
  const limit = flags.timeout === undefined ? {} : { timeoutMs: flags.timeout };
  return attach(this, flags, name, { printer, printClosingLine, ...limit });
}

async function attach(
  { process }: Context,
  flags: FollowFlags,
  name: string | undefined,
  how: Pick<EndParams, 'printer' | 'printClosingLine'> & { readonly timeoutMs?: number },
): Promise<number> {
  const batchFolder = await findBatch(configOf(flags), name);
  const summary = await summaryOfDone(batchFolder);
  const ended = { ...how, batchFolder, rowsTo: flags.output === 'jsonl' ? process.stdout : undefined };
  if (summary !== undefined) return printEnded(ended, summary);
  const servers = serversFor(configOf(flags), how.printer);
  const { session, leave } = await servers.joinFor(batchFolder);
  try {
    return session === undefined
      ? await endedMeanwhile(servers, ended)
      : await followBatch({ ...how, batchFolder, session, process, reads: true });
  } finally {
    await leave();
  }
}

/**
 * The servers may have ended with the batch while this command looked for them. Throws E516 or E548 if the
 * batch has not ended.
 */
async function endedMeanwhile(servers: Servers, ended: Ended): Promise<number> {
  const summary = await summaryOfDone(ended.batchFolder);
  if (summary === undefined) throw await servers.notRunning(ended.batchFolder);
  return printEnded(ended, summary);
}

type Ended = EndParams & { readonly rowsTo: Context['process']['stdout'] | undefined };

async function printEnded({ rowsTo, ...ended }: Ended, summary: Summary): Promise<number> {
  if (rowsTo !== undefined) await printEndedRows(ended.batchFolder, rowsTo);
  return printEnd(ended, summary);
}
