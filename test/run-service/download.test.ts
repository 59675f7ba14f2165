import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { downloads } from '../../src/run-service/download.ts';
import { openTransport } from '../../src/run-service/transport.ts';

const closers: (() => void)[] = [];
afterEach(() => closers.splice(0).forEach((close) => close()));

async function fetched(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise<void>((done) => server.once('listening', done));
  closers.push(() => server.close().closeAllConnections());
  let bytes = 0;
  const download = downloads(openTransport(2, 'files'));
  for await (const chunk of download(`http://127.0.0.1:${(server.address() as AddressInfo).port}/x`))
    bytes += chunk.byteLength;
  return bytes;
}

describe('a download', () => {
  it('may be larger than any answer of the API', async () => {
    const bytes = 24 << 20;
    expect(await fetched((_, response) => response.end(Buffer.alloc(bytes)))).toBe(bytes);
  });

  it('that breaks off is no file', async () => {
    const broken = fetched((_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    });
    await expect(broken).rejects.toThrow(/closed|terminated|aborted/);
  });

  it('that is refused says with what', async () => {
    const refused = fetched((_, response) => void response.writeHead(403).end());
    await expect(refused).rejects.toThrow('403');
  });
});
