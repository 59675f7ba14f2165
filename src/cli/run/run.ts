// run: checks the sheet, starts its batch and follows it. submit: the same without following.

import { startOrAttach, summaryOfDone } from '../../library/start/start-or-attach.ts';
import { retryOf, printEnd } from '../follow/batch-end.ts';
import { followAsking } from '../follow/follow-asking.ts';
import type { RunFlags, SheetFlags } from '../flags/flags.ts';
import { readyToRun, refuseBothSheets, withFrom } from './from.ts';
import { isInto, sendInto, type IntoFlags } from './into.ts';
import { withCopy, type SheetCopy } from '../../create-batch/copy-sheet.ts';
import { createBatch, type CreatedBatch, type CreateParams } from '../../create-batch/create-batch.ts';
import { createParams } from '../../create-batch/batch-request.ts';
import type { FromSheet } from '../../create-batch/from/from-sheet.ts';
import type { Overlap } from '../../create-batch/reuse/overlap.ts';
import { differences } from '../../create-batch/reuse/reuse.ts';
import type { Config } from '../../host/config.ts';
import {
  checkFlags,
  configOf,
  copyParams,
  madeBefore,
  prepareNotify,
  requestOf,
  resultsOf,
  settingsOf,
} from '../flags/batch-options.ts';
import { changeLimits } from './change-limits.ts';
import { agreeOnTerminal } from './guesses.ts';
import type { Guess } from '../../sheet/guesses/guess.ts';
import { refuseNoPool } from '../../library/start/known-pool.ts';
import { chooseInto, chooseReuse } from './reuse-choice.ts';
import type { Session, SessionParams } from '../session.ts';
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
import { confirmGpus } from './gpu-choice.ts';
import { printEndedRows } from '../follow/row-stream.ts';

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

async function send(
  { context, command, flags, asks, done = endedOn(context.process), ...given }: Given,
  next: Next,
): Promise<number> {
  refuseBothSheets(command, flags, given.sheet);
  const { sheet = '-' } = given;
  const printer = printerFor(context, flags);
  const config = configOf(flags);
  refuseUnwatchable(flags, sheet);
  await checkFlags(sheet, flags);
  await prepareNotify(config, flags);
  const watching = watched(context, flags, sheet, printer);
  const followed = isInto(flags) ? undefined : await batchOfWatched(flags, sheet);
  if (followed !== undefined) return continueWatched(watching, followed);
  const into = async (wanted: IntoFlags): Promise<number> =>
    flags.watch
      ? continueWatched(watching, await findBatch(config.out, wanted.into))
      : sendInto(
          { context, flags: wanted, sheet, printer },
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
  const { process } = context;
  const { isTerminal } = printer;
  const asking = { printer, process, asks };
  const asksLater = asks && !flags.yes && isTerminal && process.stdin.isTTY;
  const agree = (guesses: readonly Guess[]) => agreeOnTerminal({ printer, process, sheet, asks }, guesses);
  const decide = (overlap: Overlap) => chooseReuse({ ...asking, reuse: flags.reuse }, overlap);
  if (flags.from !== undefined)
    return withFrom({ config, flags, printer }, async (from) => {
      const { copy } = from;
      const found = await madeBefore(config, copy, flags, from.from.request);
      const summary = found && (await summaryOfDone(found));
      if (summary) return whenDone(found, summary);
      const sending = { config, printer, flags, copy, decide, agree, asking, asksLater, whenDone };
      return sendCopy({ ...sending, from, made: found }, next);
    });
  return withCopy(sheet, copyParams(config, process, flags), async (copy) => {
    const found = await madeBefore(config, copy, flags);
    const summary = found && (await summaryOfDone(found));
    if (summary) return whenDone(found, summary);
    const results = found ? undefined : await resultsOf(config, copy, flags);
    const chosen = results && (await chooseInto(asking, { ...results, name: copy.name }));
    if (results && chosen === 'into') return into({ ...flags, into: results.batch });
    const wanted = chosen === 'again' ? { ...flags, again: true } : flags;
    return sendCopy(
      { config, printer, flags: wanted, copy, decide, agree, asking, asksLater, whenDone },
      next,
    );
  });
}

type Sending = {
  readonly config: Config;
  readonly printer: Printer;
  readonly flags: SheetFlags;
  readonly copy: SheetCopy;
  readonly asking: Parameters<typeof confirmGpus>[0];
  /** Whether the batch waits for its user after a canary. */
  readonly asksLater: boolean;
  readonly decide: NonNullable<CreateParams['decide']>;
  readonly agree: NonNullable<CreateParams['agree']>;
  /** The rows of --from, and the batch that was made of them before. */
  readonly from?: FromSheet;
  readonly made?: FoundBatch | undefined;
  /** What happens if the batch of these rows has ended. */
  readonly whenDone: (found: FoundBatch, summary: Summary) => Promise<number>;
};

/** The local run service is started before it can be asked; a remote one is asked before anything is started. */
async function sendCopy(
  { config, printer, flags, copy, decide, agree, asking, asksLater, whenDone, from, made }: Sending,
  next: Next,
): Promise<number> {
  const create = async (): Promise<CreatedBatch> => {
    if (made !== undefined) return { ...made, laidOut: undefined };
    const asked = await createParams(config, copy, requestOf(config, flags, asksLater));
    const ready = from === undefined ? asked : await readyToRun({ config, printer }, from, asked);
    return createBatch({ ...ready, decide, agree, beforeCreate });
  };
  const params = { config, local: flags.local, printer };
  const sessions: Session[] = [];
  // Without its servers, the command fails before it makes a batch.
  let isShown = false;
  const beforeCreate = async (draft: Pick<CreatedBatch, 'batch' | 'file' | 'laidOut'>): Promise<void> => {
    isShown = true;
    printBatch(printer, config, draft);
    await printForecast(printer, config, draft);
    if (!flags.acceptGpu) await confirmGpus(asking, draft);
    if (sessions.length === 0) await opened(sessions, params);
  };
  try {
    // A batch that was made for a pool keeps it, so the pool must exist before.
    if (flags.local || flags.pool !== undefined) await refuseNoPool(await opened(sessions, params), flags);
    const found = await create();
    const summary = await summaryOfDone(found);
    if (summary) return await whenDone(found, summary);
    if (!isShown) printBatch(printer, config, found);
    const [session = await opened(sessions, params)] = sessions;
    const how = await startOrAttach(session, found);
    // A batch that was made but never started also keeps its own settings.
    if (how === 'attached' || found.laidOut === undefined) {
      printAttached(printer, flags, found);
      await changeLimits(session, found, flags, printer);
    }
    return await next(session, found, printer);
  } finally {
    await Promise.all(sessions.map((session) => session.close()));
  }
}

async function printForecast(
  printer: Printer,
  { out }: Config,
  { file, laidOut }: Pick<CreatedBatch, 'file' | 'laidOut'>,
): Promise<void> {
  // An existing batch is not laid out again, so its rows by GPU are not known.
  if (laidOut === undefined) return;
  for (const line of forecastLines(await estimateOf(out, { file, laidOut }))) printer.notice(line);
}

async function opened(sessions: Session[], params: SessionParams): Promise<Session> {
  // A sheet that is refused never needs the Temporal client, which is half of what a command loads.
  const { openSession } = await import('../session.ts');
  const session = await openSession(params);
  sessions.push(session);
  return session;
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
