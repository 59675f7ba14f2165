// The kinds of values that options have: how each is stored and shown. The batch workflow checks limits with them, so
// help texts and the readers of user input are in other files.

import { readTarget } from './notify-target.ts';
import { MAX_NOTIFY_TARGETS } from './bounds-and-defaults.ts';
import { exactMoney } from './text/printed-numbers.ts';

const isWhole = (value: unknown, least: number, most = Number.MAX_SAFE_INTEGER): value is number =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string';
const areTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);

/** `wrong` continues the name of an option and its value. `unknown`: a word, and the words that exist. */
export type Wrong = {
  readonly wrong: string;
  readonly hint?: string;
  readonly unknown?: readonly [given: string, known: readonly string[]];
};

/** No `Date` can show a later time, and the resulting error would fail every workflow task. */
const LATEST_MS = 8.64e15;

/** A number of rows, or a share (0 to 1) of the rows that have ended. */
export type RowsOrShare = { readonly rows: number } | { readonly share: number };

/** A whole number; `per` is its unit, such as `/min`. */
export const count = (least: number, most = 999_999_999, per = '') => ({
  type: 'count' as const,
  least,
  most,
  per,
  isKept: (value: unknown): value is number => isWhole(value, least, most),
  textOf: (value: number): string => `${value}${per}`,
});

/**
 * A fixed number, or the useful number, which is found while the batch runs, up to a bound. Limits store a number and
 * `adaptive`.
 */
export const concurrency = (most: number, autoMost: number) => ({
  ...count(1, most),
  type: 'concurrency' as const,
  autoMost,
});

export const rowsOrShare = {
  type: 'rowsOrShare' as const,
  isKept: (value: unknown): value is RowsOrShare =>
    isObject(value) &&
    (isWhole(value['rows'], 1) ||
      (typeof value['share'] === 'number' && value['share'] > 0 && value['share'] <= 1)),
  textOf: (value: RowsOrShare): string =>
    'rows' in value
      ? `${value.rows} row${value.rows === 1 ? '' : 's'}`
      : `${Number((value.share * 100).toFixed(4))} % of the rows`,
};

/** US dollars, stored in nano-dollars. */
export const money = (mostNano: number) => ({
  type: 'money' as const,
  most: mostNano,
  isKept: (value: unknown): value is number => isWhole(value, 1, mostNano),
  textOf: exactMoney,
});

/** Milliseconds since 1970. */
export const moment = {
  type: 'moment' as const,
  isKept: (value: unknown): value is number => isWhole(value, 0, LATEST_MS),
  textOf: (at: number): string => new Date(at).toISOString(),
};

export type CountBy<N extends string> = Readonly<
  string extends N ? Record<string, number> : Partial<Record<N, number>>
>;

export const countBy = <const N extends string>(
  names: readonly N[],
  noun: string,
  least: number,
  most: number,
) => ({
  type: 'countBy' as const,
  names,
  noun,
  least,
  most,
  isKept: (value: unknown): value is CountBy<N> =>
    isObject(value) &&
    Object.entries(value).every(
      ([name, number]) => names.some((allowed) => allowed === name) && isWhole(number, least, most),
    ),
  textOf: (value: CountBy<N>): string =>
    Object.entries(value)
      .map(([key, number]) => `${key}=${String(number)}`)
      .join(','),
});

/** The name of a batch or of a pool. */
export const named = {
  type: 'named' as const,
  isKept: (value: unknown): value is string =>
    isText(value) && /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,99}$/.test(value),
  textOf: (value: string): string => value,
};

/** A batch of a schedule has this name and the time of its firing. */
export const MAX_SCHEDULE_NAME = 80;

export const targets = {
  type: 'targets' as const,
  isKept: (value: unknown): value is readonly string[] =>
    areTexts(value) &&
    value.length <= MAX_NOTIFY_TARGETS &&
    value.every((target) => !('wrong' in readTarget(target))),
  textOf: (value: readonly string[]): string => value.join(','),
};
