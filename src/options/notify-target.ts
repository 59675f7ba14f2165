// Reads where a notification goes. The text travels in batch.json, in signals and in the memo, so it contains no secret:
// addresses with one are named, and the worker finds them in its settings.
//
//   https://host/path   POST with JSON            https:<name>   the address of that name in RUNSHEET_NOTIFY_URL
//   slack:[<name>]      an incoming webhook in RUNSHEET_SLACK_WEBHOOK
//   mailto:a@b          mail                       exec:/path     a program where the worker runs

import { NOTIFY_TARGET_BYTES } from './bounds.ts';
import { clipped } from './clipped.ts';

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
  if (scheme === 'exec' && isInterpreter(rest)) return OBEYS;
  if (scheme === 'exec' && rest.startsWith('/')) return { kind: 'exec', path: rest };
  if (scheme === 'exec') return { wrong: 'is not the path of a program', hint: 'example: exec:./notify.sh' };
  return { wrong: 'is no target of notifications', hint: FORMS };
}

const INTERPRETER =
  /^(?:(?:|a|ba|rba|da|z|k|mk|fi|c|tc|pw)sh|powershell|(?:busy|toy)box|env|xargs|(?:python|perl|ruby|node|nodejs|deno|bun|php|lua|tclsh|pypy)[\d.]*|osascript|awk|gawk|mawk|m4|bc|psql|sqlite3)(?:\.exe)?$/;

/** Whether the program obeys what it reads: names of sheets and batches are in a notification, and `"$(…)"` is a command in a shell. */
export const isInterpreter = (path: string): boolean => INTERPRETER.test(path.replace(/^.*[/\\]/s, ''));

const OBEYS: WrongTarget = {
  wrong: 'is a shell or an interpreter, which would obey what the notification says',
  hint: 'name a program of yours that reads JSON: exec:./notify.sh',
};

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
