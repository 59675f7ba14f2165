// run: checks the sheet, starts its batch and follows it. submit: the same without following.

import { startOrAttach, summaryOfDone } from '../../library/start/start-or-attach.ts';
import { retryOf, printEnd } from '../follow/batch-end.ts';
import { followAsking } from '../follow/follow-asking.ts';
import type { RunFlags, SheetFlags } from '../flags/flags.ts';
import { fromNotes, refuseBothSheets, sourceOf } from './from.ts';
import { isInto, sendInto, type IntoFlags } from './into.ts';
import type { CreatedBatch } from '../../create-batch/create-batch.ts';
import { propose, type Proposal } from '../../create-batch/propose.ts';
import { differences } from '../../create-batch/reuse/reuse.ts';
import type { Config } from '../../host/config.ts';
import { checkFlags, configOf, requestOf, settingsOf } from '../flags/batch-options.ts';
import { changeLimits } from './change-limits.ts';
import type { Session } from '../session.ts';
import { printerFor, type Context, type Printer } from '../context.ts';
import { findBatch, type FoundBatch } from '../../library/handle/found-batch.ts';
import {
  batchOfWatched,
  continueWatched,
  refuseUnwatchable,
  watchSheet,
  type WatchGiven,
} from './watch-sheet.ts';
import { EXIT } from '../../errors/error.ts';
import { nextLine, nextOfEnded, sameCommand, sayLeft, sayNext } from '../next-command.ts';
import { printBatch } from './batch-plan.ts';
import { estimateOf } from '../../library/start/estimate.ts';
import type { Summary } from '../../results/summary.ts';
import { forecastLines } from './forecast.ts';
import { printEndedRows } from '../follow/row-stream.ts';
import { settle } from './questions.ts';
import { ServersNeeded } from './servers-needed.ts';

export async function run(this: Context, flags: RunFlags, sheet?: string): Promise<number> {
  // Asks only if the answer can come from the user.
  const asks = flags.output === 'text' && sheet !== '-';
  return send({ context: this, command: 'run', flags, sheet, asks }, (session, found, printer) =>
    flags.watch && sheet !== undefined
      ? watchSheet({ ...watched(this, flags, sheet, printer), hasLimits: true }, session, found)
      : followAsking({
          session,
          found,
          printer,
          process: this.process,
          output: flags.output,
          isRemoved: flags.demo ?? false,
        }),
  );
}

export async function submit(this: Context, flags: SheetFlags, sheet?: string): Promise<number> {
  const given = { context: this, command: 'submit', flags, sheet, asks: false, done: submitted };
  return send(given, async (session, found, printer) => {
    const code = await submitted({ printer, flags, found, session });
    sayLeft(printer, flags.output, session, found);
    return code;
  });
}

type Submitted = {
  readonly printer: Printer;
  readonly flags: SheetFlags;
  readonly found: FoundBatch;
  readonly session?: Session;
  /** Of a batch that has ended. */
  readonly summary?: Summary;
};

/** stdout has the batch id, also of a batch that exists or has ended. */
async function submitted({ printer, flags, found, session, summary }: Submitted): Promise<number> {
  if (flags.output !== 'json') printer.name(found.batch);
  // It needs the Temporal client, which a check of a sheet does not load.
  else await (await import('../batch/print-batch.ts')).printFoundJson(printer, found, session);
  if (summary) sayNext(printer, flags.output, ...nextOfEnded(found, retryOf(summary)));
  return EXIT.ok;
}

const watched = (context: Context, flags: RunFlags, sheet: string, printer: Printer): WatchGiven => ({
  context,
  flags,
  sheet,
  printer,
  changeLimits: (session, found) => changeLimits(session, found, flags, printer),
});

type Next = (session: Session, found: FoundBatch, printer: Printer) => Promise<number>;

type Given = {
  readonly context: Context;
  readonly command: string;
  readonly flags: RunFlags;
  /** undefined with --from. */
  readonly sheet: string | undefined;
  /** Whether the command asks on a terminal. */
  readonly asks: boolean;
  readonly done?: WithDone;
};

/** What a command prints about a batch that has ended. */
type WithDone = (done: Submitted & { readonly summary: Summary }) => Promise<number>;

