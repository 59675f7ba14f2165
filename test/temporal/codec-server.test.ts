import { randomBytes } from 'node:crypto';
import type { Payload } from '@temporalio/common';
import { onTestFinished, describe, expect, it } from 'vitest';
import { encryptionWith } from '../../src/temporal/encryption/codec.ts';
import { openCodecServer } from '../../src/temporal/encryption/codec-server.ts';
import { payloadKeys } from '../../src/temporal/encryption/payload-keys.ts';

const ORIGIN = 'https://temporal.example';
const TOKEN = 'a-token-of-enough-letters';
const context = { type: 'workflow' as const, namespace: 'default', workflowId: 'batch' };

const newCodec = () => {
  const payload = { keys: randomBytes(32).toString('hex'), keysFile: undefined, plain: 'refuse' as const };
  return encryptionWith(payloadKeys({ payload, home: '' }, 'cluster'));
};

const wireOf = ({ metadata, data }: Payload) => ({
  metadata: Object.fromEntries(
    Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
  ),
  data: Buffer.from(data ?? []).toString('base64'),
});

async function opened() {
  const codec = newCodec();
  const server = await openCodecServer({
    codec,
    token: TOKEN,
    origins: [ORIGIN],
    listen: { host: '127.0.0.1', port: 0 },
  });
  onTestFinished(server.close);
  const plain = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('"a fox"') };
  const [encrypted = plain] = await codec.encode([plain], context);
  const [foreign = plain] = await newCodec().encode([plain], context);
  const payloads = [encrypted, plain, foreign].map(wireOf);
  const ask = (
    headers: Readonly<Record<string, string>>,
    path = '/decode',
    method = 'POST',
    body = JSON.stringify({ payloads }),
  ) => fetch(`${server.url}${path}`, { method, headers, ...(method === 'POST' && { body }) });
  return { ask, payloads };
}

const authorization = `Bearer ${TOKEN}`;

describe('the codec server', () => {
  it('decrypts for a caller with the token, and lets the pages of the named UI call it', async () => {
    const { ask, payloads } = await opened();
    const answer = await ask({ authorization, origin: ORIGIN });
    expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    const [, plain] = payloads;
    expect(await answer.json()).toMatchObject({ payloads: [plain, {}, {}] });
    expect((await ask({ origin: ORIGIN }, '/decode', 'OPTIONS')).status).toBe(204);
  });

  it('returns payloads unchanged that it cannot decrypt, and refuses what are none', async () => {
    const { ask, payloads } = await opened();
    const [, ...tail] = payloads;
    expect(await (await ask({ authorization })).json()).toMatchObject({ payloads: [{}, ...tail] });
    expect((await ask({ authorization }, '/decode', 'POST', 'x')).status).toBe(400);
  });

  it.each<[string, Record<string, string>, string, number]>([
    ['another token', { authorization: 'Bearer another' }, '/decode', 401],
    ['no token', {}, '/decode', 401],
    ['another page', { authorization, origin: 'https://evil.example' }, '/decode', 403],
    ['the wish to encrypt', { authorization }, '/encode', 404],
  ])('refuses %s', async (_, headers, path, status) => {
    const { ask } = await opened();
    const answer = await ask(headers, path);
    expect([answer.status, await answer.text()]).toEqual([status, expect.not.stringContaining('fox')]);
  });
});
