import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { openGoneFiles } from '../../../src/host/http/gone-files.ts';

/** A host that answers every HEAD with this status. */
async function hostOf(status: number): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(request.method === 'HEAD' ? status : 400).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it.each([
  [404, true],
  [410, true],
  [200, false],
  [302, false],
  [401, false],
  [403, false],
  [405, false],
  [500, false],
])('a host that answers %d has lost the file: %s', async (status, isGone) => {
  const host = await hostOf(status);
  expect(await openGoneFiles(1, host)(`${host}/files/a.png`)).toBe(isGone);
});

it('a host that is away, and an address of no host, have lost nothing', async () => {
  const isGone = openGoneFiles(1, 'http://127.0.0.1:1');
  expect([await isGone('http://127.0.0.1:1/a.png'), await isGone('data:image/png;base64,')]).toEqual([
    false,
    false,
  ]);
});

it('a call that was aborted asks nobody', async () => {
  const host = await hostOf(404);
  const isGone = openGoneFiles(1, host, AbortSignal.abort(new Error('enough')));
  await expect(isGone(`${host}/a.png`)).rejects.toThrow('enough');
});
