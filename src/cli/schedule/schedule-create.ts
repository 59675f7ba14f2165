// schedule create: checks what a firing would do now, creates the schedule, and prints when it fires and what it buys.

import { answersFrom } from '../../library/start/program-rows.ts';
import { definedOnly } from '../../options/defined-only.ts';
import type { DraftBatch } from '../../batches/laid-out-sheet.ts';
import { definitionFrom, isFilled, type ScheduleDefinition } from '../../schedule/schedule-definition.ts';
import { problem } from '../../errors/error.ts';
import type { CreatedSchedule } from '../../temporal/temporal-schedules.ts';
import { checkFlags, configOf, requestOf } from '../flags/batch-options.ts';
import { withOwnGpus } from '../flags/gpu-flags.ts';
import { printerFor, type Context, type Printer } from '../context.ts';
import type { SheetFlags } from '../flags/flags.ts';
import { estimateOf } from '../../library/start/estimate.ts';
import { createSchedule } from '../../library/schedules.ts';
import type { Servers } from '../../library/servers.ts';
import { asCommand } from '../run/answer-policy.ts';
import { toKeep } from '../next-command.ts';
import { serversFor } from '../command-session.ts';
import { forecastLines } from '../run/forecast.ts';
import { unreadLines } from '../run/refused-lines.ts';
import { plural } from '../../options/text/printed-numbers.ts';
import { aboutLines, ruleLines, scheduleJson } from './schedule-text.ts';

type NotOfFiring =
  | 'again'
  | 'deadline'
  | 'each'
  | 'from'
  | 'into'
  | 'name'
  | 'pick'
  | 'quiet'
  | 'where'
  | 'yes';
export type CreateFlags = Omit<SheetFlags, NotOfFiring> & {
  readonly cron: string;
  readonly tz?: string;
  readonly overlap: ScheduleDefinition['overlap'];
  readonly catchup?: number;
  readonly replace: boolean;
  readonly deadline?: number;
};

export default async function create(
  this: Context,
  flags: CreateFlags,
  name: string,
  sheet: string,
): Promise<void> {
  const printer = printerFor(this, flags);
  await using servers = serversFor(configOf(flags), printer);
  const definition = await definitionOf(servers, flags, name, sheet);
  const { handle, how, today, stack } = await createSchedule(servers, definition, {
    replace: flags.replace,
    wording: asCommand(this.process.argv),
  });
  const info = await handle.describe();
  if (flags.output === 'json') printer.json(await scheduleJson(info, how));
  else {
    printer.data([`${name}  ${HOW[how]}`, ...ruleLines(info), ...aboutLines(info.definition)].join('\n'));
    await printToday(printer, info.definition, today);
  }
  if (stack !== undefined)
    printer.notice(
      `It fires while the embedded servers run: keep them running here, or install them as a service (docs/schedules.md). After they were down, they make up for times that are not longer ago than --catchup.`,
    );
  printer.next(...toKeep(stack), ['show', `runsheet schedule show ${name}`]);
}

const HOW: Readonly<Record<CreatedSchedule['how'], string>> = {
  created: 'created',
  changed: 'changed',
  unchanged: 'already so',
};

export async function definitionOf(
  servers: Servers,
  createFlags: CreateFlags,
  name: string,
  sheet: string,
): Promise<ScheduleDefinition> {
  const { cron, tz, overlap, catchup, deadline, ...own } = createFlags;
  const sheetOptions: SheetFlags = { ...own, again: false, quiet: false, yes: false };
  if (sheet === '-')
    throw problem('E602', { what: 'a firing cannot read stdin', hint: 'give the path of a sheet' });
  // The sheet of a future firing need not exist yet.
  await checkFlags(isFilled(sheet) ? '-' : sheet, sheetOptions);
  const flags = await withOwnGpus(servers, sheetOptions);
  const config = configOf(createFlags);
  const { again: _, answers: __, ...definition } = requestOf(config, flags);
  const request = { ...definition, answers: answersFrom(flags) };
  return definitionFrom({
    name,
    cron,
    overlap,
    sheet,
    out: config.out,
    request,
    reuse: flags.reuse,
    ...definedOnly({ timezone: tz, catchupMs: catchup, format: flags.format, deadlineMs: deadline }),
  });
}

async function printToday(
  printer: Printer,
  { sheet, out, reuse, request }: ScheduleDefinition,
  draft: Pick<DraftBatch, 'file' | 'laidOut'> | undefined,
): Promise<void> {
  if (draft === undefined) printer.notice(`There is no sheet for a firing now at ${sheet}.`);
  else {
    printer.notice(`A firing now has ${plural(draft.file.sheet.rows, 'row')}:`);
    for (const line of unreadLines(draft.laidOut.refused)) printer.notice(printer.paint('yellow', line));
    for (const line of forecastLines(await estimateOf(out, draft))) printer.notice(line);
  }
  if (!reuse)
    printer.notice(
      printer.paint(
        'yellow',
        'Each firing buys every row, even of a sheet that has not changed. To buy only rows that changed, add --reuse.',
      ),
    );
  else if (Object.values(request.options.set).some(isFilled))
    printer.notice(
      printer.paint(
        'yellow',
        'With {{date}} or {{time}} in --set, every row changes, so --reuse finds nothing.',
      ),
    );
}
