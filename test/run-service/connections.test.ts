// Connections of the run service: one person, or one address of a file, cannot occupy all of them.

import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openService, type Asking } from './asking.ts';
import { MB, upload } from './uploading.ts';

const tokens = ['ann:token-of-ann', 'ben:token-of-ben'];
const as = (name: string) => ({ headers: { authorization: `Bearer token-of-${name}` } });
const MOST = 40;
const SOON = { timeout: 10_000 };
/** Long enough for a test in which nobody may be cut. */
const PATIENT = { bytes: 1, withinMs: 600_000 };

/** Opens connections that begin with `request` and then say no more. */
async function occupy(url: string, count: number, request: string): Promise<readonly Socket[]> {
  const { hostname, port, host } = new URL(url);
  return Promise.all(
    Array.from({ length: count }, () => {
      const socket = connect(Number(port), hostname);
      onTestFinished(() => void socket.destroy());
      socket.on('error', () => undefined);
      socket.pause();
      return new Promise<Socket>((resolve) => {
        socket.on('connect', () => socket.write(request.replace('HOST', host), () => resolve(socket)));
      });
    }),
  );
}

const trickled = (name: string): string =>
  `POST /api/run/deployment/queue HTTP/1.1\r\nhost: HOST\r\nauthorization: Bearer token-of-${name}\r\n` +
  'content-type: application/json\r\ncontent-length: 100\r\n\r\n{';

const statusFor = async ({ ask }: Asking, name: string): Promise<number> =>
  (await ask('GET', '/api/deployments', as(name))).status;

describe('bodies that trickle with one key', () => {
  it('leave connections for others, and this key is told to wait', async () => {
    const opened = await openService({}, { tokens, limits: { most: MOST, slow: PATIENT } });
    await occupy(opened.service.url, 2 * MOST, trickled('ben'));
    await expect.poll(() => statusFor(opened, 'ben'), SOON).toBe(429);
    for (let nth = 0; nth < 5; nth += 1) expect(await statusFor(opened, 'ann')).toBe(200);
  });

  it('are ended after a while, and the key works again', async () => {
    const slow = { bytes: 1_000, withinMs: 500 };
    const opened = await openService({}, { tokens, limits: { most: MOST, slow } });
    const sockets = await occupy(opened.service.url, MOST, trickled('ben'));
    await expect.poll(() => statusFor(opened, 'ben'), SOON).toBe(429);
    await expect.poll(() => statusFor(opened, 'ben'), SOON).toBe(200);
    for (const socket of sockets) socket.resume();
    await expect.poll(() => sockets.filter(({ closed }) => !closed).length, SOON).toBe(0);
  });
});

it('downloads that nobody reads leave the owner of the file and everybody else connections', async () => {
  const opened = await openService({}, { tokens, limits: { most: MOST, slow: PATIENT } });
  const { url } = await upload(opened.service.url, [randomBytes(20 * MB)], 'token-of-ann');
  const { pathname } = new URL(url);
  await occupy(opened.service.url, 2 * MOST, `GET ${pathname} HTTP/1.1\r\nhost: HOST\r\n\r\n`);
  await expect
    .poll(async () => (await fetch(opened.service.url + pathname, { method: 'HEAD' })).status, SOON)
    .toBe(429);
  expect([await statusFor(opened, 'ann'), await statusFor(opened, 'ben')]).toEqual([200, 200]);
});

it('bodies in memory have a bound for each owner', async () => {
  const opened = await openService({}, { tokens });
  const large = trickled('ben').replace('content-length: 100', 'transfer-encoding: chunked');
  await occupy(opened.service.url, 16, large.replace(/\{$/, '1\r\n{\r\n'));
  await expect
    .poll(async () => {
      const body = 'x'.repeat(1_000);
      return (await opened.ask('POST', '/api/run/deployment/queue', { body, ...as('ben') })).status;
    }, SOON)
    .toBe(429);
  expect([await statusFor(opened, 'ben'), await statusFor(opened, 'ann')]).toEqual([200, 200]);
});
