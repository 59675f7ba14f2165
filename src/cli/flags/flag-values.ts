// Parses the values of flags. What is wrong is thrown and continues the name of the flag and the value.

import {
  AUTO_MOST,
  CONCURRENCY_MAX,
  MAX_COST_NANO_MAX,
  RETRIES_MAX,
  STARTS_PER_MINUTE_MAX,
} from '../../options/bounds.ts';
import { FAILURE_KINDS, type FailureKind, type RetriesByKind } from '../../options/failure-kind.ts';
import { GPUS, isGpu, type Gpu } from '../../options/gpu.ts';
import type { FailAfter, GpuConcurrency, UnconfirmedRule } from '../../batch/params.ts';
import { isName, SCHEDULE_NAME_MAX } from '../../create-batch/batch-id.ts';
import { list, nearest, problem } from '../../errors/error.ts';
import { isTag, NO_TAG } from '../../host/worker-tag.ts';
import { absoluteTarget } from '../../notices/notify-targets.ts';

/** Throws what is wrong with a value. The message continues after the flag and the value. */
const fail = (what: string, hint?: string): never => {
  throw problem('E602', { what, ...(hint !== undefined && { hint }) });
};

const MOST_WHOLE = 999_999_999;

export const wholeFrom =
  (least: number, most = MOST_WHOLE) =>
  (input: string): number => {
    const value = /^\d{1,10}$/.test(input) ? Number(input) : Number.NaN;
    return value >= least && value <= most
      ? value
      : fail(`is not a whole number from ${least} to ${most.toLocaleString('en-US')}`);
  };

/** At a higher speed a second takes less time than the clock can measure. */
const SPEED_MOST = 10_000;

export const factor = (input: string): number => {
  const value = Number(input);
  return value > 0 && value <= SPEED_MOST
    ? value
    : fail(`is not a number above 0, up to ${SPEED_MOST.toLocaleString('en-US')}`);
};
/** As a worker may have it. */
export const tag = (input: string): string => (isTag(input) ? input : fail(`is ${NO_TAG}`));

/** An empty value is most likely an unset shell variable. */
export const text = (input: string): string => (input === '' ? fail('is empty') : input);

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `90s`, `30m`, `2h`, `7d` in milliseconds; NaN for anything else. */
function msOf(input: string): number {
  const [, amount, unit = 's'] = /^(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h|d)?$/.exec(input) ?? [];
  return Number(amount) * (UNITS[unit] ?? 1);
}

const MOST_TIME = '365d';

export const timeFrom =
  (least: string) =>
  (input: string): number =>
    msOf(input) >= msOf(least) && msOf(input) <= msOf(MOST_TIME)
      ? msOf(input)
      : fail(`is not a time from ${least} to ${MOST_TIME}`, 'examples: 90s, 30m, 2h, 7d');

/** For what is removed: 30 could be seconds or days. */
export const timeWithUnit = (input: string): number =>
  /^[\d.]+$/.test(input)
    ? fail('has no unit', `for days: ${input}d; for hours: ${input}h; for minutes: ${input}m`)
    : timeFrom('0s')(input);

export const name = (input: string): string =>
  isName(input)
    ? input
    : fail(
        'is not a valid name',
        'use letters, digits, dots, underscores and hyphens, at most 100, beginning with a letter or a digit',
      );

/** The name of a batch with room for the time of a firing. */
export const scheduleName = (input: string): string =>
  input.length <= SCHEDULE_NAME_MAX ? name(input) : fail(`has more than ${SCHEDULE_NAME_MAX} characters`);

export type UnconfirmedChoice = { readonly rule: UnconfirmedRule['rule']; readonly afterMs?: number };

const PLAIN_RULES = ['unknown', 'ask', 'fail'] as const;

const RESUBMIT = 'resubmit-after=';

export const unconfirmedChoice = (input: string): UnconfirmedChoice => {
  if (input.startsWith(RESUBMIT))
    return { rule: 'resubmit', afterMs: timeFrom('1s')(input.slice(RESUBMIT.length)) };
  const rule = PLAIN_RULES.find((plain) => plain === input);
  if (rule !== undefined) return { rule };
  const values = [...PLAIN_RULES, `${RESUBMIT}2h`];
  const near = nearest(input, values);
  return fail(
    'is not one of its values',
    `${near === undefined ? '' : `did you mean ${near}? `}values: ${list(values)}`,
  );
};

const orNone =
  <T>(parse: (input: string) => T) =>
  (input: string): T | 'none' =>
    input === 'none' ? 'none' : parse(input);

/** `600/min` or `600`. */
export const perMinute = orNone((input) => wholeFrom(1, STARTS_PER_MINUTE_MAX)(input.replace(/\/min$/, '')));

/** A pool is named as a batch is. */
export const poolOf = orNone(name);

/** `out-of-memory=2,timeout=1`. */
export function retriesOf(input: string): RetriesByKind {
  const found: Partial<Record<FailureKind, number>> = {};
  for (const part of input.split(',')) {
    const [given = '', most = ''] = part.split('=');
    const kind = FAILURE_KINDS.find((one) => one === given);
    if (kind === undefined) {
      const near = nearest(given, FAILURE_KINDS);
      return fail(
        `names no kind of failure with ${given}`,
        `${near === undefined ? '' : `did you mean ${near}? `}kinds: ${list(FAILURE_KINDS)}`,
      );
    }
    found[kind] = wholeFrom(0, RETRIES_MAX)(most);
  }
  return found;
}

