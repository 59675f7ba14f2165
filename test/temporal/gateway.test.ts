import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/host/config.ts';
import { encryptionWith } from '../../src/temporal/encryption/codec.ts';
import { payloadKeys } from '../../src/temporal/encryption/payload-keys.ts';
import { openGateway, type Gateway } from '../../src/temporal/embedded/gateway.ts';

const CODEC = encryptionWith(payloadKeys(loadConfig({ RUNSHEET_PAYLOAD_KEY: 'ab'.repeat(32) }), 'cluster'));
const base64 = (bytes: Uint8Array | undefined | null): string => Buffer.from(bytes ?? []).toString('base64');
const asJson = ({ metadata, data }: Payload) => ({
  metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)])),
  data: base64(data),
});
const plain = (value: unknown) => defaultPayloadConverter.toPayload(value);

describe("the gateway to Temporal's own pages", () => {
  let pages: Server;
  let seen: string[] = [];
  let isUp = true;
  let gateway: Gateway;
  let origin = '';

  beforeEach(async () => {
    seen = [];
    isUp = true;
    pages = createServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers.cookie ?? ''}`.trim());
      request.pipe(response.writeHead(200, { 'set-cookie': '_csrf=1', 'x-from': 'temporal' }));
    }).listen(0, '127.0.0.1');
    await once(pages, 'listening');
    const { port } = pages.address() as AddressInfo;
    gateway = await openGateway({
      port: 0,
      entrance: '/namespaces/n/workflows',
      codec: CODEC,
      pages: () => (isUp ? `http://127.0.0.1:${port}` : undefined),
    });
    ({ origin } = new URL(gateway.address));
  });
  afterEach(() => {
    gateway.close();
    pages.close();
  });

  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${origin}${path}`, { redirect: 'manual', ...init });
  const opened = async (): Promise<string> => {
    const answer = await fetch(gateway.address, { redirect: 'manual' });
    return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  };

  it('shows nothing without the cookie, not even to a codec request', async () => {
    const decode = { method: 'POST', body: '{"payloads":[]}' };
    for (const cookie of ['', 'runsheet=1', `runsheet-${new URL(origin).port}=`]) {
      expect((await ask('/', { headers: { cookie } })).status).toBe(403);
      expect((await ask('/codec/decode', { ...decode, headers: { cookie } })).status).toBe(403);
    }
    for (const path of ['/open', '/open/', '/open/x', `${new URL(gateway.address).pathname}x`])
      expect([path, (await ask(path)).status]).toEqual([path, 403]);
    expect(seen).toEqual([]);
  });

  it('gives the user of the secret address a cookie that scripts and other sites cannot use', async () => {
    const answer = await fetch(gateway.address, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/namespaces/n/workflows']);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^runsheet-\d+=[\w-]{32}; Path=\/; HttpOnly; SameSite=Lax$/,
    );
  });

  it('proxies all other requests with the cookie, without passing the cookie on', async () => {
    const cookie = `a=1; ${await opened()}; _csrf=2`;
    const answer = await ask('/api/v1/settings?x=1', { method: 'POST', body: 'words', headers: { cookie } });
    expect([answer.status, answer.headers.get('x-from'), await answer.text()]).toEqual([
      200,
      'temporal',
      'words',
    ]);
    expect(seen).toEqual(['POST /api/v1/settings?x=1 a=1; _csrf=2']);
  });

  it('decrypts for its own pages, and returns payloads unchanged that it cannot decrypt', async () => {
    const context = { type: 'workflow', namespace: 'n', workflowId: 'runsheet:b' } as const;
    const [secret = plain('')] = await CODEC.encode([plain({ folder: '/x' })], context);
    const others = [plain('a stranger'), { ...secret, data: new Uint8Array(40) }];
    const body = JSON.stringify({ payloads: [secret, ...others].map(asJson) });
    const headers = { cookie: await opened() };
    const answer = await ask('/codec/decode?preserveStorageRefs=true', { method: 'POST', body, headers });
    expect(await answer.json()).toEqual({ payloads: [plain({ folder: '/x' }), ...others].map(asJson) });
    expect(seen).toEqual([]);
  });

  it('never encrypts, and refuses requests from other sites', async () => {
    const headers = { cookie: await opened() };
    const post = { method: 'POST', body: '{"payloads":[]}' };
    expect((await ask('/codec/encode', { ...post, headers })).status).toBe(404);
    expect((await ask('/codec/decode', { headers })).status).toBe(404);
    for (const site of ['same-site', 'cross-site', 'none']) {
      const from = { ...headers, 'sec-fetch-site': site };
      expect((await ask('/codec/decode', { ...post, headers: from })).status).toBe(404);
    }
    expect((await ask('/codec/decode', { ...post, body: 'x', headers })).status).toBe(400);
  });

  it('proxies nothing while Temporal is down, because another program may have its port', async () => {
    const headers = { cookie: await opened() };
    isUp = false;
    expect((await ask('/', { headers })).status).toBe(503);
    expect(seen).toEqual([]);
    isUp = true;
    pages.close();
    pages.closeAllConnections();
    expect((await ask('/', { headers })).status).toBe(502);
  });
});
