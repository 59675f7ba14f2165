// The service, its files, notifications and S3 through a real proxy, and over TLS with an authority of one's own.

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { request } from 'undici';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { classifyResponse } from '../../../src/batch/classify-response.ts';
import { errorMessage } from '../../../src/errors/error.ts';
import { keyFromEnvironment } from '../../../src/host/settings/api-key.ts';
import { openOutgoing } from '../../../src/host/http/outgoing.ts';
import { takeProxies } from '../../../src/host/settings/proxies.ts';
import { takeS3Settings } from '../../../src/host/settings/s3-settings.ts';
import { connectRunService } from '../../../src/service-client/client.ts';
import { openDownloads } from '../../../src/host/http/download.ts';
import { post as postNotice } from '../../../src/notices/targets/post.ts';
import { ServiceClock } from '../../../src/service-client/connection.ts';
import { openTransport } from '../../../src/host/http/transport.ts';
import { S3Client } from '../../../src/store/s3/s3-client.ts';
import { makeAuthority, openProxy, openTls, type ProxyParams, type StagedProxy } from '../../stage/proxy.ts';
import { serve, type Served } from '../../stage/serve.ts';

const RUN = '3f1c9f0e-6a56-4d0b-9f9e-0d5f3f6d1a11';
const PLAIN = 'http://service.example';
const SECURE = 'https://service.example';
const never = new AbortController().signal;

const got: string[] = [];
let status = 200;
const answers: RequestListener = (incoming, response) => {
  const { host, 'proxy-authorization': login = '' } = incoming.headers;
  got.push(`${incoming.method} ${incoming.url} of ${host}${login}`);
  incoming.resume().on('end', () => {
    response.writeHead(incoming.url?.startsWith('/moved') ? 302 : status, { location: 'http://10.0.0.7/x' });
    response.end(JSON.stringify({ run_id: RUN }));
  });
};
const folder = mkdtempSync(join(tmpdir(), 'runsheet-proxy-'));
const trusted = getCACertificates('default');
let server: Served;
let tls: Served;

