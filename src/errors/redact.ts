// The words of this process that nobody may read: keys, tokens, the secret behind webhook addresses. Whoever reads one from
// its variable or file keeps it here; whatever leaves for a log, a screen, a reason or Temporal is first read through
// `withoutSecrets`, which strikes out every form in which they could stand there. They are kept until the process ends,
// because an old key may still be quoted by an answer that comes late.

import { timingSafeEqual } from 'node:crypto';

/** Shorter ones keep nobody out, and striking them out would tear other words apart. */
const SHORTEST = 8;
const STRUCK = '[secret]';

const kept = new Set<string>();
let forms: RegExp | undefined;

/** Keeps a secret from being said, and gives it back. Words of fewer than 8 characters are not kept. */
export function keepSecret(secret: string): string {
  if (secret.length < SHORTEST || kept.has(secret)) return secret;
  kept.add(secret);
  const all = [...kept].flatMap(formsOf).toSorted((a, b) => b.length - a.length);
  forms = new RegExp([...new Set(all)].map(asPattern).join('|'), 'g');
  return secret;
}

/** The text without any kept secret, bearer token or MAC of a webhook address. */
export function withoutSecrets(text: string): string {
  return (forms === undefined ? text : text.replaceAll(forms, STRUCK))
    .replaceAll(BEARER, `$1${STRUCK}`)
    .replaceAll(MAC, `$1${STRUCK}`);
}

/** Whether somebody gave the secret. Takes the same time wherever the two differ. */
export function isSameSecret(given: string, secret: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(secret)];
  return one.length === other.length && timingSafeEqual(one, other);
}

const asPattern = (text: string): string => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);

/** A token after its scheme, kept or not; a word without a digit belongs to a sentence about tokens. */
const BEARER = /\b(Bearer(?:\s|%20|\+)+)(?=[\w.~+/-]*\d)[\w.~+/-]{8,}=*/gi;

/** What signs the address of an attempt; its slashes may be written in other ways. */
const MAC =
  /((?:\/|\\\/|%2F)hook(?:\/|\\\/|%2F)[12](?:(?:\/|\\\/|%2F)[^/\s"]+?){3,4}(?:\/|\\\/|%2F))[0-9a-f]{32}/gi;

/** A secret as it stands in text, in JSON, in an address, in hexadecimal digits, and inside longer base64. */
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

/** The characters that `bytes` alone decide, where so many bytes stand before them in a group of three. */
function inBase64(bytes: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  const isWhole = (before + bytes.length) % 3 === 0;
  return text.slice(before === 0 ? 0 : before + 1, isWhole ? undefined : -1);
}
