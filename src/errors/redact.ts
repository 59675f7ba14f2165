// Redacts secrets: keys, tokens and the secret that signs webhook addresses. Code that reads a secret registers it with
// `keepSecret`; every text for a log, a screen, a record or Temporal passes through `withoutSecrets`, which removes all
// encodings of all registered secrets. They stay registered, because a late response may still quote an old key.

import { timingSafeEqual } from 'node:crypto';

/** Shorter secrets do not protect anything, and removing them would damage other words. */
const SHORTEST = 8;
const STRUCK = '[secret]';

const kept = new Set<string>();
let forms: RegExp | undefined;

/** Registers a secret for redaction and returns it. Secrets of fewer than 8 characters are not registered. */
export function keepSecret(secret: string): string {
  if (secret.length < SHORTEST || kept.has(secret)) return secret;
  kept.add(secret);
  forms = formsOfKept();
  return secret;
}

/** For secrets that are replaced again and again, and are worthless by then. */
export function forgetSecret(secret: string): void {
  if (kept.delete(secret)) forms = kept.size === 0 ? undefined : formsOfKept();
}

function formsOfKept(): RegExp {
  const all = [...kept].flatMap(formsOf).toSorted((a, b) => b.length - a.length);
  return new RegExp([...new Set(all)].map(asPattern).join('|'), 'g');
}

/** The text without registered secrets, bearer tokens and MACs of webhook addresses. */
export function withoutSecrets(text: string): string {
  return (forms === undefined ? text : text.replaceAll(forms, STRUCK))
    .replaceAll(BEARER, `$1${STRUCK}`)
    .replaceAll(MAC, `$1${STRUCK}`);
}

/** Whether it is an address, not a path. A drive of Windows has one letter. `URL` also reads `https:host`, and blanks before it. */
export const isAddress = (sheet: string): boolean =>
  /^\s*(?:(?:https?|s3|file):|[a-z][a-z\d+.-]+:\/\/)/i.test(sheet);

const PARTS = /^\s*(?<scheme>[a-z\d+.-]+:)(?<slashes>\/{0,2})(?:(?<user>[^/?#]*)@)?(?<rest>[^]*)$/i;

/** The place of a sheet without what may be secret: the query of an address may contain a signature, and its beginning a password. */
export function shownAddress(sheet: string): string {
  if (!isAddress(sheet)) return sheet;
  const { scheme = '', slashes = '', rest = '' } = PARTS.exec(sheet)?.groups ?? {};
  const plain = `${scheme}${slashes}${rest.replace(/[?#][^]*$/, '')}`;
  // A password with a slash, `?` or `#` ends where no parser can tell.
  return rest.includes('@') || !URL.canParse(plain) ? `${scheme}//…` : plain;
}

/** What {@link shownAddress} leaves out. */
export function secretsIn(sheet: string): readonly string[] {
  if (!isAddress(sheet)) return [];
  const { user = '', rest = '' } = PARTS.exec(sheet)?.groups ?? {};
  const [, query = ''] = /\?([^#]*)/.exec(rest) ?? [];
  // Up to the last `@`: what precedes its first colon may be a host.
  const [, login = '', password = ''] = /^((?:[^:]*:)?([^]*))@/.exec(rest) ?? [];
  return [user, ...user.split(':'), query, login, password].filter(Boolean);
}

/** Compares a given secret in constant time. */
export function isSameSecret(given: string, secret: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(secret)];
  return one.length === other.length && timingSafeEqual(one, other);
}

const asPattern = (text: string): string => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);

/** A bearer token, registered or not. A word without a digit is prose, not a token. */
const BEARER = /\b(Bearer(?=((?:\s|%20|\+)+))\2)(?=[\w.~+/-]{0,400}\d)[\w.~+/-]{8,}=*/gi;

/** The MAC in a webhook address; its slashes may be escaped or encoded. */
const MAC =
  /((?:\/|%2F)hook(?:\\{0,4}\/|%2F)[12](?:(?:\\{0,4}\/|%2F)(?:(?!%2F)[^/\\\s"])+){3,4}(?:\\{0,4}\/|%2F))[0-9a-f]{32}/gi;

/** All encodings of a secret: text, JSON, URL, hexadecimal, and part of longer base64. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const encoded = [0, 1, 2].flatMap((before) => {
    const text = inBase64(bytes, before);
    return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    hex,
    hex.toUpperCase(),
    ...encoded,
  ];
}

/** The base64 characters that depend on `bytes` only, with `before` bytes in front of them in the group of three. */
function inBase64(bytes: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  const isWhole = (before + bytes.length) % 3 === 0;
  return text.slice(before === 0 ? 0 : before + 1, isWhole ? undefined : -1);
}
