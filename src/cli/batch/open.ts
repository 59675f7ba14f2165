// open: opens the page of a batch. An ended batch has the page in its folder. For a batch that is running,
// or whose files are elsewhere, this command serves a page that adds rows as they end.

import type { FlagsOf } from '../flags/flags.ts';
import type { openFlags } from './batch-flags.ts';
import { BatchHandle } from '../../library/handle/batch-handle.ts';
import type { BatchStatus } from '../../library/handle/batch-status.ts';
import { findBatch } from '../../library/handle/find-batch.ts';
import type { FoundBatch } from '../../library/handle/found-batch.ts';
import { Servers } from '../../library/servers.ts';
import { configOf } from '../flags/batch-options.ts';
import { printerFor, type Context, type Next } from '../context.ts';
import { plural } from '../../options/text/printed-numbers.ts';
import { hearInterrupts } from '../follow/interrupt.ts';
import { nextCommand, toContinue, toFollow } from '../next-command.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '../../host/settings/config.ts';
import { environmentFor } from '../../host/child-environment.ts';

/** Thumbnails make the page smoother, and nobody waits longer than this for them. */
const SMALL_COPIES_MS = 15_000;

type OpenFlags = FlagsOf<typeof openFlags>;

export default async function open(this: Context, flags: OpenFlags, name: string | undefined): Promise<void> {
  const printer = printerFor(this, flags);
  const config = configOf(flags);
  const batchFolder = await findBatch(config, name);
  const { batch } = batchFolder;
  const servers = new Servers(flags.out === undefined ? {} : { store: flags.out });
  const isForPeople = printer.isTerminal && this.process.stdout.isTTY && !config.environment['CI'];
  const report = await new BatchHandle(servers, batch, batchFolder).report({
    serve: flags.serve,
    smallCopiesMs: isForPeople ? SMALL_COPIES_MS : 0,
  });
  const { path, address, smallCopies } = report;
  if (smallCopies !== undefined && smallCopies.missing > 0)
    printer.notice(
      `small copies of ${plural(smallCopies.missing, 'large picture')} are missing; each opening makes more of them`,
    );
  if (flags.output === 'json') printer.json({ batch, ...(path === undefined ? { address } : { path }) });
  else printer.name(path ?? address.href);
  if (flags.open && isForPeople) await openBrowser(path ?? address.href, config);
  if (path !== undefined) {
    printer.next(['export', nextCommand('export', batchFolder, { more: '--as xlsx' })]);
    return;
  }
  const { state } = await new BatchHandle(servers, batch, batchFolder).status();
  using interrupts = hearInterrupts(this.process);
  printer.notice(
    `${END_TEXT[state] ?? 'Ctrl-C ends the page, not the batch.'} Everyone who has this address can see the batch.`,
  );
  printer.next(nextOf(batchFolder, state));
  await interrupts.first;
  await report[Symbol.asyncDispose]();
  await servers[Symbol.asyncDispose]();
}

/** Explains what Ctrl-C does while the batch is not running. */
const END_TEXT: Partial<Record<BatchStatus['state'], string>> = {
  finished: 'Ctrl-C ends the page.',
  interrupted: 'The batch is interrupted; the page shows what is done. Ctrl-C ends it.',
};

function nextOf(batchFolder: FoundBatch, state: BatchStatus['state']): Next {
  if (state === 'finished') return ['export', nextCommand('export', batchFolder, { more: '--as xlsx' })];
  return state === 'interrupted' ? toContinue(batchFolder) : toFollow(batchFolder);
}

// Opens the browser from a separate process: the `open` package passes on its whole environment, and a
// command's environment holds the service keys.
const PROGRAM = fileURLToPath(new URL(`browser-process${extname(import.meta.url)}`, import.meta.url));

/** Opening is best effort: without a browser, the user still has the printed address. */
export async function openBrowser(
  target: string,
  { environment }: Pick<Config, 'environment'>,
): Promise<void> {
  const env = environmentFor('browser', environment);
  const child = spawn(process.execPath, [PROGRAM, target], { stdio: 'ignore', env });
  await once(child, 'exit').catch(() => undefined);
}
