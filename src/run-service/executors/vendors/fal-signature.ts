// The signature of fal's webhooks: Ed25519, with keys that fal publishes. Its parts are joined by lines: the ids of
// the request and the user, the time, and the hash of the body.

import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { VENDOR_FACTS } from '../../../options/facts/server-kind.ts';
import type { VendorWebhook } from '../backend.ts';
import type { Http } from '../http.ts';

const KEYS_PATH = '/.well-known/jwks.json';
/** Keys are read again after this time, and for a signature of another key, but not more often than each minute. */
const KEYS_MS = 3_600_000;
const AGAIN_MS = 60_000;
/** The clocks may differ by this much. */
const SKEW_S = 300;

const keysSchema = z.looseObject({
  keys: z.array(z.looseObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string() })),
});

export class FalSignatures {
  readonly #http: Http;
  #keys: readonly KeyObject[] = [];
  #readAt = Number.NEGATIVE_INFINITY;
  /** The last reading of the keys. */
  #reading: Promise<void> | undefined;

  constructor(http: Http) {
    this.#http = http;
  }

  async isGenuine({ headers, body }: Pick<VendorWebhook, 'headers' | 'body'>): Promise<boolean> {
    const [id, user, time, signature] = ['request-id', 'user-id', 'timestamp', 'signature'].map((name) =>
      String(headers[`${VENDOR_FACTS.fal.webhookHeaders}${name}`] ?? ''),
    );
    const isRecent = Math.abs(Date.now() / 1_000 - Number(time)) <= SKEW_S;
    if (!isRecent || !/^[0-9a-f]{128}$/i.test(signature ?? '')) return false;
    const digest = createHash('sha256').update(body).digest('hex');
    const text = Buffer.from([id, user, time, digest].join('\n'));
    const fits = (key: KeyObject): boolean => verify(null, text, key, Buffer.from(signature ?? '', 'hex'));
    const age = performance.now() - this.#readAt;
    if (age < KEYS_MS && this.#keys.some(fits)) return true;
    if (age >= AGAIN_MS) this.#reading = this.#read();
    // Nothing is refused before the keys are known: a failed reading fails the messages of the next minute, too.
    await this.#reading;
    return this.#keys.some(fits);
  }

  async #read(): Promise<void> {
    this.#readAt = performance.now();
    const { keys } = await this.#http.read(KEYS_PATH, keysSchema);
    this.#keys = keys.map(({ kty, crv, x }) => createPublicKey({ key: { kty, crv, x }, format: 'jwk' }));
  }

  close = (): Promise<void> => this.#http.close();
}
