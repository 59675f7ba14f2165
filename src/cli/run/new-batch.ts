// run and submit without --into: make the batch of the sheet and start it, or attach to the one that has the same rows.

import { resolve } from 'node:path';
import type { Proposal, Around, Source } from '../../create-batch/propose.ts';
import type { Config } from '../../host/config.ts';
import { type FoundBatch, findBatch } from '../../library/handle/found-batch.ts';
import type { Servers } from '../../library/servers.ts';
import type { Session } from '../../library/session.ts';
import { estimateOf } from '../../library/start/estimate.ts';
import {
  begin,
  changeLimits,
  ignoredText,
  makeBatch,
  type Changed,
} from '../../library/start/start-batch.ts';
import { summaryOfDone } from '../../library/start/start-or-attach.ts';
import { noteWatched } from '../../library/watched/saved-sheet.ts';
import { errorMessage, problem } from '../../errors/error.ts';
import type { Summary } from '../../results/summary.ts';
import { type Context, type Printer, nextLine } from '../context.ts';
import { limitsOf, requestOf, settingsOf, copyingOf, NO_SHEET } from '../flags/batch-options.ts';
import type { RunFlags, SheetFlags } from '../flags/flags.ts';
import { sameCommand } from '../next-command.ts';
import { printBatch } from './batch-plan.ts';
import { forecastLines } from './forecast.ts';
import { policyOf } from './questions.ts';
import { Readable } from 'node:stream';
import { definedOnly } from '../../options/defined-only.ts';
import type { FromSheet } from '../../create-batch/from/from-sheet.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import { plural } from '../format.ts';

export type Sending = {
  readonly context: Context;
  readonly flags: RunFlags;
  readonly sheet: string;
  readonly printer: Printer;
  readonly servers: Servers;
  readonly asks: boolean;
  /** With a batch that runs. */
  readonly next: (session: Session, found: FoundBatch) => Promise<number>;
  /** With a batch that has ended. */
  readonly done: (found: FoundBatch, summary: Summary) => Promise<number>;
};

/** What is said while a batch is proposed. */
export const shownWith = (printer: Printer, config: Config) => ({
  ...fromNotes(printer),
  show: async ({ draft }: Proposal): Promise<void> => {
    if (draft === undefined) return;
    printBatch(printer, config, draft);
    for (const line of forecastLines(await estimateOf(config.out, draft))) printer.notice(line);
  },
});

type Others = {
  readonly into: (batch: string) => Promise<number>;
  readonly whenDone: (found: FoundBatch, summary: Summary) => Promise<number>;
};

export async function sendNew(sending: Sending, { into, whenDone }: Others): Promise<number> {
  const { context, flags, sheet, printer, servers, asks } = sending;
  const { config } = servers;
  const { process } = context;
  const policy = policyOf({ printer, process, asks });
  const request = requestOf(config, flags, policy.ask !== undefined && !flags.yes);
  const rows = await sourceOf(config, process, flags, sheet);
  const made = await makeBatch(servers, request, rows, {
    ...policy,
    ...shownWith(printer, config),
  });
  if ('into' in made) return into(made.into);
  const summary = await summaryOfDone(made);
  if (summary) return whenDone(made, summary);
  if (made.laidOut === undefined) printBatch(printer, config, made);
  if (flags.watch && made.laidOut !== undefined)
    await noteWatched(made, { path: resolve(sheet), deployment: flags.deployment ?? '' });
  const { session, isAttached, ...changed } = await begin(servers, made, limitsOf(flags));
  if (isAttached) {
    printer.notice(`This sheet is already batch ${made.batch}. Attached.`);
    sayIgnored(printer, flags, made);
    sayChanged(printer, changed);
  }
  return sending.next(session, made);
}

export function sayIgnored(printer: Printer, flags: SheetFlags, found: FoundBatch): void {
  const ignored = ignoredText(found, settingsOf(flags));
  if (ignored !== undefined) printer.notice(printer.paint('yellow', ignored));
}

function sayChanged(printer: Printer, { note, refused }: Changed): void {
  if (note !== undefined) printer.notice(note);
  if (refused !== undefined) printer.notice(printer.paint('yellow', errorMessage(refused)));
}

