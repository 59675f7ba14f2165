import { randomBytes } from 'node:crypto';
import { onTestFinished, describe, expect, it } from 'vitest';
import { encryptionWith } from '../../src/temporal/encryption/codec.ts';
import { openCodecServer } from '../../src/temporal/encryption/codec-server.ts';
import { payloadKeys } from '../../src/temporal/encryption/payload-keys.ts';

const ORIGIN = 'https://temporal.example';
const TOKEN = 'a-token-of-enough-letters';
const context = { type: 'workflow' as const, namespace: 'default', workflowId: 'batch' };

async function opened() {
  const payload = { keys: randomBytes(32).toString('hex'), keysFile: undefined, plain: 'refuse' as const };
  const codec = encryptionWith(payloadKeys({ payload, home: '' }, 'cluster'));
  const server = await openCodecServer({
    codec,
    token: TOKEN,
    origins: [ORIGIN],
    listen: { host: '127.0.0.1', port: 0 },
  });
  onTestFinished(server.close);
  const given = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('"a fox"') };
  const [encrypted] = await codec.encode([given], context);
  const wire = {
    metadata: Object.fromEntries(
      Object.entries(encrypted?.metadata ?? {}).map(([name, value]) => [
        name,
        Buffer.from(value).toString('base64'),
      ]),
    ),
    data: Buffer.from(encrypted?.data ?? []).toString('base64'),
  };
  const ask = (headers: Readonly<Record<string, string>>, path = '/decode', method = 'POST') =>
    fetch(`${server.url}${path}`, {
      method,
      headers,
      ...(method === 'POST' && { body: JSON.stringify({ payloads: [wire] }) }),
    });
  return { ask };
}

const authorization = `Bearer ${TOKEN}`;

describe('the codec server', () => {
  it('decrypts for a caller with the token, and lets the pages of the named UI call it', async () => {
    const { ask } = await opened();
    const answer = await ask({ authorization, origin: ORIGIN });
    expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    const { payloads } = (await answer.json()) as { payloads: { data: string }[] };
    expect(payloads.map(({ data }) => Buffer.from(data, 'base64').toString())).toEqual(['"a fox"']);
    expect((await ask({ origin: ORIGIN }, '/decode', 'OPTIONS')).status).toBe(204);
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
