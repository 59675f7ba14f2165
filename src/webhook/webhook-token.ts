// Creates and reads tokens. A token names an attempt in its webhook address, the only data of ours that the service
// stores with a run: /hook/2/<batch>/<mark>/<place>/<attempt>/<32 hex of HMAC-SHA256>. The mark is random for each
// new batch, so a batch of the same name elsewhere has other tokens. A token only allows its sender to request that
// we read a run again.

import { createHmac, timingSafeEqual } from 'node:crypto';
import QuickLRU from 'quick-lru';

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
  const cached = macs.get(`${secret}|${name}`);
  if (cached !== undefined) return cached;
  const mac = createHmac('sha256', secret).update(name).digest('hex').slice(0, 32);
  macs.set(`${secret}|${name}`, mac);
  return mac;
}
