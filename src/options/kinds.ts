// The kinds of values that options have: what is stored of each, and how it is shown. The batch workflow checks limits with them, so
// help texts and readers of what users write are in other files.

import { NOTIFY_TARGETS_MAX, NOTIFY_TARGET_BYTES } from './bounds.ts';
import { clipped } from './clipped.ts';

const isWhole = (value: unknown, least: number, most = Number.MAX_SAFE_INTEGER): value is number =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string';
const areTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);

/** What is wrong continues the name of an option and its value. `unknown`: a word, and those that there are. */
export type Wrong = {
  readonly wrong: string;
  readonly hint?: string;
  readonly unknown?: readonly [given: string, known: readonly string[]];
};

/** No `Date` can show a later time, and the error would fail every workflow task. */
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

/** A fixed number, or the useful one that is found while the batch runs, up to a bound. Limits store a number and `adaptive`. */
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
  textOf: usdText,
});

/** At least two decimals, at most four. */
export function usdText(nano: number): string {
  const [whole, decimals = ''] = String(Number((nano / 1e9).toFixed(4))).split('.');
  return `$${whole}.${decimals.padEnd(2, '0')}`;
}

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
      ([name, one]) => names.some((known) => known === name) && isWhole(one, least, most),
    ),
  textOf: (value: CountBy<N>): string =>
    Object.entries(value)
      .map(([one, number]) => `${one}=${String(number)}`)
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
export const SCHEDULE_NAME_MAX = 80;

export const targets = {
  type: 'targets' as const,
  isKept: (value: unknown): value is readonly string[] =>
    areTexts(value) &&
    value.length <= NOTIFY_TARGETS_MAX &&
    value.every((one) => !('wrong' in readTarget(one))),
  textOf: (value: readonly string[]): string => value.join(','),
};

// Reads where a notification goes. The text travels in batch.json, in signals and in the memo, so it contains no secret:
// addresses with one are named, and the worker finds them in its settings.
//
//   https://host/path   POST with JSON            https:<name>   the address of that name in RUNSHEET_NOTIFY_URL
//   slack:[<name>]      an incoming webhook in RUNSHEET_SLACK_WEBHOOK
//   mailto:a@b          mail                       exec:/path     a program where the worker runs
export type Target =
  | { readonly kind: 'https'; readonly url: string }
  | { readonly kind: 'named'; readonly name: string }
  | { readonly kind: 'slack'; readonly name: string }
  | { readonly kind: 'mailto'; readonly address: string }
  | { readonly kind: 'exec'; readonly path: string };

/** Why a text is no target, and what to do. */
export type WrongTarget = { readonly wrong: string; readonly hint: string };

/** The name of an address in the settings that has no name. */
export const UNNAMED = 'default';

const FORMS = 'forms: https://host/path, https:<name>, slack:<name>, mailto:a@b, exec:/path/to/program';

const NAME = /^[a-z0-9][a-z0-9_-]{0,39}$/i;
const MAIL = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9.-]{0,120}[a-z0-9])?$/i;

export function readTarget(text: string): Target | WrongTarget {
  const [, scheme = '', rest = ''] = /^([a-z]+):(.*)$/s.exec(text) ?? [];
  if (clipped(text, NOTIFY_TARGET_BYTES) !== text)
    return { wrong: `is longer than ${NOTIFY_TARGET_BYTES} bytes`, hint: FORMS };
  if (/\p{Cc}/u.test(text)) return { wrong: 'contains a control character', hint: FORMS };
  if (scheme === 'https' || scheme === 'http') return readAddress(scheme, rest);
  if (scheme === 'slack') return readSlack(rest);
  if (scheme === 'mailto' && MAIL.test(rest)) return { kind: 'mailto', address: rest };
  if (scheme === 'mailto')
    return { wrong: 'is not one mail address', hint: 'example: mailto:me@example.org' };
  if (scheme === 'exec' && rest.startsWith('/')) return { kind: 'exec', path: rest };
  if (scheme === 'exec') return { wrong: 'is not the path of a program', hint: 'example: exec:./notify.sh' };
  return { wrong: 'is no target of notifications', hint: FORMS };
}

const IN_SETTINGS = (variable: string): string =>
  `set ${variable}=<name>=<address> where the worker runs, because batch.json and Temporal must not contain secrets`;

function readSlack(rest: string): Target | WrongTarget {
  if (rest === '') return { kind: 'slack', name: UNNAMED };
  if (NAME.test(rest)) return { kind: 'slack', name: rest };
  return rest.startsWith('http')
    ? {
        wrong: 'contains the address of a webhook, which is a secret',
        hint: `${IN_SETTINGS('RUNSHEET_SLACK_WEBHOOK')}, and give slack:<name>`,
      }
    : { wrong: 'names no webhook', hint: 'example: slack:ops, with RUNSHEET_SLACK_WEBHOOK=ops=https://…' };
}

const NAMED = `${IN_SETTINGS('RUNSHEET_NOTIFY_URL')}, and give https:<name>`;

function readAddress(scheme: string, rest: string): Target | WrongTarget {
  if (scheme === 'https' && NAME.test(rest)) return { kind: 'named', name: rest };
  const [, authority = '', path = ''] = /^\/\/([^/?#]+)([^]*)$/.exec(rest) ?? [];
  if (authority === '') return { wrong: 'is no address', hint: FORMS };
  if (authority.includes('@')) return { wrong: 'contains a user name or a password', hint: NAMED };
  if (authority === 'hooks.slack.com')
    return {
      wrong: 'is a webhook of Slack, whose address is a secret',
      hint: `${IN_SETTINGS('RUNSHEET_SLACK_WEBHOOK')}, and give slack:<name>`,
    };
  if (/[?#]/.test(path)) return { wrong: 'has a query, which often contains a secret', hint: NAMED };
  if (path.split('/').some(looksSecret))
    return { wrong: 'has a part in its path that looks like a secret', hint: NAMED };
  if (scheme === 'http' && !LOOPBACK.test(authority))
    return { wrong: 'is not encrypted', hint: 'use https; http is only for this machine' };
  return { kind: 'https', url: `${scheme}:${rest}` };
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/;

/** Long, and letters mixed with digits: an identifier that was drawn. */
const looksSecret = (part: string): boolean =>
  part.length >= 20 && /\d/.test(part) && /[a-z]/i.test(part) && !/[.]\w{1,5}$/.test(part);
