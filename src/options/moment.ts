// Reads a time of day, or a duration from now. A time without a zone is on the clock of this machine.

import type { Duration } from './generated.ts';
import type { Wrong } from './kinds.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MAX_MS = 3_650 * DAY_MS;
const ZONE = /(?:Z|[+-]\d\d:?\d\d)$/i;

export const HAS_PASSED = 'has passed';

/** Whether the text is a duration, such as `8h`. */
export const isSpan = (written: unknown): written is Extract<Duration, string> =>
  typeof written === 'string' && /^[\d.]+(ms|s|m|h|d)$/.test(written);

/** The time in milliseconds since 1970. */
export function readMoment(written: unknown, msOf: (duration: string) => number): number | Wrong | undefined {
  const at = momentOf(written, msOf);
  if (typeof at === 'object' || Number.isNaN(at)) return typeof at === 'object' ? at : undefined;
  if (at <= Date.now()) return { wrong: HAS_PASSED };
  return at <= Date.now() + MAX_MS ? Math.round(at) : { wrong: 'is more than ten years away' };
}

function momentOf(written: unknown, msOf: (duration: string) => number): number | Wrong {
  if (written instanceof Date) return written.getTime();
  if (typeof written !== 'string') return Number.NaN;
  if (isSpan(written)) return Date.now() + msOf(written);
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(written) ? dateOf(written) : Number.NaN;
}

/** Refuses times that the clock of this machine never shows or shows twice, and days that no month has. */
function dateOf(input: string): number | Wrong {
  const at = Date.parse(input);
  const clock = Date.parse(`${input.replace(ZONE, '')}Z`);
  if (Number.isNaN(at) || Number.isNaN(clock)) return Number.NaN;
  if (new Date(clock).toISOString().slice(0, 10) !== input.slice(0, 10))
    return { wrong: 'is on a day that the month does not have' };
  if (ZONE.test(input)) return at;
  const offsets = new Set([at - DAY_MS, at + DAY_MS].map(offsetMs));
  const moments = [...offsets]
    .map((offset) => clock - offset)
    .filter((time) => clock - time === offsetMs(time));
  if (moments.length === 1) return at;
  const examples = [...offsets].map((offset) =>
    new Date(clock - offset).toISOString().replace(/:\d\d\.\d+Z/, 'Z'),
  );
  return moments.length === 0
    ? {
        wrong: 'does not exist on the clock of this machine, which is set forward then',
        hint: `say which time: ${examples.join(', ')}`,
      }
    : {
        wrong: 'comes twice on the clock of this machine, which is set back then',
        hint: `say which one: ${examples.join(', ')}`,
      };
}

const offsetMs = (at: number): number => -new Date(at).getTimezoneOffset() * MINUTE_MS;
