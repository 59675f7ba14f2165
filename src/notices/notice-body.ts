// The body of a notification, as receivers get it; docs/notifications.md describes the fields.

import { havePrices, knownCost } from '../options/facts/prices.ts';
import { definedOnly } from '../options/defined-only.ts';
import { z } from 'zod';
import { rowsDone } from '../batch/accounting/tally.ts';
import { pauseHint } from '../batch/pausing/pause-hints.ts';
import { PAUSE_KINDS } from '../batch/pausing/pause-kinds.ts';
import type { Notice } from '../batch/notices/notice.ts';
import type { Progress } from '../batch/shown/progress.ts';
import type { BatchFile } from '../store/batch-file.ts';
import type { FiringError, ScheduleNotice } from '../batch/notices/schedule-notice.ts';
import { shortened, terminalLine } from '../errors/outside-text.ts';
import { withoutSecrets } from '../errors/redact.ts';
import { money, usdOf } from '../options/text/printed-numbers.ts';

const count = z.number().int().nonnegative();

export const NEWS = [
  'done',
  'failures',
  'half-budget',
  'paused',
] as const satisfies readonly Notice['news'][];

export const noticeSchema = z.object({
  version: z.literal(1).describe('raised when a field changes its meaning'),
  id: z.string().describe('the same in each try to deliver this notification: ignore the second one'),
  event: z.enum(NEWS).describe('what happened'),
  at: z.iso.datetime().describe('when it happened'),
  text: z.string().describe('one line for people'),
  batch: z.string().describe('id of the batch'),
  sheet: z.string().describe('name of the sheet'),
  deployment: z.string().describe('name or id of the deployment'),
  pass: count.describe('1, or higher after rows were added or sent again'),
  rows: z
    .object({
      total: count,
      succeeded: count,
      failed: count.describe('ended without success'),
      running: count.describe('runs in flight'),
      open: count.describe('rows without an outcome'),
    })
    .describe('the rows when the notification was sent'),
  refused: z
    .array(z.object({ row: count, key: z.string(), reason: z.string() }))
    .exactOptional()
    .describe(
      'with event done: the first ten rows that could not be read from the sheet, or that the service refused',
    ),
  costUsd: z
    .number()
    .exactOptional()
    .describe('estimated cost so far, in US dollars; absent if it is not known, and on GPUs without a price'),
  maxCostUsd: z.number().exactOptional().describe('the limit of --max-cost, if there is one'),
  pause: z
    .object({
      kind: z.enum(PAUSE_KINDS),
      reason: z.string(),
      help: z.string().describe('the command that helps'),
    })
    .exactOptional()
    .describe('with event paused: why, and what helps'),
});
export type NoticeBody = z.infer<typeof noticeSchema>;
type RefusedRow = Readonly<NonNullable<NoticeBody['refused']>[number]>;

type About = Pick<BatchFile, 'batch' | 'mark' | 'sheet' | 'deployment' | 'service'>;

/** `refused`: the first refused rows of an ended batch. */
export function noticeBody(
  file: About,
  notice: Notice,
  progress: Progress,
  refused: readonly RefusedRow[] = [],
): NoticeBody {
  const { batch, mark, sheet, deployment, service } = file;
  const { tally, running, rows: total, costUsd, maxCostNano } = progress;
  const { succeeded } = tally.outcomes;
  const done = rowsDone(tally) - (progress.again ?? 0);
  const rows = { total, succeeded, failed: rowsDone(tally) - succeeded, running, open: total - done };
  const { pause } = notice;
  const body = definedOnly({
    version: 1 as const,
    id: `${mark}-${notice.pass}-${notice.number}`,
    event: notice.news,
    at: new Date(notice.at).toISOString(),
    batch,
    sheet: sheet.name,
    deployment: deployment.name ?? deployment.id,
    pass: notice.pass,
    rows,
    refused: refused.length === 0 ? undefined : refused.map(shownRefusal),
    costUsd: havePrices(service.prices) ? (knownCost(costUsd, progress.unpriced) ?? undefined) : undefined,
    maxCostUsd: maxCostNano === undefined ? undefined : usdOf(maxCostNano),
    pause: pause && { ...pause, help: pauseHint(batch, pause, false, progress.budget?.neededNano) },
  });
  return { ...body, text: textOf(body) };
}

