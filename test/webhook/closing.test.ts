// Senders that keep a connection while the receiver closes.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { runSchema } from '../../src/service-client/contract/run.ts';
import type { Receiver } from '../../src/webhook/receiver.ts';
import { webhookUrl } from '../../src/webhook/webhook-token.ts';
import { NAME, opened, SECRET } from './opened.ts';

describe('a receiver that closes', () => {
  let receiver: Receiver;
  let sender: Socket;
  /** Settles when the signal of an end may return. */
  let released: Promise<void>;
  let ends: number;
  beforeEach(async () => {
    [released, ends] = [Promise.resolve(), 0];
    receiver = await opened({
      getRun: async (_, id) => {
        const webhook = webhookUrl(NAME, SECRET, receiver.url);
        return runSchema.parse({ id, status: 'success', webhook, ended_at: '2026-11-21T10:00:00Z' });
      },
      runEnded: async () => {
        ends += 1;
        await released;
        return 'taken';
      },
    });
    sender = connect(receiver.port, '127.0.0.1').on('error', () => undefined);
    await once(sender, 'connect');
    // The receiver has taken the connection when it answers on a later one.
    await fetch(`${receiver.url}/healthz`);
  });
  afterEach(() => void sender.destroy());

  it.each(['', 'POST /hook/2/b/1/1/ HTTP/1.1\r\nHost: r'])(
    'does not wait for a connection on which there is only %j',
    { timeout: 10_000 },
    async (text) => {
      if (text !== '') sender.write(text);
      await expect(receiver.close()).resolves.toBeUndefined();
    },
  );

  it('waits for the rest of a webhook no longer than it would otherwise', { timeout: 10_000 }, async () => {
    const { pathname } = new URL(webhookUrl(NAME, SECRET, receiver.url));
    sender.write(`POST ${pathname} HTTP/1.1\r\nHost: r\r\nContent-Length: 100\r\n\r\n{`);
    await fetch(`${receiver.url}/healthz`);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    let isClosed = false;
    const closed = receiver.close().then(() => (isClosed = true));
    await vi.advanceTimersByTimeAsync(9_900);
    expect(isClosed).toBe(false);
    await vi.advanceTimersByTimeAsync(100);
    await closed;
  });

  it('handles a webhook that has come whole, however long that takes', { timeout: 10_000 }, async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    released = promise;
    const body = JSON.stringify({ event_type: 'run.updated', run_id: randomUUID(), status: 'success' });
    const answer = fetch(webhookUrl(NAME, SECRET, receiver.url), { method: 'POST', body });
    await vi.waitFor(() => expect(ends).toBe(1));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const closed = receiver.close();
    await vi.advanceTimersByTimeAsync(15_000);
    resolve();
    expect((await answer).status).toBe(200);
    await closed;
  });
});
