// Keys that no variable has, from real sources: a server that plays the credentials of a container and the sign-in of a web identity,
// a profile's file, a profile's program. Requests signed with them reach the bucket of the tests.

import { chmodSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { withoutSecrets } from '../../../src/errors/redact.ts';
import { takeS3Settings } from '../../../src/host/settings/s3-settings.ts';
import { bucketStore } from '../../../src/store/s3/bucket-store.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { freshFolder } from '../../stage/fresh-folder.ts';
import { serveForTest } from '../../stage/serve.ts';
import { openHttpBucket, type HttpBucket } from './http-bucket.ts';

const ROLE = 'arn:aws:iam::123456789012:role/hens';
let folder: string;
let bucket: HttpBucket;
/** The n-th keys of the server are `KEY<n>` and live for `livesMs`. */
let issued = 0;
let livesMs = 3_600_000;
let isDown = false;
const requests: { readonly path: string; readonly token: string | undefined; readonly body: string }[] = [];

let address = '';

async function issue(request: IncomingMessage, answer: ServerResponse): Promise<void> {
  const body = Buffer.concat(await request.toArray()).toString();
  requests.push({ path: request.url ?? '', token: request.headers.authorization, body });
  if (isDown) return void answer.writeHead(400).end('{}');
  issued += 1;
  const keys = {
    AccessKeyId: `KEY${issued}`,
    SecretAccessKey: `issued-secret-${issued}`,
    Expiration: new Date(Date.now() + livesMs).toISOString(),
  };
  if (request.url === '/container')
    return void answer
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ ...keys, Token: `issued-token-${issued}` }));
  const fields = Object.entries({ ...keys, SessionToken: `issued-token-${issued}` })
    .map(([name, value]) => `<${name}>${value}</${name}>`)
    .join('');
  answer
    .writeHead(200, { 'content-type': 'text/xml' })
    .end(
      `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>${fields}</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
    );
}

/** The SDK reads the environment of its process. */
beforeEach(async () => {
  folder = freshFolder();
  ({ url: address } = await serveForTest((request, answer) => void issue(request, answer)));
  [issued, livesMs, isDown] = [0, 3_600_000, false];
  requests.length = 0;
  bucket = await openHttpBucket();
  for (const name of Object.keys(process.env).filter((variable) => variable.startsWith('AWS_')))
    vi.stubEnv(name, undefined);
  vi.stubEnv('AWS_CONFIG_FILE', join(folder, 'config'));
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(folder, 'credentials'));
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  vi.stubEnv('AWS_ENDPOINT_URL_S3', bucket.environment['AWS_ENDPOINT_URL_S3']);
});
afterEach(() => void vi.unstubAllEnvs());

/** Writes a file of the batch and returns the key with which the request was signed. */
async function signedBy(store = bucketStore('s3://nightly/hens')): Promise<string | undefined> {
  await store.write('batch.json', '{}');
  return /Credential=([^/]+)\//.exec(bucket.signedBy.at(-1) ?? '')?.[1];
}

const inContainer = (): void => {
  vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${address}/container`);
  vi.stubEnv('AWS_CONTAINER_AUTHORIZATION_TOKEN', 'the-token-of-the-pod');
  takeS3Settings(process.env);
};

it('the keys of a container sign, asked for once, and none of their secrets is shown', async () => {
  inContainer();
  const store = bucketStore('s3://nightly/hens');
  expect([await signedBy(store), await signedBy(store)]).toEqual(['KEY1', 'KEY1']);
  expect(requests.map(({ path, token }) => [path, token])).toEqual([['/container', 'the-token-of-the-pod']]);
  expect(bucket.tokens.at(-1)).toBe('issued-token-1');
  const shown = withoutSecrets('issued-secret-1 issued-token-1 the-token-of-the-pod');
  expect(shown).toBe('[secret] [secret] [secret]');
});

