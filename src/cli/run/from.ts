// run, submit and plan with --from: the results of one batch become the sheet of the next.

import { Readable } from 'node:stream';
import { definedOnly } from '../../options/defined-only.ts';
import type { FromSheet } from '../../batches/from/from-sheet.ts';
import type { ProposalContext, ProposalSource } from '../../batches/propose.ts';
import { problem } from '../../errors/error.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import type { Config } from '../../host/settings/config.ts';
import { findBatch } from '../../library/handle/find-batch.ts';
import { copyingOf, NO_SHEET } from '../flags/batch-options.ts';
import type { Context, Printer } from '../context.ts';
import type { SheetFlags } from '../flags/flags.ts';
import { plural } from '../../options/text/printed-numbers.ts';

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
}

/** Whether the sheet is a job file with stages; any other job file has already become the words of the command. */
export const isPipeline = (sheet: string | undefined): sheet is string =>
  sheet?.endsWith('.job.toml') ?? false;

/** The sheet to read if the command names none: a grid, or stdin. */
export const sheetOr = (sheet: string | undefined, { from, grid }: SheetFlags): string =>
  sheet ?? (from === undefined && grid !== undefined ? NO_SHEET : '-');

/** Where the rows come from: a sheet, stdin, one row without cells for a grid, or with --from the results of a batch. */
export async function sourceOf(
  config: Config,
  { process: { stdin }, job }: Pick<Context, 'process' | 'job'>,
  flags: SheetFlags,
  sheet: string,
): Promise<ProposalSource> {
  const { from, pick, each = 'row' } = flags;
  if (sheet === NO_SHEET)
    return {
      path: '-',
      copying: { stdin: Readable.from([Buffer.from('{}\n')]), name: 'grid', format: 'jsonl', job },
    };
  if (from === undefined) return { path: sheet, copying: { stdin, job, ...copyingOf(flags) } };
  const batchFolder = await findBatch(config, from);
  return {
    from: definedOnly({
      batchFolder,
      each,
      picks: pick === undefined ? pick : { path: pick },
      isJobs: job !== undefined,
    }),
  };
}

/** Prints how the results of a batch become a sheet. */
export const fromNotes = (printer: Printer): Pick<ProposalContext, 'onFrom' | 'onUpload'> => ({
  onFrom: (from) => {
    for (const line of fromLines(from)) printer.notice(terminalLine(line));
  },
  onUpload: ({ batchFolder }, done) => {
    if (done === undefined)
      printer.notice(`  files     of ${batchFolder.batch} go to the run service as inputs`);
    else if (done.uploaded > 0) printer.notice(`  files     ${plural(done.uploaded, 'file')} uploaded`);
    if (done?.endsAt !== undefined)
      printer.notice(`  files     their addresses expire at ${new Date(done.endsAt).toISOString()}`);
  },
});

function fromLines(sheet: FromSheet): readonly string[] {
  const { batchFolder, where, written, rows, picked, withoutFile } = sheet;
  const among =
    picked === undefined ? `${plural(rows, 'row')} of ${batchFolder.batch}` : plural(picked, 'pick');
  return [
    `  from      ${batchFolder.batch}: ${plural(written, 'row')} from ${among}, where ${where}`,
    ...(withoutFile > 0 ? [`            ${plural(withoutFile, 'row')} without a file left out`] : []),
  ];
}
