// The body of a notification about a schedule, as receivers get it; docs/notifications.md describes it.

import { definedOnly } from '../options/defined-only.ts';
import { z } from 'zod';
import type { FiringError, ScheduleNotice } from '../batch/notices/schedule-notice.ts';
import { shortened, terminalLine, withoutSecrets } from '../errors/outside-text.ts';

const count = z.number().int().positive();
const time = z.iso.datetime();

const SCHEDULE_NEWS = ['firing-failed', 'times-missed'] as const satisfies readonly ScheduleNotice['news'][];

export const scheduleNoticeSchema = z.object({
  version: z.literal(1).describe('raised when a field changes its meaning'),
  id: z.string().describe('the same in each try to deliver this notification: ignore the second one'),
  event: z.enum(SCHEDULE_NEWS).describe('what happened'),
  at: time.describe('when it happened'),
  text: z.string().describe('one line for people'),
  schedule: z.string().describe('name of the schedule'),
  sheet: z.string().describe('name of the sheet'),
  deployment: z.string().describe('name or id of the deployment'),
  nominalTime: time.describe('the time of the rule for which the firing ran'),
  help: z.string().describe('the command that helps'),
  errors: z
    .array(
      z.object({
        code: z.string().exactOptional().describe('E104, for example; absent if the error is none of ours'),
        message: z.string(),
        hint: z.string().exactOptional(),
        place: z
          .object({
            file: z.string(),
            line: count.exactOptional(),
            column: count.exactOptional(),
            cell: z.string().exactOptional(),
          })
          .exactOptional(),
      }),
    )
    .exactOptional()
    .describe('with event firing-failed: why it made no batch; the first errors of a sheet'),
  missed: z
    .object({
      count,
      times: z.array(time).describe('empty if they cannot be distinguished from those that were left out'),
    })
    .exactOptional()
    .describe('with event times-missed: the times of the rule since the firing before'),
});
export type ScheduleNoticeBody = z.infer<typeof scheduleNoticeSchema>;

export type AboutFiring = {
  readonly schedule: string;
  readonly sheet: string;
  readonly deployment: string;
  readonly nominalTime: number;
  /** The workflow run: a time that is fired again is another notification. */
  readonly run: string;
  /** Whether the nominal time is on the rule; otherwise it was a trigger. */
  readonly isOnRule: boolean;
  /** What the clock of the schedule's zone shows: `2026-11-23 02:00`. */
  readonly clock: (at: number) => string;
};

export function scheduleNoticeBody(about: AboutFiring, notice: ScheduleNotice): ScheduleNoticeBody {
  const { schedule, sheet, deployment, nominalTime, run } = about;
  const when = iso(nominalTime);
  const facts = {
    version: 1 as const,
    id: `${schedule}-${when.replaceAll(/[-:]|\.\d+/g, '')}-${run.slice(0, RUN_DIGITS)}-${notice.news}`,
    event: notice.news,
    at: iso(notice.at),
    schedule,
    sheet,
    deployment,
    nominalTime: when,
  };
  if (notice.news === 'firing-failed') {
    const errors = notice.errors.slice(0, ERRORS_MOST).map(shown);
    const help = `correct it, then: ${triggered(about, nominalTime, nominalTime)}`;
    const [first] = errors;
    const text = `${schedule} made no batch at ${about.clock(nominalTime)}: ${first === undefined ? 'it failed' : lineOf(first)}. ${help}`;
    return { ...facts, text, help, errors };
  }
  const { count: many, times } = notice.missed;
  const [from = nominalTime, to = nominalTime] = [times[0], times.at(-1)];
  const help =
    times.length === 0
      ? `see: runsheet schedule show ${schedule}`
      : `to make up for them: runsheet schedule trigger ${schedule} --from ${iso(from)} --to ${iso(to)}`;
  const text = `schedule ${schedule} missed ${many} ${many === 1 ? 'time' : 'times'}${listed(about, times)}; no server ran then. ${help}`;
  return { ...facts, text, help, missed: { count: many, times: times.map(iso) } };
}

const RUN_DIGITS = 8;
const ERRORS_MOST = 10;
const TIMES_SHOWN = 5;
const TEXT_MOST = 500;

const iso = (at: number): string => new Date(at).toISOString();

function triggered({ schedule, isOnRule }: AboutFiring, from: number, to: number): string {
  const between = isOnRule ? ` --from ${iso(from)} --to ${iso(to)}` : '';
  return `runsheet schedule trigger ${schedule}${between}`;
}

function listed({ clock }: AboutFiring, times: readonly number[]): string {
  if (times.length === 0) return '';
  const more = times.length > TIMES_SHOWN ? ` and ${times.length - TIMES_SHOWN} more` : '';
  return `: ${times.slice(0, TIMES_SHOWN).map(clock).join(', ')}${more}`;
}

const clean = (text: string): string => shortened(terminalLine(withoutSecrets(text)), TEXT_MOST);

/** Without the line of the sheet, which a receiver need not know. */
function shown({ code, message, hint, place }: FiringError): FiringError {
  const { file, line, column, cell } = place ?? {};
  return definedOnly({
    code,
    message: clean(message),
    hint: hint === undefined ? undefined : clean(hint),
    place: file === undefined ? undefined : definedOnly({ file: clean(file), line, column, cell }),
  });
}

const lineOf = ({ code, message, place }: FiringError): string =>
  `${place?.line === undefined ? '' : `${place.file}:${place.line}:${place.column ?? 1} `}${code === undefined ? '' : `${code}: `}${message}`;