/** `failed,timed-out`: one or more of these words. */
export const choicesFrom =
  <const W extends string>(words: readonly W[], noun: string) =>
  (input: string): readonly W[] =>
    input.split(',').map((part) => {
      const found = words.find((word) => word === part);
      if (found !== undefined) return found;
      const near = nearest(part, words);
      return fail(
        `has no ${noun} with ${part}`,
        `${near === undefined ? '' : `did you mean ${near}? `}values: ${list(words)}`,
      );
    });

/** `3,17-40`. */
export const rowRanges = (input: string): readonly { readonly from: number; readonly to: number }[] =>
  input.split(',').map((part) => {
    const [, first = '', last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part) ?? [];
    const [from, to] = [Number(first), Number(last)];
    return first !== '' && from >= 1 && to >= from
      ? { from, to }
      : fail('is not a list of rows', 'examples: 3, 17-40, 3,17-40');
  });

/** Rows that are left out; `none`: no row is, also if it looks like totals. */
export const leftOutRows = (input: string): ReturnType<typeof rowRanges> =>
  input === 'none' ? [] : rowRanges(input);

/** A GPU of the service. */
export function gpuName(input: string): Gpu {
  if (isGpu(input)) return input;
  const near = nearest(input, GPUS);
  return fail(
    `names no GPU with ${input}`,
    `${near === undefined ? '' : `did you mean ${near}? `}GPUs: ${list(GPUS)}`,
  );
}

/** The useful number, found while the batch runs, up to a bound. */
export type AutoConcurrency = { readonly auto: number };

/** `20`, `auto` or `auto:64`. */
export function concurrencyOf(input: string): number | AutoConcurrency {
  const [word, most, ...others] = input.split(':');
  if (word !== 'auto') return wholeFrom(1, CONCURRENCY_MAX)(input);
  if (others.length > 0 || most === '') return fail('is not a concurrency', 'examples: 20, auto, auto:64');
  return { auto: most === undefined ? AUTO_MOST : wholeFrom(1, CONCURRENCY_MAX)(most) };
}

/** `H100=2,A10G=16`. */
export const gpuConcurrencyOf = orNone((input): GpuConcurrency => {
  const found: Record<string, number> = {};
  for (const part of input.split(',')) {
    const [gpu = '', most = ''] = part.split('=');
    found[gpuName(gpu)] = wholeFrom(1, CONCURRENCY_MAX)(most);
  }
  return found;
});

export const failAfterLimit = orNone((input): FailAfter => {
  if (!input.endsWith('%')) return { rows: wholeFrom(1)(input) };
  const percent = Number(input.slice(0, -1));
  return percent > 0 && percent <= 100
    ? { share: percent / 100 }
    : fail('is not a number of rows or a share', 'examples: 200, 5%');
});

/** `20`, `19.95` or `$20` in nano-dollars. */
export const maxCostOf = orNone((input) => {
  const [, dollars, decimals = ''] = /^\$?(\d{1,7})(?:\.(\d{1,9}))?$/.exec(input) ?? [];
  const nano = dollars === undefined ? Number.NaN : Number(dollars + decimals.padEnd(9, '0'));
  return nano > 0 && nano <= MAX_COST_NANO_MAX
    ? nano
    : fail('is not an amount in US dollars above 0, up to 1,000,000', 'examples: 20, 7.50, none');
});

export const notifyTarget = orNone((input) => {
  const target = absoluteTarget(input);
  return 'wrong' in target ? fail(target.wrong, target.hint) : target.text;
});

const DEADLINE_MOST = '3650d';
const DEADLINE_EXAMPLES = 'examples: 8h, 2026-12-24T06:00, 2026-12-24T06:00Z';

/** In milliseconds since 1970. A time of day without a zone is in the zone of this machine. */
export const deadlineAt = orNone((input) => {
  const isDuration = /^[\d.]+(ms|s|m|h|d)$/.test(input);
  const isDate = /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(input);
  const at = isDuration ? Date.now() + msOf(input) : isDate ? momentOf(input) : Number.NaN;
  if (!Number.isFinite(at)) return fail('is not a time', DEADLINE_EXAMPLES);
  if (at <= Date.now()) return fail('has passed', DEADLINE_EXAMPLES);
  return at <= Date.now() + msOf(DEADLINE_MOST)
    ? Math.round(at)
    : fail('is more than ten years away', DEADLINE_EXAMPLES);
});

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Refuses what the clock of this machine never shows or shows twice, and days that no month has. */
function momentOf(input: string): number {
  const at = Date.parse(input);
  const clock = Date.parse(`${input.replace(/(?:Z|[+-]\d\d:?\d\d)$/i, '')}Z`);
  if (Number.isNaN(at) || Number.isNaN(clock)) return Number.NaN;
  if (new Date(clock).toISOString().slice(0, 10) !== input.slice(0, 10))
    return fail('is on a day that the month does not have', DEADLINE_EXAMPLES);
  if (/(?:Z|[+-]\d\d:?\d\d)$/i.test(input)) return at;
  const offsets = new Set([at - DAY_MS, at + DAY_MS].map(offsetMs));
  const moments = [...offsets].map((offset) => clock - offset).filter((one) => clock - one === offsetMs(one));
  if (moments.length === 1) return at;
  const examples = [...offsets].map((offset) =>
    new Date(clock - offset).toISOString().replace(/:\d\d\.\d+Z/, 'Z'),
  );
  return moments.length === 0
    ? fail(
        'does not exist on the clock of this machine, which is set forward then',
        `say which time: ${examples.join(', ')}`,
      )
    : fail(
        'comes twice on the clock of this machine, which is set back then',
        `say which one: ${examples.join(', ')}`,
      );
}

const offsetMs = (at: number): number => -new Date(at).getTimezoneOffset() * MINUTE_MS;
