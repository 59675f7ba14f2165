// Creates and reads tokens, which name an attempt in its webhook address, the only data of ours that the service stores with a
// run: /hook/2/<batch>/<mark>/<place>/<attempt>/<32 hex of HMAC-SHA256>. The mark is random for each new batch, so a batch of the
// same name elsewhere has other tokens. A token only allows its sender to request that we read a run again.

import { createHmac, timingSafeEqual } from 'node:crypto';
import QuickLRU from 'quick-lru';
import { join } from 'node:path';
import type { Config } from '../host/config.ts';
import { problem, errorMessage } from '../errors/error.ts';
import { secretIn } from '../host/key-file.ts';
import { readOrCreateSecret } from '../host/state-folder.ts';
import { keepSecret } from '../errors/redact.ts';

export type Token = {
  readonly batch: string;
  readonly mark: string;
  readonly place: number;
  readonly attempt: number;
};

/** A host that cannot exist: runs carry their token even if the batch has no receiver. */
const NO_RECEIVER = 'http://runsheet.invalid';

const PATH = /\/hook\/2\/([\w.-]{1,200})\/([0-9a-f]{16})\/(\d{1,10})\/(\d{1,6})\/([0-9a-f]{32})(?:[?#]|$)/;

/** Tokens of old batches without a birth mark. */
const OLD_PATH = /\/hook\/1\//;

/** The webhook address of an attempt; `receiver` is our receiver's public address, undefined if there is none. */
export function webhookUrl(token: Token, secret: string, receiver: string | undefined): string {
  const { batch, mark, place, attempt } = token;
  return `${receiver ?? NO_RECEIVER}/hook/2/${batch}/${mark}/${place}/${attempt}/${macOf(token, secret)}`;
}

/** The token in a webhook address or path; undefined if there is none. Does not check its MAC. */
export function readToken(url: string | undefined): (Token & { readonly mac: string }) | undefined {
  const [, batch, mark, row, attempt, mac] = PATH.exec(url ?? '') ?? [];
  if (batch === undefined || mark === undefined || mac === undefined) return undefined;
  return { batch, mark, place: Number(row), attempt: Number(attempt), mac };
}

export const isOldToken = (url: string | undefined): boolean => OLD_PATH.test(url ?? '');

export const isSameAttempt = (a: Token | undefined, b: Token): boolean =>
  a?.batch === b.batch && a.mark === b.mark && a.place === b.place && a.attempt === b.attempt;

export function isGenuine(token: Token & { readonly mac: string }, secret: string): boolean {
  return timingSafeEqual(Buffer.from(token.mac), Buffer.from(macOf(token, secret)));
}

/** MACs are cached, because a run calls back several times, usually to the process that created its token. */
const macs = new QuickLRU<string, string>({ maxSize: 20_000 });

function macOf({ batch, mark, place, attempt }: Token, secret: string): string {
  const name = `hook|2|${batch}|${mark}|${place}|${attempt}`;
  const known = macs.get(`${secret}|${name}`);
  if (known !== undefined) return known;
  const mac = createHmac('sha256', secret).update(name).digest('hex').slice(0, 32);
  macs.set(`${secret}|${name}`, mac);
  return mac;
}

// The secret that signs webhook tokens: from a setting if several workers share it, otherwise generated once per state folder.

export const webhookSecret = (config: Pick<Config, 'home' | 'webhook'>): string =>
  keepSecret(configuredOrGenerated(config));

function configuredOrGenerated({ home, webhook }: Pick<Config, 'home' | 'webhook'>): string {
  if (webhook.secret !== undefined) return webhook.secret;
  if (webhook.secretFile !== undefined) return fromFile(webhook.secretFile);
  return readOrCreateSecret(join(home, 'webhook-secret'));
}

/** Whether the settings give it. */
export const isSecretShared = ({ webhook }: Pick<Config, 'webhook'>): boolean =>
  webhook.secret !== undefined || webhook.secretFile !== undefined;

const FINGERPRINT_DIGITS = 8;

/** Tells two secrets apart, and nothing about them. */
export const secretFingerprint = (secret: string): string =>
  createHmac('sha256', secret).update('fingerprint').digest('hex').slice(0, FINGERPRINT_DIGITS);

/** Throws E602 if the file is unusable: with an empty secret anyone could sign. */
function fromFile(path: string): string {
  try {
    return secretIn(path);
  } catch (cause) {
    throw problem(
      'E602',
      {
        what: `RUNSHEET_WEBHOOK_SECRET_FILE (${path}) cannot be used: ${errorMessage(cause)}`,
        hint: 'write the same long random text into it for all workers; create one with: openssl rand -hex 32',
      },
      { cause },
    );
  }
}
