// Reads the five fields of a cron rule as Temporal does, so that a worker can tell whether a time is on the rule.
// Temporal's own parser decides when a schedule fires; a test compares both.

import { problem } from '../errors/error.ts';

/** A time on the clock of a zone. */
export type WallTime = {
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
};

type Cron = {
  readonly fields: string;
  readonly matches: (time: WallTime) => boolean;
  /** Whether day of month and day of week are both limited; a day must match both. */
  readonly needsBothDays: boolean;
};

const NICKNAMES: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};

type Field = {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  readonly words?: readonly string[];
};

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const MINUTE: Field = { name: 'minute', least: 0, most: 59 };
const HOUR: Field = { name: 'hour', least: 0, most: 23 };
const DAY: Field = { name: 'day of month', least: 1, most: 31 };
const MONTH: Field = { name: 'month', least: 1, most: 12, words: MONTHS };
/** 7 is Sunday as well. */
const WEEKDAY: Field = { name: 'day of week', least: 0, most: 7, words: WEEKDAYS };

const EXAMPLE = "five fields: minute, hour, day of month, month, day of week, such as --cron '0 2 * * *'";

/** Throws E602. */
export function parseCron(given: string): Cron {
  const text = given.trim();
  const fields = NICKNAMES[text.toLowerCase()] ?? text;
  const parts = fields.split(/\s+/);
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = parts;
  if (/^\S*TZ=/.test(text)) throw wrong(given, 'names a zone', 'give the zone as --tz <zone>');
  if (parts.length !== 5) throw wrong(given, `has ${parts.length} of 5 fields`, EXAMPLE);
  const minutes = valuesOf(given, MINUTE, minute);
  const hours = valuesOf(given, HOUR, hour);
  const days = valuesOf(given, DAY, day);
  const months = valuesOf(given, MONTH, month);
  if (!isSomeDay(days, months))
    throw wrong(
      given,
      'never fires: none of its months has these days',
      'the last day of February is 28, or 29 in leap years',
    );
  const weekdays = new Set([...valuesOf(given, WEEKDAY, weekday)].map((one) => one % 7));
  return {
    fields: parts.join(' '),
    needsBothDays: days.size < 31 && weekdays.size < 7,
    matches: (time) =>
      minutes.has(time.minute) &&
      hours.has(time.hour) &&
      days.has(time.day) &&
      months.has(time.month) &&
      weekdays.has(time.weekday),
  };
}

const DAYS_IN = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const isSomeDay = (days: ReadonlySet<number>, months: ReadonlySet<number>): boolean =>
  [...months].some((month) => Math.min(...days) <= (DAYS_IN[month - 1] ?? 0));

function valuesOf(cron: string, field: Field, text: string): ReadonlySet<number> {
  return new Set(text.split(',').flatMap((part) => rangeOf(cron, field, part)));
}

/** `*`, `3`, `3-7`, each also with a step: `3/2` is `3-<most>/2`. */
function rangeOf(cron: string, field: Field, part: string): readonly number[] {
  const [, from = '', to, step] = /^(\*|\w+)(?:-(\w+))?(?:\/(\d{1,4}))?$/.exec(part) ?? [];
  const isAll = from === '*';
  const start = isAll ? field.least : valueOf(field, from);
  const end = isAll || (to === undefined && step !== undefined) ? field.most : valueOf(field, to ?? from);
  const by = Number(step ?? 1);
  const isRange = start >= field.least && end <= field.most && start <= end && by >= 1;
  if (!isRange || (isAll && to !== undefined))
    throw wrong(
      cron,
      `has ${part === '' ? 'nothing' : part} as ${field.name}`,
      `values: ${field.least}-${field.most}, *, lists (1,15), ranges (1-5), steps (*/10)`,
    );
  return Array.from({ length: Math.floor((end - start) / by) + 1 }, (_, at) => start + at * by);
}

function valueOf({ words = [], least }: Field, text: string): number {
  const word = words.indexOf(text.toLowerCase());
  if (word >= 0) return word + least;
  return /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
}

const wrong = (cron: string, what: string, hint: string) =>
  problem('E602', { what: `--cron '${cron}' ${what}`, hint });

export type Zone = {
  readonly name: string;
  /** The clock's time minus UTC. */
  readonly offsetMs: (at: number) => number;
};

export const ownZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Throws E602 for a zone that does not exist. */
export function zoneOf(name: string): Zone {
  const format = formatOf(name);
  return {
    name: properCase(name, format.resolvedOptions().timeZone),
    offsetMs: (at) => {
      const second = Math.floor(at / 1_000) * 1_000;
      const part = Object.fromEntries(format.formatToParts(second).map(({ type, value }) => [type, value]));
      const { year, month, day, hour, minute, second: shown } = part;
      return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${shown}Z`) - second;
    },
  };
}

/** Temporal knows names in their own case only; another name of the same zone stays as it is given. */
const properCase = (name: string, known: string): string =>
  name.toLowerCase() === known.toLowerCase() || name === name.toLowerCase() ? known : name;

function formatOf(name: string): Intl.DateTimeFormat {
  try {
    // JavaScript takes offsets too, Temporal does not.
    if (/^[+-]/.test(name)) throw new RangeError('an offset');
    return new Intl.DateTimeFormat('en-CA', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
  } catch (error) {
    throw problem(
      'E602',
      {
        what: `--tz ${name} is not a time zone`,
        hint: 'use a name such as Europe/Paris, America/New_York or UTC',
      },
      { cause: error },
    );
  }
}

/** What the clock of the zone shows, as if it were UTC. */
export const shown = (zone: Zone, at: number): Date => new Date(at + zone.offsetMs(at));

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

export const wallTimeOf = (time: Date): WallTime => ({
  month: time.getUTCMonth() + 1,
  day: time.getUTCDate(),
  weekday: time.getUTCDay(),
  hour: time.getUTCHours(),
  minute: time.getUTCMinutes(),
});

/** Whether the rule fires at this moment. */
export const isOnRule = (cron: Cron, zone: Zone, at: number): boolean =>
  at % MINUTE_MS === 0 && cron.matches(wallTimeOf(shown(zone, at)));

/** When the clock shows this time, given as if it were UTC; the earlier moment if the clock shows it twice. */
export function instantOf(zone: Zone, clock: number): number {
  const candidates = [clock - DAY_MS, clock + DAY_MS].map((near) => clock - zone.offsetMs(near));
  const exact = candidates.filter((at) => at + zone.offsetMs(at) === clock);
  return Math.min(...(exact.length > 0 ? exact : candidates));
}
