// schedule list, show, pause, resume, delete. Each starts the embedded servers, because they hold the schedules.

import { zoneOf, instantOf, type Zone } from '../../schedule/cron.ts';
import type { ScheduleInfo } from '../../temporal/temporal-schedules.ts';
import { configOf } from '../flags/batch-options.ts';
import { printerFor, type Context, type Next } from '../context.ts';
import { aboutLines, firingLine, ruleInWords, ruleLines, scheduleJson, timeText } from './schedule-text.ts';
import { shownFirings } from '../../library/schedules.ts';

import { keepNames } from '../completion/proposals.ts';
import { toKeep } from '../next-command.ts';
import { openSession } from '../command-session.ts';
import type { ScheduleDefinition } from '../../schedule/schedule-definition.ts';
import { problem } from '../../errors/error.ts';
import { triggerSchema } from '../json/documents.ts';
import { shaped } from '../json/shape.ts';

type SchedulePlaceFlags = { readonly out?: string };
type ReadFlags = SchedulePlaceFlags & { readonly output: 'text' | 'json' };

export async function list(this: Context, flags: ReadFlags): Promise<void> {
  const printer = printerFor(this, flags);
  await using session = await openSession(flags, printer);
  const { schedules } = session;
  const infos: ScheduleInfo[] = [];
  for await (const info of schedules.list()) infos.push(info);
  const names = infos.map(({ name }) => name);
  keepNames(configOf(flags), 'schedules', names);
  if (flags.output === 'json') printer.json(await Promise.all(infos.map((info) => scheduleJson(info))));
  else for (const info of infos) printer.data(await lineOf(info));
  const [first] = infos;
  if (first === undefined) printer.notice('no schedules here yet');
  printer.next(
    first === undefined
      ? ['create', "runsheet schedule create nightly <sheet> -d <deployment> --cron '0 2 * * *'"]
      : ['show', `runsheet schedule show ${first.name}`],
  );
}

async function lineOf(info: ScheduleInfo): Promise<string> {
  const { name, definition, nextTimes, isPaused } = info;
  const zone = zoneOf(definition.timezone);
  const [next] = nextTimes;
  const last = (await shownFirings({ ...info, firings: info.firings.slice(-1) })).at(0);
  return [
    name,
    `${ruleInWords(definition.cron)}, ${definition.timezone}`,
    isPaused ? 'paused' : next ? `next ${timeText(zone, next)}` : 'never again',
    last ? `last ${firingLine(zone, last)}` : 'has not fired',
  ].join('\t');
}

export async function show(this: Context, flags: ReadFlags, name: string): Promise<void> {
  const printer = printerFor(this, flags);
  await using session = await openSession(flags, printer);
  const { schedules } = session;
  const info = await schedules.getHandle(name).describe();
  if (flags.output === 'json') printer.json(await scheduleJson(info));
  else printer.data(await textOf(info));
  printer.next(
    info.isPaused
      ? ['continue', `runsheet schedule resume ${name}`]
      : ['now', `runsheet schedule trigger ${name}`],
  );
}

async function textOf(info: ScheduleInfo): Promise<string> {
  const { name, definition, counts, isPaused } = info;
  const zone = zoneOf(definition.timezone);
  const firings = (await shownFirings(info)).toReversed();
  return [
    `${name}  ${isPaused ? 'paused' : 'active'}`,
    ...ruleLines(info),
    ...aboutLines(definition),
    `  so far    ${counts.fired} fired, ${counts.skipped} left out, ${counts.missed} missed`,
    ...firings.map(
      (firing, at) => `${at === 0 ? '  firings   ' : '            '}${firingLine(zone, firing)}`,
    ),
  ].join('\n');
}

export async function pause(
  this: Context,
  flags: SchedulePlaceFlags & { readonly reason?: string },
  name: string,
): Promise<void> {
  const printer = printerFor(this);
  await using session = await openSession(flags, printer);
  const { schedules } = session;
  const handle = schedules.getHandle(name);
  const { isPaused } = await handle.describe();
  if (!isPaused) await handle.pause(flags.reason);
  printer.notice(isPaused ? 'already paused' : 'paused');
  printer.next(['continue', `runsheet schedule resume ${name}`]);
}

