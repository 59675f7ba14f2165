// Reads the target of a notification. The text travels in batch.json, in signals and in the memo, so it contains no
// secret: an address with a secret has a name, and the worker looks the name up in its settings.
//
//   https://host/path   POST with JSON            https:<name>   the address of that name in RUNSHEET_NOTIFY_URL
//   slack:[<name>]      an incoming webhook in RUNSHEET_SLACK_WEBHOOK
//   mailto:a@b          mail                       exec:/path     a program where the worker runs

import { NOTIFY_TARGET_BYTES } from './bounds-and-defaults.ts';
import { clipped } from './text/clipped.ts';
import { isLoopbackAddress } from './loopback.ts';

export type NotifyTarget =
  | { readonly kind: 'https'; readonly url: string }
  | { readonly kind: 'named'; readonly name: string }
  | { readonly kind: 'slack'; readonly name: string }
  | { readonly kind: 'mailto'; readonly address: string }
  | { readonly kind: 'exec'; readonly path: string };

/** The reason why a text is no target, and the remedy. */
export type WrongTarget = { readonly wrong: string; readonly hint: string };

/** The name of an address that has no name in the settings. */
export const UNNAMED = 'default';

const FORMS = 'forms: https://host/path, https:<name>, slack:<name>, mailto:a@b, exec:/path/to/program';

const NAME = /^[a-z0-9][a-z0-9_-]{0,39}$/i;
const MAIL = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9.-]{0,120}[a-z0-9])?$/i;

export function readTarget(text: string): NotifyTarget | WrongTarget {
  const [, scheme = '', location = ''] = /^([a-z]+):(.*)$/s.exec(text) ?? [];
  if (clipped(text, NOTIFY_TARGET_BYTES) !== text)
    return { wrong: `is longer than ${NOTIFY_TARGET_BYTES} bytes`, hint: FORMS };
  if (/\p{Cc}/u.test(text)) return { wrong: 'contains a control character', hint: FORMS };
  if (scheme === 'https' || scheme === 'http') return readAddress(scheme, location);
  if (scheme === 'slack') return readSlack(location);
  if (scheme === 'mailto' && MAIL.test(location)) return { kind: 'mailto', address: location };
  if (scheme === 'mailto')
    return { wrong: 'is not one mail address', hint: 'example: mailto:me@example.org' };
  if (scheme === 'exec' && isInterpreter(location)) return OBEYS;
  if (scheme === 'exec' && location.startsWith('/')) return { kind: 'exec', path: location };
  if (scheme === 'exec') return { wrong: 'is not the path of a program', hint: 'example: exec:./notify.sh' };
  return { wrong: 'is no target of notifications', hint: FORMS };
}

const INTERPRETER =
  /^(?:(?:|a|ba|rba|da|z|k|mk|fi|c|tc|pw)sh|powershell|(?:busy|toy)box|env|xargs|(?:python|perl|ruby|node|nodejs|deno|bun|php|lua|tclsh|pypy)[\d.]*|osascript|awk|gawk|mawk|m4|bc|psql|sqlite3)(?:\.exe)?$/;

/**
 * Whether the program executes what it reads: notifications contain names of sheets and batches, and `"$(…)"` is a
 * command in a shell.
 */
export const isInterpreter = (path: string): boolean => INTERPRETER.test(path.replace(/^.*[/\\]/s, ''));

const OBEYS: WrongTarget = {
  wrong: 'is a shell or an interpreter, which would obey what the notification says',
  hint: 'name a program of yours that reads JSON: exec:./notify.sh',
};

const IN_SETTINGS = (variable: string): string =>
  `set ${variable}=<name>=<address> where the worker runs, because batch.json and Temporal must not contain secrets`;

function readSlack(location: string): NotifyTarget | WrongTarget {
  if (location === '') return { kind: 'slack', name: UNNAMED };
  if (NAME.test(location)) return { kind: 'slack', name: location };
  return location.startsWith('http')
    ? {
        wrong: 'contains the address of a webhook, which is a secret',
        hint: `${IN_SETTINGS('RUNSHEET_SLACK_WEBHOOK')}, and give slack:<name>`,
      }
    : { wrong: 'names no webhook', hint: 'example: slack:ops, with RUNSHEET_SLACK_WEBHOOK=ops=https://…' };
}

const NAMED = `${IN_SETTINGS('RUNSHEET_NOTIFY_URL')}, and give https:<name>`;

function readAddress(scheme: string, location: string): NotifyTarget | WrongTarget {
  if (scheme === 'https' && NAME.test(location)) return { kind: 'named', name: location };
  const [, authority = '', path = ''] = /^\/\/([^/?#]+)([^]*)$/.exec(location) ?? [];
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
  if (scheme === 'http' && !isLoopbackAddress(authority))
    return { wrong: 'is not encrypted', hint: 'use https; http is only for this machine' };
  return { kind: 'https', url: `${scheme}:${location}` };
}

/** Whether a text is long and mixes letters with digits, like a random identifier. */
const looksSecret = (part: string): boolean =>
  part.length >= 20 && /\d/.test(part) && /[a-z]/i.test(part) && !/[.]\w{1,5}$/.test(part);
