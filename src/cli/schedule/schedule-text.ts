// Shows a schedule as text and as JSON.

import { toString as cronText } from 'cronstrue';
import { parseCron, shown, zoneOf, type Zone } from '../../schedule/cron.ts';
import type { ScheduleDefinition } from '../../schedule/schedule-definition.ts';
import { terminalLine, terminalLines } from '../../errors/outside-text.ts';
import { shownFirings, type ShownFiring } from '../../library/schedules.ts';
import type { CreatedSchedule, ScheduleInfo } from '../../temporal/temporal-schedules.ts';
import { ifPaid } from '../format.ts';
import { count, plural, span } from '../../options/text/printed-numbers.ts';
import { scheduleSchema } from '../json/documents.ts';
import { shaped } from '../json/shape.ts';

/** `at 02:00, Monday through Friday`. */
export function ruleInWords(cron: string): string {
  const words = cronText(cron, { use24HourTimeFormat: true });
  const both = parseCron(cron).needsBothDays ? ' (both days must match)' : '';
  return `${words.slice(0, 1).toLowerCase()}${words.slice(1)}${both}`;
}

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** `Mon 2026-11-23 02:00`. */
export function timeText(zone: Zone, time: Date): string {
  const at = shown(zone, time.getTime());
  return `${WEEKDAYS[at.getUTCDay()]} ${dayOf(at)} ${clockOf(at)}`;
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);
const clockOf = (at: Date): string => at.toISOString().slice(11, 16);

export function ruleLines({ definition, nextTimes, isPaused, note }: ScheduleInfo): readonly string[] {
  const { cron, timezone } = definition;
  const zone = zoneOf(timezone);
  const next = nextTimes.slice(0, 3).map((time) => timeText(zone, time));
  return [
    `  rule      ${ruleInWords(cron)}, ${timezone}  (${cron})`,
    `  next      ${next.join(', ') || 'never: no day matches the rule'}`,
    ...(isPaused ? [`  paused    ${terminalLine(note ?? 'by a user')}; it does not fire`] : []),
  ];
}

const OVERLAP: Readonly<Record<ScheduleDefinition['overlap'], string>> = {
  skip: 'skip: while a batch of the schedule runs, a firing is left out',
  buffer: 'buffer: while a batch of the schedule runs, one firing waits, and others are left out',
  cancel: 'cancel: a firing cancels the running batch of the schedule, and its runs',
};

export function aboutLines({
  sheet,
  request,
  overlap,
  catchupMs,
  reuse,
}: ScheduleDefinition): readonly string[] {
  const { notify = [] } = request.settings;
  return [
    `  sheet     ${terminalLine(sheet)}, read at each firing`,
    `  runs on   ${terminalLine(request.deployment)}${reuse ? ', only rows that no earlier batch has' : ', every row'}`,
    ...(notify.length === 0 ? [] : [`  notifies  ${terminalLine(notify.join(', '))}`]),
    `  overlap   ${OVERLAP[overlap]}`,
    `  catch-up  up to ${span(catchupMs / 1_000)} late, if no server ran at the time`,
  ];
}

export function firingLine(zone: Zone, { nominalTime, state, batch, reason, summary }: ShownFiring): string {
  const { rows = 0, outcomes, reused = 0, cost_usd = 0 } = summary ?? {};
  const results = `${count(outcomes?.succeeded ?? 0)} of ${plural(rows, 'row')} succeeded${reused > 0 ? `, ${count(reused)} reused` : ''}${refusedKeys(summary)}${ifPaid(cost_usd, (amount) => `  ${amount}`)}`;
  return [
    timeText(zone, nominalTime),
    state.padEnd(9),
    batch,
    ...(summary ? [results] : []),
    ...(reason ? [terminalLines(reason).replaceAll('\n', '\n    ')] : []),
  ].join('  ');
}

/** Refused rows that a line names. */
const MAX_REFUSED = 3;

/** `, 1 refused: copper-pan` */
function refusedKeys(summary: ShownFiring['summary']): string {
  const rows = summary?.outcomes.refused ?? 0;
  if (rows === 0) return '';
  const keys = (summary?.refused ?? []).slice(0, MAX_REFUSED).map(({ key }) => terminalLine(key));
  const names = rows > keys.length ? [...keys, '…'] : keys;
  return `, ${count(rows)} refused${keys.length === 0 ? '' : `: ${names.join(', ')}`}`;
}

export async function scheduleJson(info: ScheduleInfo, how?: CreatedSchedule['how']): Promise<object> {
  const { name, definition, isPaused, note, nextTimes, counts } = info;
  const { cron, timezone, sheet, out, overlap, catchupMs, reuse, request } = definition;
  return shaped(scheduleSchema, {
    schedule: name,
    cron,
    words: ruleInWords(cron),
    timezone,
    state: isPaused ? 'paused' : 'active',
    note,
    next: nextTimes.slice(0, 3).map((time) => time.toISOString()),
    sheet,
    deployment: request.deployment,
    out,
    overlap,
    catchup_seconds: catchupMs / 1_000,
    reuse,
    ...counts,
    firings: (await shownFirings(info)).map(firingJson),
    how,
  });
}

const firingJson = ({ nominalTime, startedAt, batch, state, reason, summary }: ShownFiring) => ({
  time: nominalTime.toISOString(),
  started_at: startedAt.toISOString(),
  batch,
  state,
  reason,
  rows: summary?.rows,
  reused: summary?.reused,
  outcomes: summary?.outcomes,
  cost_usd: summary?.cost_usd,
});
