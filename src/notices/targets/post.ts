// Posts a notification, signed for a receiver of one's own.

import { createHmac } from 'node:crypto';
import { request } from 'undici';
import { isRetryable } from '../../host/http/retryable-status.ts';
import { FileFault } from '../../host/http/download-faults.ts';
import { guardFor } from '../../host/http/networks.ts';
import { openFileTransport, openTransport } from '../../host/http/transport.ts';
import type { AnyNoticeBody } from '../notice-body.ts';
import { undeliverable, undelivered } from '../undelivered.ts';

export const signed = (body: AnyNoticeBody, secret: string | undefined) => {
  const text = JSON.stringify(body);
  const signatures = secret && { 'runsheet-signature': signature(text, secret, Date.now()) };
  return { text, headers: { 'runsheet-notification': body.id, ...signatures } };
};

/** `t=<seconds since 1970>,v1=<HMAC-SHA256 of "<t>.<body>" in hexadecimal>`. */
export function signature(body: string, secret: string, nowMs: number): string {
  const t = Math.floor(nowMs / 1_000);
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`;
}

type Posted = {
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** The run service whose networks are allowed, as for files; undefined: every address is. */
  readonly within?: string | undefined;
};

const SILENCE = { headersMs: 10_000, idleMs: 10_000 };

/** Posts without following redirects. */
export async function post(url: string, { text, headers, signal, within }: Posted): Promise<void> {
  const guard = within === undefined ? undefined : guardFor(within, 'the address');
  const dispatcher = guard === undefined ? openTransport(1) : openFileTransport(1, guard.lookup, SILENCE);
  try {
    await guard?.admit(new URL(url));
    const { statusCode, body } = await request(url, {
      method: 'POST',
      dispatcher,
      signal: AbortSignal.any([signal, AbortSignal.timeout(SILENCE.headersMs)]),
      headers: { 'content-type': 'application/json', 'user-agent': 'runsheet', ...headers },
      body: text,
    });
    await body.dump();
    if (statusCode >= 200 && statusCode < 300) return;
    const reason = `the receiver answered ${statusCode}`;
    throw statusCode >= 500 || isRetryable(statusCode) ? undelivered(reason) : undeliverable(reason);
  } catch (error) {
    throw error instanceof FileFault ? undeliverable(error.message) : error;
  } finally {
    await dispatcher.close();
  }
}