it('keys that end soon are replaced while requests go on with them', async () => {
  inContainer();
  livesMs = 200_000;
  const store = bucketStore('s3://nightly/hens');
  expect(await signedBy(store)).toBe('KEY1');
  await vi.waitFor(async () => expect(await signedBy(store)).toBe('KEY3'), { timeout: 5_000 });
  isDown = true;
  expect(await signedBy(store)).toMatch(/^KEY\d/);
});

it('keys that have ended are never used, and an error says why there are no others', async () => {
  inContainer();
  livesMs = 300;
  const store = bucketStore('s3://nightly/hens');
  expect(await signedBy(store)).toBe('KEY1');
  await new Promise((done) => setTimeout(done, 350));
  expect(await signedBy(store)).toBe('KEY2');
  await new Promise((done) => setTimeout(done, 350));
  isDown = true;
  await expect(signedBy(store)).rejects.toMatchObject({
    code: 'E612',
    message: expect.stringContaining('there are no keys of S3: '),
  });
});

it('secrets of keys that were replaced long ago no longer slow the redaction', async () => {
  inContainer();
  livesMs = 1;
  const store = bucketStore('s3://nightly/hens');
  for (let times = 0; times < 8; times += 1) {
    await signedBy(store);
    await new Promise((done) => setTimeout(done, 5));
  }
  expect(withoutSecrets(`issued-secret-${issued}`)).toBe('[secret]');
  expect(withoutSecrets('issued-secret-1,')).toBe('issued-secret-1,');
});

it('a pod with a web identity gets the keys of its role', async () => {
  writeFileSync(join(folder, 'token'), 'the-identity-of-the-pod');
  vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', join(folder, 'token'));
  vi.stubEnv('AWS_ROLE_ARN', ROLE);
  vi.stubEnv('AWS_REGION', 'eu-central-1');
  vi.stubEnv('AWS_ENDPOINT_URL_STS', address);
  takeS3Settings(process.env);
  expect(await signedBy()).toBe('KEY1');
  expect(Object.fromEntries(new URLSearchParams(requests.at(-1)?.body))).toMatchObject({
    Action: 'AssumeRoleWithWebIdentity',
    RoleArn: ROLE,
    WebIdentityToken: 'the-identity-of-the-pod',
  });
});

it('a profile names its keys, or a program that prints them', async () => {
  const program = join(folder, 'print-keys');
  const printed = { Version: 1, AccessKeyId: 'PRINTED', SecretAccessKey: 'a-printed-secret' };
  writeFileSync(program, `#!/bin/sh\necho '${JSON.stringify(printed)}'\n`);
  chmodSync(program, 0o700);
  writeFileSync(
    join(folder, 'credentials'),
    '[hens]\naws_access_key_id = FILED\naws_secret_access_key = a-filed-secret\n',
  );
  writeFileSync(join(folder, 'config'), `[profile printing]\ncredential_process = ${program}\n`);
  const keys: (string | undefined)[] = [];
  for (const profile of ['hens', 'printing']) {
    vi.stubEnv('AWS_PROFILE', profile);
    takeS3Settings(process.env);
    keys.push(await signedBy());
  }
  expect(keys).toEqual(['FILED', 'PRINTED']);
  expect(withoutSecrets('a-filed-secret a-printed-secret')).toBe('[secret] [secret]');
});

it('the keys of the variables come before all others', async () => {
  inContainer();
  takeS3Settings({
    ...process.env,
    AWS_ACCESS_KEY_ID: 'VARIABLE',
    AWS_SECRET_ACCESS_KEY: 'a-secret-of-tests',
  });
  expect([await signedBy(), requests.length]).toEqual(['VARIABLE', 0]);
});

it('without any keys, the error names the ways to get some', async () => {
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(folder, 'none'));
  vi.stubEnv('AWS_CONFIG_FILE', join(folder, 'none'));
  takeS3Settings(process.env);
  await expect(openStore('s3://nightly/hens').folders('')).rejects.toMatchObject({
    code: 'E612',
    message: expect.stringContaining('s3://nightly/hens cannot be used: there are no keys of S3: '),
    hint: expect.stringMatching(/AWS_ACCESS_KEY_ID.+AWS_PROFILE.+aws sso login.+pod, container or machine/),
  });
});
