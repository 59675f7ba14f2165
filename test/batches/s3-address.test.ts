import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDownloads } from '../../src/host/http/download.ts';
import { errorMessage } from '../../src/errors/error.ts';
import { sheetAt, signedS3Url } from '../../src/batches/sheet-address.ts';
import { takeS3Settings } from '../../src/host/settings/s3-settings.ts';
import { listen } from '../stage/free-port.ts';

const KEYS = {
  AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const AT = new Date('2013-05-24T00:00:00Z');
const urlOf = (address: string, more: Readonly<Record<string, string>> = {}): Promise<URL> => {
  takeS3Settings({ ...KEYS, ...more });
  return signedS3Url(address, AT);
};

describe('an address in S3', () => {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    response.writeHead(request.url?.includes('closed') ? 403 : 200).end('prompt\nan owl\n');
  });
  let port = 0;
  beforeAll(async () => void (port = await listen(server)));
  afterAll(() => void server.close());
  const read = (address: string) => {
    takeS3Settings({ ...KEYS, AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}` });
    return sheetAt(address, {
      download: openDownloads(1),
      // Elsewhere: the settings name the host of S3, so its network is allowed.
      service: 'https://93.184.216.34/api',
      signal: new AbortController().signal,
    });
  };

  it('is the signed URL of the object, at the host of its bucket', async () => {
    const { origin, pathname, searchParams } = await urlOf('s3://examplebucket/night/test 1.csv');
    expect(origin + pathname).toBe('https://examplebucket.s3.us-east-1.amazonaws.com/night/test%201.csv');
    expect(Object.fromEntries(searchParams)).toMatchObject({
      'X-Amz-Credential': 'AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request',
      'X-Amz-Date': '20130524T000000Z',
      'X-Amz-SignedHeaders': 'host',
      'X-Amz-Signature': expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it.each([
    ['another region', 's3://bkt/k', { AWS_REGION: 'eu-west-3' }, 'https://bkt.s3.eu-west-3.amazonaws.com/k'],
    ['a bucket with a dot', 's3://a.b/k', {}, 'https://s3.us-east-1.amazonaws.com/a.b/k'],
    ['another server', 's3://bkt/k', { AWS_ENDPOINT_URL: 'http://s3.lan:9000/' }, 'http://s3.lan:9000/bkt/k'],
    ['a key with ? and #', 's3://bkt/a?b#c', {}, 'https://bkt.s3.us-east-1.amazonaws.com/a%3Fb%23c'],
  ])('is understood for %s', async (_, address, more, url) => {
    const { origin, pathname } = await urlOf(address, more);
    expect(origin + pathname).toBe(url);
  });

  it.each([
    's3://localhost:8443#/k.csv',
    's3://2852039166?/latest/x',
    String.raw`s3://intranet\x/k.csv`,
    's3://evil%2ecom?/k.csv',
    's3://user:password@host/k.csv',
    's3://sheets/../other/k.csv',
  ])('names no other host: %s', async (address) =>
    expect(urlOf(address)).rejects.toMatchObject({ code: 'E106' }),
  );

  it.each(['s3://anna9:zebra/stripe@bucket/k', 's3:anna9:zebrastripe@bucket/k'])(
    'that has a password is refused without it: %s',
    async (address) => {
      const refused = await urlOf(address).catch(errorMessage);
      expect(refused).toMatch(/^s3:\S+ cannot be read/);
      expect(refused).not.toMatch(/anna9|zebra|stripe/);
    },
  );

  it('carries the token of a session', async () => {
    const url = await urlOf('s3://bkt/k', { AWS_SESSION_TOKEN: 'a+token=' });
    expect(url.searchParams.get('X-Amz-Security-Token')).toBe('a+token=');
  });

  it('is read with its name, from the host of the settings', async () => {
    const { name, stdin } = read('s3://sheets/night/hens.csv');
    expect([name, Buffer.concat(await stdin.toArray()).toString()]).toEqual(['hens.csv', 'prompt\nan owl\n']);
    expect(requests.at(-1)).toMatch(/^\/sheets\/night\/hens\.csv\?X-Amz-Expires=900&.*X-Amz-Signature=/);
  });

  it('is refused without its signature if S3 refuses it', async () => {
    const refused = await read('s3://closed/hens.csv')
      .stdin.toArray()
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'E106', message: expect.stringContaining('s3://closed/hens.csv') });
    expect(String(refused)).not.toContain('X-Amz');
  });

  it('needs a key, and the keys of this machine', async () => {
    await expect(urlOf('s3://bucket')).rejects.toMatchObject({ code: 'E106' });
    takeS3Settings({});
    await expect(signedS3Url('s3://bkt/k')).rejects.toMatchObject({
      code: 'E602',
      hint: expect.stringContaining('AWS_ACCESS_KEY_ID'),
    });
  });
});
