// Reads a cron rule as Temporal does, so that a worker can tell whether a time is on the rule. Temporal's own parser decides when a
// schedule fires; a test compares both.

import { Cron } from 'croner';
import { errorMessage, problem } from '../errors/error.ts';

type CronRule = {
  readonly fields: string;
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

const EXAMPLE = "five fields: minute, hour, day of month, month, day of week, such as --cron '0 2 * * *'";
const VALUES = '*, values, lists (1,15), ranges (1-5), steps (*/10); nov and mon in the last two fields';
/** Syntax that the library knows and Temporal does not, such as `L` for the last day. */
const FOREIGN = /[?#+]|\d[LW]|\bLW?\b/i;

/** Throws E602. */
export function parseCron(cron: string): CronRule {
  const text = cron.trim();
  const parts = (NICKNAMES[text.toLowerCase()] ?? text).split(/\s+/);
  const fields = parts.join(' ');
  if (/^\S*TZ=/.test(text)) throw wrong(cron, 'names a zone', 'give the zone as --tz <zone>');
  if (parts.length !== 5) throw wrong(cron, `has ${parts.length} of 5 fields`, EXAMPLE);
  const [foreign] = FOREIGN.exec(fields) ?? [];
  if (foreign !== undefined) throw wrong(cron, `has ${foreign}, which Temporal does not know`, VALUES);
  if (ruleOf(cron, fields).nextRun() === null)
    throw wrong(
      cron,
      'never fires: none of its months has these days',
      'the last day of February is 28, or 29 in leap years',
    );
  const [, , day, , weekday] = parts;
  return { fields, needsBothDays: day !== '*' && weekday !== '*' };
}

function ruleOf(cron: string, fields: string, timezone = 'UTC'): Cron {
  try {
    return new Cron(fields, { paused: true, timezone, mode: '5-part', domAndDow: true, sloppyRanges: true });
  } catch (error) {
    throw wrong(cron, `is no rule: ${errorMessage(error).replace('CronPattern: ', '')}`, VALUES);
  }
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

/** Temporal knows zone names only in their own case; another name of the same zone stays unchanged. */
const properCase = (name: string, canonical: string): string =>
  name.toLowerCase() === canonical.toLowerCase() || name === name.toLowerCase() ? canonical : name;

function formatOf(name: string): Intl.DateTimeFormat {
  try {
    // JavaScript accepts offsets too, Temporal does not.
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

/** The time on the clock of the zone, as if it were UTC. */
export const shown = (zone: Zone, at: number): Date => new Date(at + zone.offsetMs(at));

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Tells whether the rule fires at a moment, by the clock of the zone. */
export function timesOf(cron: string, timezone: string): (at: number) => boolean {
  const rule = ruleOf(cron, cron, timezone);
  return (at) => at % MINUTE_MS === 0 && rule.match(new Date(at));
}

/**
 * The moment when the clock shows this time, which is given as if it were UTC; the earlier one if the clock shows it
 * twice.
 */
export function instantOf(zone: Zone, clock: number): number {
  const candidates = [clock - DAY_MS, clock + DAY_MS].map((near) => clock - zone.offsetMs(near));
  const exact = candidates.filter((at) => at + zone.offsetMs(at) === clock);
  return Math.min(...(exact.length > 0 ? exact : candidates));
}
