// schedule list, show, pause, resume, delete. Embedded servers start for each of them, because they have the schedules.

import { zoneOf } from '../../schedule/zone.ts';
import type { ScheduleInfo } from '../../temporal/schedules.ts';
import { configOf } from '../flags/batch-options.ts';
import { printerFor, type Context } from '../context.ts';
import { aboutLines, firingLine, ruleInWords, ruleLines, scheduleJson, timeText } from './schedule-text.ts';
import { shownFirings } from '../../library/schedules.ts';
import { sayNext, type Next } from '../next-command.ts';
import { keepNames } from '../completion/proposals.ts';
import { openSession } from '../session.ts';

type Flags = { readonly out?: string };
type ReadFlags = Flags & { readonly output: 'text' | 'json' };

export async function list(this: Context, flags: ReadFlags): Promise<void> {
  const printer = printerFor(this);
  await using session = await openSession(flags, printer);
  const { schedules } = session;
  const all: ScheduleInfo[] = [];
  for await (const one of schedules.list()) all.push(one);
  const names = all.map(({ name }) => name);
  keepNames(configOf(flags).home, 'schedules', names);
  if (flags.output === 'json') printer.json(await Promise.all(all.map((one) => scheduleJson(one))));
  else for (const one of all) printer.data(await lineOf(one));
  const [first] = all;
  if (first === undefined) printer.notice('no schedules here yet');
  sayNext(
    printer,
    flags.output,
    first === undefined
      ? ['create', "runsheet schedule create nightly <sheet> -d <deployment> --cron '0 2 * * *'"]
      : ['show', `runsheet schedule show ${first.name}`],
  );
}

const triggering = (name: string): Next => ['now', `runsheet schedule trigger ${name}`];

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
  const printer = printerFor(this);
  await using session = await openSession(flags, printer);
  const { schedules } = session;
  const info = await schedules.getHandle(name).describe();
  if (flags.output === 'json') printer.json(await scheduleJson(info));
  else printer.data(await textOf(info));
  sayNext(
    printer,
    flags.output,
    info.isPaused ? ['continue', `runsheet schedule resume ${name}`] : triggering(name),
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
  flags: Flags & { readonly reason?: string },
  name: string,
): Promise<void> {
  const printer = printerFor(this);
  await using session = await openSession(flags, printer);
  const { schedules } = session;
  const handle = schedules.getHandle(name);
  const { isPaused } = await handle.describe();
  if (!isPaused) await handle.pause(flags.reason);
  printer.notice(isPaused ? 'already paused' : 'paused');
  sayNext(printer, 'text', ['continue', `runsheet schedule resume ${name}`]);
}

export async function resume(this: Context, flags: Flags, name: string): Promise<void> {
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
  sayNext(printer, 'text', ['show', `runsheet schedule show ${name}`]);
}

export async function remove(this: Context, flags: Flags, name: string): Promise<void> {
  const printer = printerFor(this);
  await using session = await openSession(flags, printer);
  const { schedules } = session;
  await schedules.getHandle(name).delete();
  printer.notice(`${name} deleted; its batches stay`);
  sayNext(printer, 'text', ['batches', 'runsheet list']);
}
