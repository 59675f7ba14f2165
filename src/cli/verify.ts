// verify: compares summary.json with the batch's parts and files and with the service's run list; writes and checks receipts.

import { nameOf } from '../results/batch-rows.ts';
import { readLast } from '../audit/duplicate-runs.ts';
import { KnownRuns } from '../audit/known-runs.ts';
import { readBackToStart } from '../audit/read-back.ts';
import { findings, recount, reportedDuplicates, type Finding, type ListsNow } from '../audit/verify.ts';
import { EXIT, isRunsheetError, problem } from '../errors/error.ts';
import { terminalLine } from '../errors/outside-text.ts';
import { openServices } from '../run-service/open-services.ts';
import { openTransport } from '../run-service/transport.ts';
import { findBatch, type FoundBatch } from '../library/found-batch.ts';
import { checkGiven, writeGiven } from './receipt.ts';
import { summaryOfDone } from '../library/start-or-attach.ts';
import { printerFor, type Context } from './context.ts';
import { configOf } from './batch-options.ts';

type Flags = {
  readonly files: boolean;
  /** Empty: without a file. */
  readonly receipt?: string;
  readonly checkReceipt?: string;
  readonly out?: string;
  readonly output: 'text' | 'json';
};

export default async function verify(this: Context, flags: Flags, name: string | undefined): Promise<number> {
  const printer = printerFor(this);
  if (flags.checkReceipt !== undefined) {
    if (name !== undefined || flags.receipt !== undefined) throw problem('E602', CHECKED_ALONE);
    return checkGiven(printer, flags.checkReceipt, flags.output);
  }
  const found = await findBatch(configOf(flags).out, name);
  const summary = await summaryOfDone(found);
  if (summary === undefined) throw problem('E509', { batch: found.batch });
  using known = new KnownRuns();
  const counted = await recount(found.store, found.file, { files: flags.files, known });
  const lists = await readLists(found, known);
  const all = findings(summary, counted, lists);
  const wrong = all.filter(({ holds }) => !holds);
  const holds = wrong.length === 0;
  // A receipt states what adds up only.
  const receipt =
    flags.receipt === undefined || !holds ? undefined : await writeGiven(found, summary, flags.receipt);
  // Rows that are sent again meanwhile may be in only one half of what was read.
  if ((await summaryOfDone(found))?.ended_at !== summary.ended_at)
    throw problem('E509', { batch: found.batch });
  if (flags.output === 'json')
    printer.json({ batch: found.batch, holds, findings: all, ...(receipt && { receipt }) });
  else for (const finding of all) printer.data(lineOf(finding));
  if (!holds) throw problem('E510', { batch: found.batch, wrong: wrong.map(({ claim }) => claim) });
  printer.notice(
    `${found.batch} adds up${lists === undefined ? '; the run list of the service was not checked' : ''}`,
  );
  if (receipt) printer.notice(`its receipt is ${receipt.file}; sha256 ${receipt.sha256}`);
  return EXIT.ok;
}

const CHECKED_ALONE = {
  what: '--check-receipt takes neither a batch nor --receipt',
  hint: 'a receipt is checked without its batch: runsheet verify --check-receipt <file>',
};

const lineOf = ({ claim, holds, message }: Finding): string =>
  terminalLine(`${holds ? 'ok ' : 'NOT'}  ${claim}: ${message}`);

/** The maximum number of unreported duplicate runs that are named. */
const HIDDEN_MOST = 1_000;
const PAGE_TRIES = 3;

/** undefined if the batch's service cannot be reached with the settings here. */
async function readLists({ file, store }: FoundBatch, known: KnownRuns): Promise<ListsNow | undefined> {
  using reported = new KnownRuns();
  await reportedDuplicates(store, reported);
  const hidden: string[] = [];
  try {
    const reading = await readLast({
      nameOf: (attempt) => nameOf(store, file, attempt),
      file,
      service: openServices(configOf({}), openTransport(4)).at(file.service),
      known,
      back: await readBackToStart(store, Date.now()),
      evidence: NO_EVIDENCE,
      cancels: false,
      tries: PAGE_TRIES,
      onDuplicate: async ({ run_id }) => {
        if (!reported.has(run_id) && hidden.length < HIDDEN_MOST) hidden.push(run_id);
      },
    });
    return { reading, hidden };
  } catch (error) {
    if (isRunsheetError(error)) return undefined;
    throw error;
  }
}

const NO_EVIDENCE: AsyncIterable<never> = {
  [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }),
};
