// The clock of a time zone: what it shows, and when it is set forward or back.

import { problem } from '../errors/error.ts';
import type { Cron, WallTime } from './cron.ts';

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

/** Times of the rule that a clock change removes or shows twice. */
export type ClockChange = {
  readonly what: 'skipped' | 'repeated';
  readonly moment: Date;
  readonly byMs: number;
  /** The clock's times, as if they were UTC. */
  readonly times: readonly Date[];
};

/** The clock changes of the `days` after `from` that meet the rule. */
export function clockChanges(cron: Cron, zone: Zone, from: number, days = 366): readonly ClockChange[] {
  const found: ClockChange[] = [];
  for (let at = from, end = from + days * DAY_MS; at < end; at += DAY_MS) {
    const [before, after] = [zone.offsetMs(at), zone.offsetMs(at + DAY_MS)];
    if (before === after) continue;
    const moment = changeBetween(zone, at, at + DAY_MS);
    const times = minutesBetween(moment + Math.min(before, after), moment + Math.max(before, after));
    const met = times.filter((time) => cron.matches(wallTimeOf(time)));
    if (met.length > 0)
      found.push({
        what: after > before ? 'skipped' : 'repeated',
        moment: new Date(moment),
        byMs: Math.abs(after - before),
        times: met,
      });
  }
  return found;
}

/** The first minute with the later offset. */
function changeBetween(zone: Zone, from: number, to: number): number {
  const old = zone.offsetMs(from);
  let [low, high] = [Math.floor(from / MINUTE_MS), Math.ceil(to / MINUTE_MS)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (zone.offsetMs(middle * MINUTE_MS) === old) low = middle;
    else high = middle;
  }
  return high * MINUTE_MS;
}

const minutesBetween = (from: number, to: number): readonly Date[] =>
  Array.from({ length: Math.round((to - from) / MINUTE_MS) }, (_, at) => new Date(from + at * MINUTE_MS));

/** When the clock shows this time, given as if it were UTC; the earlier moment if the clock shows it twice. */
export function instantOf(zone: Zone, clock: number): number {
  const candidates = [clock - DAY_MS, clock + DAY_MS].map((near) => clock - zone.offsetMs(near));
  const exact = candidates.filter((at) => at + zone.offsetMs(at) === clock);
  return Math.min(...(exact.length > 0 ? exact : candidates));
}