export const giveLimits = async (
  { printer, flags }: Pick<Sending, 'printer' | 'flags'>,
  session: Session,
  found: FoundBatch,
): Promise<void> => sayChanged(printer, await changeLimits(session, found, limitsOf(flags)));

export function sayDone(
  { context: { args = [] }, printer, flags, done }: Sending,
  found: FoundBatch,
  summary: Summary,
): Promise<number> {
  printer.notice(
    `This sheet is batch ${found.batch}, which has ended. To make a new batch of the same sheet:`,
  );
  printer.notice(nextLine(['new', sameCommand(args, args[0] ?? 'run', { add: ['--again'] })]));
  sayIgnored(printer, flags, found);
  return done(found, summary);
}

/** Refuses a command with neither a sheet nor a batch, or with both. Throws E602. */
export function refuseBothSheets(command: string, flags: SheetFlags, sheet: string | undefined): void {
  const { from, grid, into } = flags;
  if (sheet === undefined && from === undefined && (grid === undefined || into !== undefined))
    throw problem('E602', {
      what: '<sheet> is missing',
      hint: `give a sheet, with --from the batch whose results are the sheet, or the rows with --grid; see: runsheet ${command} --help`,
    });
  if (sheet !== undefined && from !== undefined)
    throw problem('E602', {
      what: `--from ${from} and the sheet ${sheet} exclude each other`,
      hint: 'the results of the batch are the sheet; to choose among its rows and to add columns: --pick <file>',
    });
  const alone = from === undefined && (['pick', 'each'] as const).find((flag) => flags[flag]);
  if (alone)
    throw problem('E602', {
      what: `--${alone} needs --from`,
      hint: `add --from <batch>, or leave --${alone} out`,
    });
  const other = from !== undefined && (['into', 'format'] as const).find((flag) => flags[flag]);
  if (other)
    throw problem('E602', {
      what: `--from and --${other} exclude each other`,
      hint: '--from makes a new batch from the results of another one',
    });
}

/** Whether the sheet is a job file: one with stages, because any other has become the words of the command. */
export const isPipeline = (sheet: string | undefined): sheet is string =>
  sheet?.endsWith('.job.toml') ?? false;

/** What a command reads if no sheet is named: a grid alone, or stdin. */
export const sheetOr = (sheet: string | undefined, { from, grid }: SheetFlags): string =>
  sheet ?? (from === undefined && grid !== undefined ? NO_SHEET : '-');

/** Where the rows come from: a sheet, stdin, one row without cells for a grid, or with --from the results of a batch. */
export async function sourceOf(
  config: Config,
  { stdin }: Context['process'],
  flags: SheetFlags,
  sheet: string,
): Promise<Source> {
  const { from, pick, each = 'row' } = flags;
  if (sheet === NO_SHEET)
    return {
      path: '-',
      copying: { stdin: Readable.from([Buffer.from('{}\n')]), name: 'grid', format: 'jsonl' },
    };
  if (from === undefined) return { path: sheet, copying: { stdin, ...copyingOf(flags) } };
  const found = await findBatch(config.out, from);
  return { from: definedOnly({ found, each, picks: pick === undefined ? pick : { path: pick } }) };
}

/** Says how the results of a batch become a sheet. */
export const fromNotes = (printer: Printer): Pick<Around, 'onFrom' | 'onUpload'> => ({
  onFrom: (from) => {
    for (const line of fromLines(from)) printer.notice(terminalLine(line));
  },
  onUpload: ({ found }, done) => {
    if (done === undefined) printer.notice(`  files     of ${found.batch} go to the run service as inputs`);
    else if (done.uploaded > 0) printer.notice(`  files     ${plural(done.uploaded, 'file')} uploaded`);
    if (done?.endsAt !== undefined)
      printer.notice(`  files     their addresses expire at ${new Date(done.endsAt).toISOString()}`);
  },
});

function fromLines(sheet: FromSheet): readonly string[] {
  const { found, where, written, rows, picked, withoutFile } = sheet;
  const among = picked === undefined ? `${plural(rows, 'row')} of ${found.batch}` : plural(picked, 'pick');
  return [
    `  from      ${found.batch}: ${plural(written, 'row')} from ${among}, where ${where}`,
    ...(withoutFile > 0 ? [`            ${plural(withoutFile, 'row')} without a file left out`] : []),
  ];
}
