import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { withoutSecrets } from '../../../src/errors/redact.ts';
import { takeS3Settings } from '../../../src/host/settings/s3-settings.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { bucketStore } from '../../../src/store/s3/bucket-store.ts';
import { copy } from '../../../src/store/s3/objects.ts';
import { S3Client } from '../../../src/store/s3/s3-client.ts';
import { answeringServer, KEYS } from './answering-server.ts';

describe('an S3 server', () => {
  /** Stores everything and understands no condition. */
  const reach = answeringServer((request, answer) => {
    request.resume().once('end', () => answer.writeHead(200, { etag: '"1"' }).end());
  });

  it('that ignores If-None-Match is refused, because two commands would both make a batch', async () => {
    reach();
    await expect(openStore('s3://nightly/hens/a').create('batch.json', '{}')).rejects.toMatchObject({
      code: 'E612',
      message: expect.stringContaining('ignores If-None-Match'),
      hint: expect.stringContaining('a local folder'),
    });
  });

  it('that is not there is named, with what to check', async () => {
    takeS3Settings({ ...KEYS, AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1' });
    const store = bucketStore('s3://nightly/hens', { againMs: 500, silentMs: 500 });
    await expect(store.folders('')).rejects.toMatchObject({
      code: 'E612',
      message: expect.stringMatching(
        /^s3:\/\/nightly\/hens cannot be used: 127\.0\.0\.1:1 cannot be reached: .+ECONNREFUSED/,
      ),
      hint: expect.stringContaining('AWS_ENDPOINT_URL_S3'),
    });
  });
});

describe('an answer 200 that says that the request failed', () => {
  let answers: readonly string[] = [];
  let requests = 0;
  const reach = answeringServer((request, answer) => {
    request.resume().once('end', () => answer.writeHead(200).end(answers[requests++] ?? ''));
  });
  const client = (): S3Client => {
    return new S3Client({ bucket: 'nightly', key: 'hens' }, reach());
  };
  const source = { bucket: 'nightly', key: 'hens/a/outputs/1.png' };
  beforeEach(() => void (requests = 0));

  it('is repeated if it may succeed then', async () => {
    const failed = '<Error><Code>InternalError</Code><Message>We had a problem</Message></Error>';
    answers = [failed, '<CopyObjectResult><ETag>"1"</ETag></CopyObjectResult>'];
    await expect(copy(client(), source, 'hens/b/outputs/1.png')).resolves.toBe(true);
    expect(requests).toBe(2);
  });

  it.each([
    ['an error of the request', '<Error><Code>AccessDenied</Code></Error>', 'AccessDenied'],
    ['the page of a proxy', '<!doctype html><p>Please sign in', 'it answers 200'],
  ])('is no success: %s', async (_, body, reason) => {
    answers = [body];
    await expect(copy(client(), source, 'hens/b/outputs/1.png')).rejects.toMatchObject({
      code: 'E612',
      message: expect.stringContaining(reason),
    });
    expect(requests).toBe(1);
  });
});

it('an address of the S3 server that is no URL is named, whatever it is used for', async () => {
  for (const endpoint of ['minio.local', 'minio:9000']) {
    takeS3Settings({ ...KEYS, AWS_ENDPOINT_URL_S3: endpoint });
    await expect(openStore('s3://nightly/hens').folders('')).rejects.toMatchObject({
      code: 'E602',
      message: expect.stringContaining(JSON.stringify(endpoint)),
      hint: expect.stringContaining('AWS_ENDPOINT_URL_S3=https://'),
    });
  }
});

it.each([
  'https://hens:a-password@s3.example.com',
  'https://hens:a-password@s3.example.com:9000/path',
  'https://a-password@s3.example.com',
  'hens:a-password@s3.example.com',
  'ftp://hens:a-password@s3.example.com',
  ' https://hens:a-password@s3.example.com',
  '\thttps://hens:a-password@s3.example.com',
  'ht\ntps://hens:a-password@s3.example.com',
  'https:\\\\hens:a-password@s3.example.com',
  'https:hens:a-password@s3.example.com',
  'https://hens:a-password/more@s3.example.com',
  'https://hens:1/a-password@s3.example.com',
  'https://hens:a-password#more@s3.example.com',
  'https://hens:a-password?more@s3.example.com',
  'https://hens:a-password@more@s3.example.com',
  'hens:a-password/more@s3.example.com',
])('a password in the address of the S3 server is refused and not shown: %s', async (endpoint) => {
  takeS3Settings({ ...KEYS, AWS_ENDPOINT_URL_S3: endpoint });
  const error: unknown = await openStore('s3://nightly/hens')
    .folders('')
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: 'E602',
    message: expect.stringContaining('contains a user name or password'),
    hint: expect.stringContaining('AWS_SECRET_ACCESS_KEY'),
  });
  expect(JSON.stringify(error) + String(error)).not.toContain('a-password');
  expect(withoutSecrets(`reading ${endpoint}, with a-password`)).not.toContain('a-password');
});

it.each([' https://s3.example.com', 'https://s3.example.com\n', 'ht\ttps://s3.example.com'])(
  'an address of the S3 server with blanks is refused: %j',
  async (endpoint) => {
    takeS3Settings({ ...KEYS, AWS_ENDPOINT_URL_S3: endpoint });
    await expect(openStore('s3://nightly/hens').folders('')).rejects.toMatchObject({
      code: 'E602',
      message: expect.stringContaining('contains blanks'),
    });
  },
);

it('an address of the S3 server that contains a login is never shown, not even one that is too short to be kept secret', async () => {
  takeS3Settings({ ...KEYS, AWS_ENDPOINT_URL_S3: 'https://s3.example.com/?hens:pass@x' });
  const error: unknown = await openStore('s3://nightly/hens')
    .folders('')
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'E602' });
  expect(String(error)).not.toContain('pass@');
});

describe('an address that answers with a page instead of S3', () => {
  let page = '';
  const reach = answeringServer((request, answer) => {
    request.resume().once('end', () => answer.writeHead(200, { 'content-type': 'text/html' }).end(page));
  });
  beforeAll(() => void reach());

  it.each([
    ['is no XML', '<!doctype html><html><head><meta charset=utf-8></head><p>Please sign in'],
    ['is XML as well', '<html><head><title>Sign in</title></head><body><p>Please</p></body></html>'],
    ['is empty', ''],
  ])('is refused, not taken for an empty place, if the page %s', async (_, text) => {
    page = text;
    const store = bucketStore('s3://nightly/hens');
    const refused = {
      code: 'E612',
      message: expect.stringContaining(
        's3://nightly/hens cannot be used: it answers 200: it is no answer of S3',
      ),
    };
    await expect(store.list('parts')).rejects.toMatchObject(refused);
    await expect(store.folders('')).rejects.toMatchObject(refused);
    await expect(store.clear('')).rejects.toMatchObject(refused);
  });

  it('is not said of a list without objects', async () => {
    page = ' \n<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>';
    expect(await bucketStore('s3://nightly/hens').list('parts')).toEqual([]);
  });
});