beforeAll(async () => {
  server = await serve(answers);
  const authority = makeAuthority(folder, 'service.example');
  tls = await openTls(authority, server.port);
  setDefaultCACertificates([...trusted, authority.certificate]);
});
afterAll(() => {
  setDefaultCACertificates([...trusted]);
  tls.close();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const opened: { close: () => unknown }[] = [];
beforeEach(() => {
  got.length = 0;
  status = 200;
});
afterEach(async () => {
  takeProxies({});
  for (const listener of opened.splice(0)) await listener.close();
});

/** The proxy for everything, in small letters for http and in capital ones for https. */
async function staged(params: ProxyParams = {}, login = '', except = ''): Promise<StagedProxy> {
  const hosts = { 'service.example': server.port, 'service.example:443': tls.port };
  const proxy = await openProxy({ hosts, ...params });
  opened.push(proxy);
  const url = proxy.url.replace('//', `//${login}`);
  takeProxies({ http_proxy: url, HTTPS_PROXY: url, NO_PROXY: except });
  return proxy;
}

function service(base: string) {
  const transport = openTransport(2);
  opened.push(transport);
  const key = keyFromEnvironment('a-key-of-this-test', 'the test');
  return connectRunService({ base: `${base}/api`, key, transport, clock: new ServiceClock() });
}

async function post(base: string) {
  let begun = 0;
  const order = { deploymentId: 'd', inputs: {}, gpu: undefined, webhook: 'http://x' } as never;
  const beforeSend = (): void => void (begun += 1);
  const facts = await service(base).queueRun(order, { beforeSend, deadlineMs: 10_000 });
  expect(begun).toBe(facts.begun ? 1 : 0);
  return { facts, is: classifyResponse(facts) };
}

describe('a POST', () => {
  it.each([
    [PLAIN, 'POST http://service.example/api/run/deployment/queue'],
    [SECURE, 'CONNECT service.example:443'],
  ])('to %s goes through the proxy and is accepted', async (base, line) => {
    const { asked: requests } = await staged();
    expect(await post(base)).toEqual({ facts: { begun: true, status: 200, runId: RUN }, is: 'accepted' });
    expect(requests).toEqual([line]);
    expect(got).toEqual(['POST /api/run/deployment/queue of service.example']);
  });

  it('to a name of no_proxy does not go through it', async () => {
    const { asked: requests } = await staged({}, '', 'service.example');
    const { facts, is } = await post(PLAIN);
    expect({ is, requests }).toEqual({ is: 'not-sent', requests: [] });
    expect(facts.error).toMatch(/ENOTFOUND|EAI_AGAIN/);
  });

  it.each([
    [PLAIN, 407, true, 'blocked', /the proxy http:\S+ wants a login \(407\): set http_proxy=/],
    [SECURE, 407, false, 'blocked', /the proxy http:\S+ wants a login \(407\): set HTTPS_PROXY=/],
    // The proxy may have passed it on.
    [PLAIN, 502, true, 'unconfirmed', /<h1>the proxy/],
    [PLAIN, 503, true, 'unconfirmed', /<h1>the proxy/],
    [PLAIN, 504, true, 'unconfirmed', /<h1>the proxy/],
    [PLAIN, 403, true, 'blocked', /<h1>the proxy/],
    [PLAIN, 0, true, 'unconfirmed', /other side closed.*through the proxy http:/],
    // Without a tunnel nothing was sent.
    [SECURE, 403, false, 'not-sent', /the proxy http:\S+ \(HTTPS_PROXY\) refused the connection \(403\)/],
    [SECURE, 502, false, 'not-sent', /refused the connection \(502\)/],
    [SECURE, 503, false, 'not-sent', /refused the connection \(503\)/],
    [SECURE, 0, false, 'not-sent', /through the proxy http:/],
  ])('to %s of which the proxy makes %i', async (base, refused, begun, is, reason) => {
    await staged({ status: refused });
    const result = await post(base);
    expect(result).toMatchObject({ facts: { begun }, is });
    expect(result.facts.error ?? result.facts.detail).toMatch(reason);
    expect(got).toEqual([]);
  });

  it.each([PLAIN, SECURE])('to %s while the proxy is away was not sent', async (base) => {
    const { close } = await staged();
    close();
    const { facts, is } = await post(base);
    expect(is).toBe('not-sent');
    expect(facts.error).toMatch(/ECONNREFUSED.*through the proxy http:/);
  });

  it.each([PLAIN, SECURE])('to %s with the login of the proxy is accepted', async (base) => {
    await staged({ login: 'hen:corn@farm/1' }, 'hen:corn%40farm%2F1@');
    expect((await post(base)).is).toBe('accepted');
    expect(got).toEqual(['POST /api/run/deployment/queue of service.example']);
  });

  it.each([PLAIN, SECURE])('to %s with a wrong login shows no password', async (base) => {
    await staged({ login: 'hen:corn@farm/1' }, 'hen:a-wrong-password@');
    const { facts, is } = await post(base);
    expect(is).toBe('blocked');
    expect(facts.error).toMatch(/the proxy http:\S+ refuses the login/);
    expect(facts.error).not.toContain('a-wrong-password');
  });

  it.each([407, 502, 503])(
    'that the service itself answers with %i through a tunnel is unconfirmed',
    async (code) => {
      await staged();
      status = code;
      expect((await post(SECURE)).is).toBe('unconfirmed');
      expect(got).toHaveLength(1);
    },
  );

  it('for which the proxy does not answer was not sent, after a limited time', async () => {
    const silent = await serve(createServer().on('connect', () => undefined));
    opened.push(silent);
    takeProxies({ https_proxy: silent.url });
    const dispatcher = openOutgoing({ connections: 1, headersMs: 0, bodyMs: 0, connectMs: 100 });
    const asking = request(SECURE, { dispatcher, method: 'POST', body: '{}' });
    await expect(asking).rejects.toThrow(/Headers Timeout Error.*through the proxy http:/);
  });
});

describe('what else goes out', () => {
  const fetched = async (url: string): Promise<string> => {
    const { chunks } = await openDownloads(2)(url, { service: PLAIN, signal: never });
    const received: Uint8Array[] = [];
    for await (const chunk of chunks) received.push(chunk);
    return Buffer.concat(received).toString();
  };

  it('files go through the proxy', async () => {
    const { asked: requests } = await staged();
    for (const base of [PLAIN, SECURE]) expect(await fetched(`${base}/hen.png`)).toContain(RUN);
    expect(requests).toEqual(['GET http://service.example/hen.png', 'CONNECT service.example:443']);
  });

  it.each([
    ['http://127.0.0.1:1/x', 'loopback'],
    ['http://10.1.2.3/x', 'private'],
    ['http://169.254.169.254/latest', 'metadata'],
    [`${PLAIN}/moved`, 'private'],
  ])('an inner address is not requested from the proxy: %s', async (url, network) => {
    const { asked: requests } = await staged();
    await expect(fetched(url)).rejects.toThrow(`a ${network} address`);
    expect(requests.filter((line) => !line.endsWith('/moved'))).toEqual([]);
  });

  it('a name that leads inside on this machine is not requested from the proxy', async () => {
    const { hostname } = await import('node:os');
    const { lookup } = await import('node:dns/promises');
    const own = hostname();
    await expect(lookup(own)).resolves.toMatchObject({ family: expect.any(Number) as number });
    const { asked: requests } = await staged({ hosts: { [own]: server.port } });
    await expect(fetched(`http://${own}/x`)).rejects.toThrow(/address, where the run service is not/);
    expect(requests).toEqual([]);
  });

  it('notifications go through the proxy, within the networks of the service too', async () => {
    const { asked: requests } = await staged();
    for (const within of [undefined, PLAIN])
      await postNotice(`${PLAIN}/notice`, { text: '{}', signal: never, within });
    expect(requests).toEqual(['POST http://service.example/notice', 'POST http://service.example/notice']);
  });

  it('S3 goes through the proxy', async () => {
    const keys = { AWS_ACCESS_KEY_ID: 'hens', AWS_SECRET_ACCESS_KEY: 'a-secret-of-hens' };
    const settings = takeS3Settings({ ...keys, AWS_ENDPOINT_URL_S3: PLAIN });
    const { asked: requests } = await staged();
    await new S3Client({ bucket: 'nightly', key: '' }, settings).send({ method: 'GET', key: 'a.json' });
    expect(requests).toEqual(['GET http://service.example/nightly/a.json']);
  });

  it('this machine is reached directly', async () => {
    const { asked: requests } = await staged({ status: 403 });
    expect((await post(`http://127.0.0.1:${server.port}`)).is).toBe('accepted');
    expect((await post(`http://localhost:${server.port}`)).is).toBe('accepted');
    expect(requests).toEqual([]);
  });

  it('a reading call says which proxy refuses it', async () => {
    await staged({ status: 407 });
    const refused = await service(SECURE).listDeployments().catch(errorMessage);
    expect(refused).toMatch(/cannot be reached: the proxy http:\S+ wants a login \(407\)/);
  });
});