async function send(given: Given, next: Next): Promise<number> {
  const { context, command, flags, done = endedOn(context.process) } = given;
  refuseBothSheets(command, flags, given.sheet);
  const { sheet = '-' } = given;
  const printer = printerFor(context, flags);
  refuseUnwatchable(flags, sheet);
  await checkFlags(sheet, flags);
  const watching = watched(context, flags, sheet, printer);
  const followed = isInto(flags) ? undefined : await batchOfWatched(flags, sheet);
  if (followed !== undefined) return continueWatched(watching, followed);
  const into = async (wanted: IntoFlags): Promise<number> =>
    flags.watch
      ? continueWatched(watching, await findBatch(configOf(flags).out, wanted.into))
      : sendInto(
          { context, flags: wanted, sheet, printer, asks: given.asks },
          async (session, found) => {
            sayDifferences(printer, wanted, found);
            await changeLimits(session, found, wanted, printer);
            return next(session, found, printer);
          },
          (found, summary) => done({ printer, flags: wanted, found, summary }),
        );
  if (isInto(flags)) return into(flags);
  const whenDone = async (found: FoundBatch, summary: Summary): Promise<number> =>
    flags.watch
      ? continueWatched(watching, found)
      : sayDone({ printer, flags, found, summary }, done, context.args ?? []);
  return sendNew({ ...given, sheet, printer, into, whenDone }, next);
}

type Sending = Given & {
  readonly sheet: string;
  readonly printer: Printer;
  readonly into: (flags: IntoFlags) => Promise<number>;
  /** What happens if the batch of these rows has ended. */
  readonly whenDone: (found: FoundBatch, summary: Summary) => Promise<number>;
};

/** Makes the batch of the sheet and starts it, or attaches to the one that has the same rows. */
async function sendNew(
  { context, flags, sheet, printer, asks, into, whenDone }: Sending,
  next: Next,
): Promise<number> {
  const config = configOf(flags);
  const { process } = context;
  const asksLater = asks && !flags.yes && printer.isTerminal && process.stdin.isTTY;
  await using servers = new ServersNeeded(config, flags.local, printer);
  const around = { ...servers.around, ...fromNotes(printer, flags) };
  const source = await sourceOf(config, process, flags, sheet);
  let found: CreatedBatch;
  {
    await using proposal = await propose(requestOf(config, flags, asksLater), source, around);
    const made = await settle({ printer, process, asks }, proposal, () =>
      showProposed(printer, config, proposal),
    );
    if ('into' in made) return await into({ ...flags, into: made.into });
    found = made;
  }
  const summary = await summaryOfDone(found);
  if (summary) return await whenDone(found, summary);
  if (found.laidOut === undefined) printBatch(printer, config, found);
  const session = await servers.open();
  const how = await startOrAttach(session, found);
  // A batch that was made but never started also keeps its own settings.
  if (how === 'attached' || found.laidOut === undefined) {
    printAttached(printer, flags, found);
    await changeLimits(session, found, flags, printer);
  }
  // Awaited here, because the servers are left on return.
  return await next(session, found, printer);
}

async function showProposed(printer: Printer, config: Config, { draft }: Proposal): Promise<void> {
  if (draft === undefined) return;
  printBatch(printer, config, draft);
  for (const line of forecastLines(await estimateOf(config.out, draft))) printer.notice(line);
}

function printAttached(printer: Printer, flags: SheetFlags, found: FoundBatch): void {
  printer.notice(`This sheet is already batch ${found.batch}. Attached.`);
  sayDifferences(printer, flags, found);
}

/** Names the given settings that the batch ignores. */
function sayDifferences(printer: Printer, flags: SheetFlags, found: FoundBatch): void {
  const ignored = differences(found, settingsOf(flags));
  if (ignored.length > 0)
    printer.notice(
      printer.paint('yellow', `The batch keeps its own settings; ignored: ${ignored.join(', ')}`),
    );
}

const endedOn =
  ({ stdout }: NodeJS.Process): WithDone =>
  async ({ printer, flags, found, summary }) => {
    if (flags.output === 'jsonl') await printEndedRows(found, stdout);
    return printEnd({ printer, found, output: flags.output }, summary);
  };

function sayDone(given: Parameters<WithDone>[0], done: WithDone, args: readonly string[]): Promise<number> {
  const { printer, flags, found } = given;
  printer.notice(
    `This sheet is batch ${found.batch}, which has ended. To make a new batch of the same sheet:`,
  );
  printer.notice(nextLine(['new', sameCommand(args, args[0] ?? 'run', { add: ['--again'] })]));
  sayDifferences(printer, flags, found);
  return done(given);
}
