// The clock of a time zone, and whether a rule fires at what it shows.

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

/** When the clock shows this time, given as if it were UTC; the earlier moment if the clock shows it twice. */
export function instantOf(zone: Zone, clock: number): number {
  const candidates = [clock - DAY_MS, clock + DAY_MS].map((near) => clock - zone.offsetMs(near));
  const exact = candidates.filter((at) => at + zone.offsetMs(at) === clock);
  return Math.min(...(exact.length > 0 ? exact : candidates));
}
