// run, submit and plan with --from: the results of a batch are the sheet of the next one.

import type { CreateParams } from '../../create-batch/create-batch.ts';
import {
  readyParams,
  USUAL_WHERE,
  withFromSheet,
  type FromSheet,
  type Readied,
} from '../../create-batch/from/from-sheet.ts';
import { preparingIn } from '../../create-batch/preparing.ts';
import { problem } from '../../errors/error.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import type { Config } from '../../host/config.ts';
import { findBatch } from '../../library/handle/found-batch.ts';
import { sheetOptions } from '../flags/batch-options.ts';
import type { Printer } from '../context.ts';
import type { SheetFlags } from '../flags/flags.ts';
import { plural } from '../format.ts';

/** Refuses a command with neither a sheet nor a batch, or with both. Throws E602. */
export function refuseBothSheets(command: string, flags: SheetFlags, sheet: string | undefined): void {
  const { from } = flags;
  if (sheet === undefined && from === undefined)
    throw problem('E602', {
      what: '<sheet> is missing',
      hint: `give a sheet, or with --from the batch whose results are the sheet; see: runsheet ${command} --help`,
    });
  if (sheet !== undefined && from !== undefined)
    throw problem('E602', {
      what: `--from ${from} and the sheet ${sheet} exclude each other`,
      hint: 'the results of the batch are the sheet; to choose among its rows and to add columns: --pick <file>',
    });
  const alone = from === undefined && (['where', 'pick', 'each'] as const).find((flag) => flags[flag]);
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

/** Writes the rows of the batch as a sheet, and says how many there are. */
export async function withFrom<T>(
  {
    config,
    flags,
    printer,
  }: { readonly config: Config; readonly flags: SheetFlags; readonly printer: Printer },
  use: (from: FromSheet) => Promise<T>,
): Promise<T> {
  const { where, pick, each = 'row' } = flags;
  const asked = {
    ...preparingIn(config),
    found: await findBatch(config.out, flags.from),
    options: sheetOptions(flags),
    each,
    ...(where === undefined ? {} : { where }),
    ...(pick === undefined ? {} : { picks: { path: pick } }),
  };
  return withFromSheet(asked, (from) => {
    for (const line of fromLines(from, where)) printer.notice(terminalLine(line));
    return use(from);
  });
}

function fromLines(sheet: FromSheet, where = USUAL_WHERE): readonly string[] {
  const { found, written, rows, picked, withoutFile } = sheet;
  const among = picked === undefined ? `${plural(rows, 'row')} of ${found.batch}` : plural(picked, 'pick');
  return [
    `  from      ${found.batch}: ${plural(written, 'row')} from ${among}, where ${where}`,
    ...(withoutFile > 0 ? [`            ${plural(withoutFile, 'row')} without a file left out`] : []),
  ];
}

/** The parameters of the batch of these rows; uploads their files. */
export async function readyToRun(
  { config, printer }: { readonly config: Config; readonly printer: Printer },
  from: FromSheet,
  params: CreateParams,
): Promise<Readied> {
  if (from.isAddressed) printer.notice(`  files     of ${from.found.batch} go to the run service as inputs`);
  const ready = await readyParams(config, from, params, { uploads: true });
  if (ready.uploaded > 0) printer.notice(`  files     ${plural(ready.uploaded, 'file')} uploaded`);
  if (ready.endsAt !== undefined)
    printer.notice(`  files     their addresses expire at ${new Date(ready.endsAt).toISOString()}`);
  return ready;
}
