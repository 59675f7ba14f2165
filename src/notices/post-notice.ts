// POSTs a notification as JSON. With RUNSHEET_NOTIFY_SECRET the receiver can check who sent it and when.

import { createHmac } from 'node:crypto';
import { postJson } from '../run-service/post-json.ts';
import type { AnyBody } from './any-body.ts';
import { undeliverable, undelivered } from './fault.ts';

export type Post = {
  readonly url: string;
  readonly signal: AbortSignal;
  /** The run service whose networks are allowed; undefined: the owner of the worker named the address. */
  readonly within: string | undefined;
};

export async function postNotice(post: Post, body: AnyBody, secret: string | undefined): Promise<void> {
  const text = JSON.stringify(body);
  await send(post, text, {
    'runsheet-notification': body.id,
    ...(secret === undefined ? {} : { 'runsheet-signature': signature(text, secret, Date.now()) }),
  });
}

/** An incoming webhook. Slack interprets <, > and &, and unless told otherwise `*`, `_`, names and addresses. */
export const postToSlack = (post: Post, { text }: AnyBody): Promise<void> =>
  send(
    post,
    JSON.stringify({ text: text.replace(/[&<>]/g, (one) => ENTITIES[one] as string), ...PLAIN }),
    {},
  );

const PLAIN = { mrkdwn: false, parse: 'none', link_names: false, unfurl_links: false, unfurl_media: false };

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** `t=<seconds since 1970>,v1=<HMAC-SHA256 of "<t>.<body>" in hexadecimal>`. */
export function signature(body: string, secret: string, nowMs: number): string {
  const t = Math.floor(nowMs / 1_000);
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`;
}

/** These statuses ask for another try. */
const BUSY = new Set([408, 425, 429]);

async function send(post: Post, text: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const { status, refused } = await postJson(post, text, headers);
  if (refused !== undefined) throw undeliverable(refused);
  if (status >= 200 && status < 300) return;
  const reason = `the receiver answered ${status}`;
  throw status >= 500 || BUSY.has(status) ? undelivered(reason) : undeliverable(reason);
}