export async function resume(this: Context, flags: SchedulePlaceFlags, name: string): Promise<void> {
  const printer = printerFor(this);
  await using session = await openSession(flags, printer);
  const { schedules } = session;
  const handle = schedules.getHandle(name);
  const { isPaused } = await handle.describe();
  if (isPaused) await handle.resume();
  const { definition, nextTimes } = await handle.describe();
  const [next] = nextTimes;
  const when = next ? `; next ${timeText(zoneOf(definition.timezone), next)}` : '';
  printer.notice(`${isPaused ? 'resumed' : 'already active'}${when}`);
  printer.next(['show', `runsheet schedule show ${name}`]);
}

export async function remove(this: Context, flags: SchedulePlaceFlags, name: string): Promise<void> {
  const printer = printerFor(this);
  await using session = await openSession(flags, printer);
  const { schedules } = session;
  await schedules.getHandle(name).delete();
  printer.notice(`${name} deleted; its batches stay`);
  printer.next(['batches', 'runsheet list']);
}

type TriggerFlags = {
  readonly from?: string;
  readonly to?: string;
  readonly out?: string;
  readonly output: 'text' | 'json';
};

export default async function trigger(this: Context, flags: TriggerFlags, name: string): Promise<void> {
  const printer = printerFor(this, flags);
  if ((flags.from === undefined) !== (flags.to === undefined))
    throw problem('E602', {
      what: '--from and --to belong together',
      hint: `for example: runsheet schedule trigger ${name} --from 2026-11-01 --to 2026-11-07`,
    });
  await using session = await openSession(flags, printer);
  const { schedules, stack } = session;
  const handle = schedules.getHandle(name);
  const { definition } = await handle.describe();
  const batches = await handle.trigger(betweenOf(flags, zoneOf(definition.timezone)));
  if (flags.output === 'json') printer.json(shaped(triggerSchema, { schedule: name, batches }));
  else for (const batch of batches) printer.name(batch);
  if (batches.length === 0) printer.notice(flags.from === undefined ? notNow(definition) : NO_TIMES);
  else if (stack)
    printer.notice('It runs while the embedded servers run, which `runsheet dev` keeps running.');
  printer.next(...nextOf(name, batches, toKeep(stack)));
}

const NO_TIMES = 'no time of the rule lies between --from and --to';
const notNow = ({ name, overlap }: ScheduleDefinition): string =>
  `a batch of ${name} is running, so this firing ${overlap === 'skip' ? 'was left out' : 'waits for its end'}`;

function nextOf(name: string, [first]: readonly string[], servers: readonly Next[]): readonly Next[] {
  if (first === undefined) return [['show', `runsheet schedule show ${name}`]];
  return servers.length > 0
    ? [...servers, ['status', `runsheet status ${first}`]]
    : [['follow', `runsheet follow ${first}`]];
}

function betweenOf(
  { from, to }: TriggerFlags,
  zone: Zone,
): { readonly from: Date; readonly to: Date } | undefined {
  if (from === undefined || to === undefined) return undefined;
  const [first, last] = [timeOf('--from', from, zone, '00:00'), timeOf('--to', to, zone, '23:59')];
  if (first > last) throw problem('E602', { what: '--from is after --to', hint: 'swap them' });
  // Future times are left to the schedule.
  return { from: first, to: new Date(Math.min(last.getTime(), Date.now())) };
}

/** Parses a time in the schedule's zone, unless the text has an offset. */
function timeOf(flag: string, text: string, zone: Zone, clock: string): Date {
  const [, date, time = clock, offset] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d))?(?::\d\d)?(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? [];
  const shown = Date.parse(`${date}T${time}${offset ?? 'Z'}`);
  if (Number.isNaN(shown))
    throw problem('E602', {
      what: `${flag} ${text} is not a time`,
      hint: 'examples: 2026-11-01, 2026-11-01T02:00',
    });
  return new Date(offset === undefined ? instantOf(zone, shown) : shown);
}