const shownRefusal = ({ row, key, reason }: RefusedRow): RefusedRow => ({ row, key, reason: clean(reason) });

/** Refused rows that the line for people names. */
const MAX_REFUSED = 3;

/** `; refused: copper-pan (E210: "pan.png" in column "image" is not there)` */
function refusedText(refused: readonly RefusedRow[]): string {
  if (refused.length === 0) return '';
  const texts = refused.slice(0, MAX_REFUSED).map(({ key, reason }) => `${clean(key)} (${reason})`);
  return `; refused: ${texts.join(', ')}${refused.length > MAX_REFUSED ? ', …' : ''}`;
}

type NoticeFacts = Omit<NoticeBody, 'text'>;

const TEXTS: Readonly<Record<NoticeBody['event'], (facts: NoticeFacts) => string>> = {
  done: ({ rows, refused = [] }) =>
    `is done: ${rows.succeeded} of ${rows.total} rows succeeded${rows.failed === 0 ? '' : `, ${rows.failed} did not`}${refusedText(refused)}`,
  failures: ({ rows }) =>
    `has ${rows.failed} rows without success after ${rows.succeeded + rows.failed} of ${rows.total}`,
  'half-budget': ({ maxCostUsd = 0 }) => `has spent half of ${money(maxCostUsd)}`,
  paused: ({ pause }) => `is paused (${pause?.kind}): ${pause?.reason}; ${pause?.help}`,
};

const textOf = (facts: NoticeFacts): string =>
  `${facts.batch} ${TEXTS[facts.event](facts)}${facts.costUsd ? ` (${money(facts.costUsd)} so far)` : ''}`;

const positive = z.number().int().positive();
const time = z.iso.datetime();

export const scheduleNoticeSchema = z.object({
  version: z.literal(1).describe('raised when a field changes its meaning'),
  id: z.string().describe('the same in each try to deliver this notification: ignore the second one'),
  event: z.literal('firing-failed').describe('what happened'),
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
            line: positive.exactOptional(),
            column: positive.exactOptional(),
            cell: z.string().exactOptional(),
          })
          .exactOptional(),
      }),
    )
    .describe('why it made no batch; the first errors of a sheet'),
});
export type ScheduleNoticeBody = z.infer<typeof scheduleNoticeSchema>;

type AboutFiring = {
  readonly schedule: string;
  readonly sheet: string;
  readonly deployment: string;
  readonly nominalTime: number;
  /** The workflow run: a time that is fired again is another notification. */
  readonly run: string;
  /** Whether the nominal time is on the rule; otherwise it was a trigger. */
  readonly isOnRule: boolean;
  /** The nominal time on the clock of the schedule's zone: `2026-11-23 02:00`. */
  readonly clock: string;
};

export function scheduleNoticeBody(about: AboutFiring, notice: ScheduleNotice): ScheduleNoticeBody {
  const { schedule, sheet, deployment, nominalTime, run } = about;
  const when = iso(nominalTime);
  const facts = {
    version: 1 as const,
    id: `${schedule}-${when.replaceAll(/[-:]|\.\d+/g, '')}-${run.slice(0, RUN_DIGITS)}-firing-failed`,
    event: 'firing-failed' as const,
    at: iso(notice.at),
    schedule,
    sheet,
    deployment,
    nominalTime: when,
  };
  const errors = notice.errors.slice(0, MAX_ERRORS).map(shown);
  const help = `correct it, then: ${triggered(about)}`;
  const [first] = errors;
  const text = `${schedule} made no batch at ${about.clock}: ${first === undefined ? 'it failed' : lineOf(first)}; ${help}`;
  return { ...facts, text, help, errors };
}

const RUN_DIGITS = 8;
const MAX_ERRORS = 10;
const MAX_TEXT = 500;

const iso = (at: number): string => new Date(at).toISOString();

function triggered({ schedule, nominalTime, isOnRule }: AboutFiring): string {
  const at = iso(nominalTime);
  return `runsheet schedule trigger ${schedule}${isOnRule ? ` --from ${at} --to ${at}` : ''}`;
}

const clean = (text: string): string => shortened(terminalLine(withoutSecrets(text)), MAX_TEXT);

/** The error without the line of the sheet, which a receiver need not know. */
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

export type AnyNoticeBody = NoticeBody | ScheduleNoticeBody;
