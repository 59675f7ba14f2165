// Idle connections, which anyone who can reach the receiver can open.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Receiver } from '../../src/webhook/receiver.ts';
import { webhookUrl } from '../../src/webhook/webhook-token.ts';
import { NAME, opened, SECRET } from './opened.ts';

const STRANGERS = 2_500;
const RUN = '3f2b8c1e-5d6a-4b7c-8d9e-0a1b2c3d4e5f';
const BODY = JSON.stringify({ event_type: 'run.updated', run_id: RUN, status: 'running' });

describe('a genuine webhook', () => {
  let receiver: Receiver;
  let strangers: Socket[] = [];
  beforeEach(async () => {
    receiver = await opened();
  });
  afterEach(async () => {
    for (const socket of strangers) socket.destroy();
    await receiver.close();
  });

  const crowd = async (sends: string): Promise<void> => {
    strangers = await Promise.all(
      Array.from({ length: STRANGERS }, async () => {
        const socket = connect(receiver.port, '127.0.0.1');
        socket.on('error', () => undefined).resume();
        await once(socket, 'connect');
        if (sends !== '') socket.write(sends);
        return socket;
      }),
    );
  };
  const url = (row = 1): string => webhookUrl({ ...NAME, place: row }, SECRET, receiver.url);
  const hook = async (row?: number): Promise<{ readonly status: number; readonly ms: number }> => {
    const began = performance.now();
    const { status } = await fetch(url(row), {
      method: 'POST',
      body: BODY,
      signal: AbortSignal.timeout(10_000),
    });
    return { status, ms: performance.now() - began };
  };

  const FORGED = `POST /hook/2/b/${NAME.mark}/1/1/${'0'.repeat(32)} HTTP/1.1\r\nHost: r\r\n`;
  it.each([
    ['nothing', ''],
    ['half a header', 'POST /hook/2/b/1/1/ HTTP/1.1\r\nHost: r'],
    ['a forged token, and never their body', `${FORGED}Content-Length: 1000000\r\n\r\n{`],
    ['a forged token, and keep the connection', `${FORGED}Content-Length: 0\r\n\r\n`],
  ])('is accepted within 2 s while 2,500 connections send %s', async (_what, sends) => {
    await crowd(sends);
    for (let row = 1; row <= 5; row += 1) {
      const { status, ms } = await hook(row);
      expect(status).toBe(200);
      expect(ms).toBeLessThan(2_000);
    }
  });

  it('is accepted on the connection of an earlier one', async () => {
    await hook(1);
    await crowd('');
    expect((await hook(2)).status).toBe(200);
  });

  it('is refused immediately if it is too long, and the rest is not read', async () => {
    const socket = connect(receiver.port, '127.0.0.1').on('error', () => undefined);
    const { pathname } = new URL(url());
    socket.write(`POST ${pathname} HTTP/1.1\r\nHost: r\r\nContent-Length: 100000000\r\n\r\n`);
    socket.write('x'.repeat((1 << 20) + 1));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 .*connection: close/is);
    await new Promise((done) => socket.once('close', done));
  });

  it('closes idle connections within 8 s', async () => {
    const [silent, halfway] = [connect(receiver.port, '127.0.0.1'), connect(receiver.port, '127.0.0.1')];
    strangers = [silent, halfway];
    halfway.write('POST / HTTP/1.1\r\nHost:');
    const began = performance.now();
    await Promise.all(strangers.map((socket) => new Promise((done) => socket.resume().once('close', done))));
    expect(performance.now() - began).toBeLessThan(8_000);
  });
});
