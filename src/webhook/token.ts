// The name of an attempt as it travels in a webhook's address, the only thing of ours that the service keeps with a run:
// /hook/2/<batch>/<mark>/<row>/<attempt>/<32 hex of HMAC-SHA256>. The mark is drawn when a batch is born, so that a batch of
// the same name elsewhere has other tokens. A token grants nothing but "look at this run again".

import { createHmac, timingSafeEqual } from 'node:crypto';

export type Token = {
  readonly batch: string;
  readonly mark: string;
  readonly row: number;
  readonly attempt: number;
};

/** A host that cannot exist: runs of a batch without a receiver carry their token all the same. */
const NO_RECEIVER = 'http://runsheet.invalid';

const PATH = /\/hook\/2\/([\w.-]{1,200})\/([0-9a-f]{16})\/(\d{1,9})\/(\d{1,6})\/([0-9a-f]{32})(?:[?#]|$)/;

/** Tokens of batches from before there were marks. */
const OLD_PATH = /\/hook\/1\//;

/** The webhook address of an attempt; `receiver` is the public address of ours, undefined where there is none. */
export function webhookUrl(token: Token, secret: string, receiver: string | undefined): string {
  const { batch, mark, row, attempt } = token;
  return `${receiver ?? NO_RECEIVER}/hook/2/${batch}/${mark}/${row}/${attempt}/${macOf(token, secret)}`;
}

/** The token in a webhook address or path; undefined where it carries none. Says nothing about its MAC. */
export function readToken(url: string | undefined): (Token & { readonly mac: string }) | undefined {
  const [, batch, mark, row, attempt, mac] = PATH.exec(url ?? '') ?? [];
  if (batch === undefined || mark === undefined || mac === undefined) return undefined;
  return { batch, mark, row: Number(row), attempt: Number(attempt), mac };
}

export const isOldToken = (url: string | undefined): boolean => OLD_PATH.test(url ?? '');

/** Whether two tokens name the same attempt. */
export const isSameAttempt = (a: Token | undefined, b: Token): boolean =>
  a?.batch === b.batch && a.mark === b.mark && a.row === b.row && a.attempt === b.attempt;

/** Whether the token was made with this secret. */
export function isGenuine(token: Token & { readonly mac: string }, secret: string): boolean {
  return timingSafeEqual(Buffer.from(token.mac), Buffer.from(macOf(token, secret)));
}

/** A run calls back several times, most often the process that named it: each MAC is made once. */
const MACS_KEPT = 20_000;
const macs = new Map<string, string>();

function macOf({ batch, mark, row, attempt }: Token, secret: string): string {
  const name = `hook|2|${batch}|${mark}|${row}|${attempt}`;
  const known = macs.get(`${secret}|${name}`);
  if (known !== undefined) return known;
  const mac = createHmac('sha256', secret).update(name).digest('hex').slice(0, 32);
  const oldest = macs.size >= MACS_KEPT ? macs.keys().next().value : undefined;
  if (oldest !== undefined) macs.delete(oldest);
  macs.set(`${secret}|${name}`, mac);
  return mac;
}
