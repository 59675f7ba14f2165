// The body of a notification, as receivers get it; docs/notifications.md describes it.

import { definedOnly } from '../options/defined-only.ts';
import { z } from 'zod';
import { rowsDone } from '../batch/accounting/tally.ts';
import { PAUSE_KINDS, pauseHint, type Notice } from '../batch/pausing/pause-kinds.ts';
import type { Progress } from '../batch/shown/progress.ts';
import type { BatchFile } from '../store/batch-file.ts';

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
  pass: count.describe('1, or higher after rows were sent again'),
  rows: z
    .object({
      total: count,
      succeeded: count,
      failed: count.describe('ended without success'),
      running: count.describe('outstanding runs'),
      open: count.describe('rows without an outcome'),
    })
    .describe('the rows when the notification was sent'),
  costUsd: z.number().describe('estimated cost so far, in US dollars'),
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

type About = Pick<BatchFile, 'batch' | 'mark' | 'sheet' | 'deployment'>;

export function noticeBody(file: About, notice: Notice, progress: Progress): NoticeBody {
  const { batch, mark, sheet, deployment } = file;
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
    costUsd,
    maxCostUsd: maxCostNano === undefined ? undefined : maxCostNano / 1e9,
    pause: pause && { ...pause, help: pauseHint(batch, pause.kind, false, maxCostNano) },
  });
  return { ...body, text: textOf(body) };
}

type Facts = Omit<NoticeBody, 'text'>;

const TEXTS: Readonly<Record<NoticeBody['event'], (facts: Facts) => string>> = {
  done: ({ rows }) =>
    `is done: ${rows.succeeded} of ${rows.total} rows succeeded${rows.failed === 0 ? '' : `, ${rows.failed} did not`}`,
  failures: ({ rows }) =>
    `has ${rows.failed} rows without success after ${rows.succeeded + rows.failed} of ${rows.total}`,
  'half-budget': ({ maxCostUsd = 0 }) => `has spent half of ${usd(maxCostUsd)}`,
  paused: ({ pause }) => `is paused (${pause?.kind}): ${pause?.reason}. ${pause?.help}`,
};

const usd = (amount: number): string => `$${amount.toFixed(2)}`;

const textOf = (facts: Facts): string =>
  `${facts.batch} ${TEXTS[facts.event](facts)} (${usd(facts.costUsd)} so far)`;
