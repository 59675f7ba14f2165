// clean, where the files are in S3: no other process can go on with their removal. S3 is a small server here that holds its answer.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { ERRORS_HEADER } from '../../src/sheet/validation-errors.ts';
import { Console } from './console.ts';

// All patience is over before S3 can answer.
vi.mock('node:timers/promises', () => ({
  setTimeout: (_: number, value: unknown) => new Promise((done) => setImmediate(done, value)),
}));

const LIST = `<ListBucketResult><IsTruncated>false</IsTruncated>
  <Contents><Key>hens/bad-errors.csv</Key></Contents></ListBucketResult>`;

/** A bucket with an old list of errors; `removing` is called with each request to remove it, and answers it. */
async function bucketWith(removing: (answer: ServerResponse) => void): Promise<string> {
  const server = createServer((request: IncomingMessage, answer) => {
    request.resume();
    if (request.method === 'DELETE') return removing(answer);
    answer.setHeader('last-modified', new Date(0).toUTCString());
    answer.end(request.url?.includes('list-type') ? LIST : ERRORS_HEADER);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('clean waits until S3 has removed the files, however long that takes', async () => {
  const asked = Promise.withResolvers<ServerResponse>();
  const address = await bucketWith(asked.resolve);
  const console = await Console.open();
  const settings = {
    AWS_ENDPOINT_URL_S3: address,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'a-secret-of-tests',
    RUNSHEET_OUT: 's3://nightly/hens',
  };
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
  const cleaning = console.run('clean', '--yes');
  const first = await Promise.race([cleaning.then(() => 'ended'), asked.promise]);
  expect(first).not.toBe('ended');
  (await asked.promise).writeHead(204).end();
  const { code, stdout, stderr } = await cleaning;
  expect([code, stdout]).toEqual([0, 's3://nightly/hens/bad-errors.csv\n']);
  expect(stderr).toContain('1 path removed');
  expect(stderr).not.toContain('still being deleted');
});
