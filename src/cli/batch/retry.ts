// retry: sends rows of a running or ended batch again. The batch stays one: a row keeps its line, and its attempts add up.

import { answersFrom } from '../../library/start/program-rows.ts';
import { definedOnly } from '../../options/defined-only.ts';
import type { FlagsOf } from '../flags/flags.ts';
import type { retryFlags } from './batch-flags.ts';
import type { Candidates } from '../../batches/append/add-pass.ts';
import { EXIT } from '../../errors/error.ts';
import { shellWord, terminalLine } from '../../errors/outside-text.ts';
import { proposeRetry, sendAgain, type RetryFilter } from '../../library/handle/retried-rows.ts';
import { policyOf } from '../run/answer-policy.ts';
import { printBatchJson } from './status.ts';
import { configOf, inputsSet } from '../flags/batch-options.ts';
import { findBatch } from '../../library/handle/find-batch.ts';
import type { FoundBatch } from '../../library/handle/found-batch.ts';
import { printerFor, type Context, type Printer } from '../context.ts';
import { nextCommand, sayLeft, toRetry } from '../next-command.ts';
import { commandOptions, sayNeverStarted } from './control.ts';
import { follow } from '../follow/follow.ts';
import { ifPaid } from '../format.ts';
import { plural } from '../../options/text/printed-numbers.ts';
import { serversFor } from '../command-session.ts';
import { isStarted, summaryOfDone } from '../../library/start/start-or-attach.ts';

type RetryCommandFlags = FlagsOf<typeof retryFlags>;

export default async function retry(this: Context, flags: RetryCommandFlags, name: string): Promise<number> {
  const printer = printerFor(this, flags);
  const batchFolder = await findBatch(configOf(flags), name);
  if (!(await isStarted(batchFolder))) {
    await sayNeverStarted(batchFolder, printer);
    return EXIT.ok;
  }
  await using servers = serversFor(configOf(flags), printer);
  const answers = answersFrom({ ...flags, mayBuyTwice: flags.yes });
  const set = flags.set && inputsSet(flags.set);
  using again = await proposeRetry(servers, batchFolder, { filter: filterOf(flags), set, answers });
  const { rows, open } = again.wanted;
  if (rows === 0 && open === 0) {
    await sayNone(printer, flags, batchFolder);
    const named = namedRows(flags);
    if (named !== undefined && flags.outcome === undefined) {
      const filter = { ...filterOf(flags), outcome: ['succeeded' as const] };
      using succeeded = await proposeRetry(servers, batchFolder, { filter, set, answers });
      saySucceeded(printer, batchFolder, named, succeeded.wanted.rows);
    }
    await printBatchJson(printer, batchFolder);
    return EXIT.ok;
  }
  if (open > 0)
    printer.notice(`${plural(open, 'row')} ${open === 1 ? 'is' : 'are'} being sent again already`);
  const policy = policyOf({ printer, process: this.process, asks: true });
  const { session, pass } = await sendAgain(servers, batchFolder, again, policy, commandOptions(flags));
  if (pass !== undefined) printer.notice(sentText(flags, pass));
  if (flags.detach) {
    await printBatchJson(printer, batchFolder, session);
    sayLeft(printer, session, batchFolder);
    return EXIT.ok;
  }
  // Awaited here, because returning releases the servers.
  return await follow({ session, batchFolder, printer, process: this.process });
}

async function sayNone(printer: Printer, flags: RetryCommandFlags, batchFolder: FoundBatch): Promise<void> {
  printer.notice(`no row of ${batchFolder.batch} matches; nothing is sent again`);
  const { refused = 0 } = batchFolder.file.sheet;
  if (refused > 0)
    printer.notice(
      `${plural(refused, 'row')} could not be read when the batch was made: correct the sheet, and add its rows to the batch (run --into)`,
    );
  const summary = flags.outcome === undefined ? await summaryOfDone(batchFolder) : undefined;
  if (summary !== undefined) printer.next(...toRetry(batchFolder, summary));
  printer.next(['rows', nextCommand('rows', batchFolder)]);
}

/** The flags that name single rows, and those that change them, as they are typed. */
function namedRows({ key, row, gpu, set = [] }: RetryCommandFlags): string | undefined {
  if ((key ?? row) === undefined) return undefined;
  const ranges = row?.map(({ from, to }) => (from === to ? String(from) : `${from}-${to}`));
  const words = [
    ...(key === undefined ? [] : ['--key', key.join(',')]),
    ...(ranges === undefined ? [] : ['--row', ranges.join(',')]),
    ...(gpu === undefined ? [] : ['--gpu', gpu]),
    ...set.flatMap((value) => ['--set', value]),
  ];
  return words.map(shellWord).join(' ');
}

/** A row that was bought is sent again only if its owner says so. */
function saySucceeded(printer: Printer, batchFolder: FoundBatch, named: string, rows: number): void {
  if (rows === 0) return;
  printer.notice(
    `${plural(rows, 'named row')} ${rows === 1 ? 'has' : 'have'} succeeded; only --outcome succeeded buys ${rows === 1 ? 'it' : 'them'} again`,
  );
  printer.next(['again', nextCommand('retry', batchFolder, { more: `${named} --outcome succeeded` })]);
}

const filterOf = ({
  outcome,
  row,
  key,
  failure,
  gpu,
  reason,
  buyAgain,
  fetch,
}: RetryCommandFlags): RetryFilter =>
  definedOnly({ fetch, buyAgain, outcome, rows: row, keys: key, failure, gpu, reason });

function sentText(
  { gpu, set }: RetryCommandFlags,
  { rows, fetched, byGpu, expectedUsd }: Candidates,
): string {
  const files = `the files of ${plural(fetched, 'row')} are fetched again; nothing is bought for them`;
  if (fetched === rows) return files;
  const cost = ifPaid(expectedUsd ?? 0, (amount) => `, about ${amount}`);
  const on = gpu === undefined ? '' : ` on ${[...byGpu.keys()].join(', ')}`;
  const having = set === undefined ? '' : terminalLine(` with ${set.join(', ')}`);
  const sent = `${plural(rows - fetched, 'row')} sent again${on}${having}${cost}`;
  return fetched === 0 ? sent : `${sent}; ${files}`;
}
