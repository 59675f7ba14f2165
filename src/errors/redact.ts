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

/** For short-lived secrets, which are worthless once they are replaced. */
export function forgetSecret(secret: string): void {
  if (kept.delete(secret)) forms = kept.size === 0 ? undefined : formsOfKept();
}

function formsOfKept(): RegExp {
  const secretForms = [...kept].flatMap(formsOf).toSorted((a, b) => b.length - a.length);
  return new RegExp([...new Set(secretForms)].map(asPattern).join('|'), 'g');
}

/** The text without registered secrets, bearer tokens and MACs of webhook addresses. */
export function withoutSecrets(text: string): string {
  return (forms === undefined ? text : text.replaceAll(forms, STRUCK))
    .replaceAll(BEARER, `$1${STRUCK}`)
    .replaceAll(MAC, `$1${STRUCK}`);
}

/** Whether the text is an address and not a path. A Windows drive has one letter. `URL` also accepts `https:host` and leading blanks. */
export const isAddress = (sheet: string): boolean =>
  /^\s*(?:(?:https?|s3|file):|[a-z][a-z\d+.-]+:\/\/)/i.test(sheet);

const PARTS = /^\s*(?<scheme>[a-z\d+.-]+:)(?<slashes>\/{0,2})(?:(?<user>[^/?#]*)@)?(?<rest>[^]*)$/i;

/** The place of a sheet without secrets: an address may begin with a password, and its query may contain a signature. */
export function shownAddress(sheet: string): string {
  if (!isAddress(sheet)) return sheet;
  const { scheme = '', slashes = '', rest: remainder = '' } = PARTS.exec(sheet)?.groups ?? {};
  const plain = `${scheme}${slashes}${remainder.replace(/[?#][^]*$/, '')}`;
  // No parser can tell where a password with a slash, `?` or `#` ends.
  return remainder.includes('@') || !URL.canParse(plain) ? `${scheme}//…` : plain;
}

/** The secrets that {@link shownAddress} hides. */
export function secretsIn(sheet: string): readonly string[] {
  if (!isAddress(sheet)) return [];
  const { user = '', rest: remainder = '' } = PARTS.exec(sheet)?.groups ?? {};
  const [, query = ''] = /\?([^#]*)/.exec(remainder) ?? [];
  // Up to the last `@`, because the part before its first colon may be a host.
  const [, login = '', password = ''] = /^((?:[^:]*:)?([^]*))@/.exec(remainder) ?? [];
  return [user, ...user.split(':'), query, login, password].filter(Boolean);
}

/** Compares a given secret in constant time. */
export function isSameSecret(candidate: string, secret: string): boolean {
  const [candidateBytes, secretBytes] = [Buffer.from(candidate), Buffer.from(secret)];
  return candidateBytes.length === secretBytes.length && timingSafeEqual(candidateBytes, secretBytes);
}

const asPattern = (text: string): string => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);

/** A bearer token, registered or not. A word without a digit is prose, not a token. */
const BEARER = /\b(Bearer(?=((?:\s|%20|\+)+))\2)(?=[\w.~+/-]{0,400}\d)[\w.~+/-]{8,}=*/gi;

/** The MAC in a webhook address; its slashes may be escaped or encoded. */
const MAC =
  /((?:\/|%2F)hook(?:\\{0,4}\/|%2F)[12](?:(?:\\{0,4}\/|%2F)(?:(?!%2F)[^/\\\s"])+){3,4}(?:\\{0,4}\/|%2F))[0-9a-f]{32}/gi;

/** Matches all encodings of a secret: text, JSON, URL, hexadecimal, and part of a longer base64 text. */
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

/** The base64 characters that depend only on `bytes`, with `before` bytes in front of them in the group of three. */
function inBase64(bytes: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  const isWhole = (before + bytes.length) % 3 === 0;
  return text.slice(before === 0 ? 0 : before + 1, isWhole ? undefined : -1);
}
