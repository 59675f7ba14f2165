// The bound of connections at its real size.

import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { freshFolder } from '../stage/fresh-folder.ts';
import { startProcess } from './service-process.ts';

it('4,000 bodies that trickle with one key lock nobody out, and end after two minutes', async () => {
  const tokens = ['ann:token-of-ann', 'ben:token-of-ben'];
  const { ask, url } = await startProcess(join(freshFolder(), 'runs.db'), { name: 'd' }, { tokens });
  const { hostname, port, host } = new URL(url);
  let open = 0;
  for (let nth = 0; nth < 4_000; nth += 1) {
    const socket = connect(Number(port), hostname, () => {
      open += 1;
      socket.write(
        `POST /api/run/deployment/queue HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer token-of-ben\r\n` +
          'content-type: application/json\r\ncontent-length: 1000000\r\n\r\n{',
      );
    });
    const trickle = setInterval(() => socket.write(' '), 5_000);
    socket.resume().on('error', () => undefined);
    socket.once('close', () => {
      open -= 1;
      clearInterval(trickle);
    });
    onTestFinished(() => void socket.destroy());
    if (nth % 100 === 0) await pause(20);
  }
  const headers = { authorization: 'Bearer token-of-ann' };
  const tookMs: number[] = [];
  for (let nth = 0; nth < 50; nth += 1) {
    const startMs = performance.now();
    expect((await ask('GET', '/api/deployments', { headers })).status).toBe(200);
    tookMs.push(performance.now() - startMs);
    await pause(20);
  }
  expect(Math.max(...tookMs)).toBeLessThan(2_000);
  await expect.poll(() => open, { timeout: 150_000, interval: 1_000 }).toBe(0);
});
