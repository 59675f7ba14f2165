import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { openService } from './asking.ts';

const QUEUE = '/api/run/deployment/queue';

describe('a token', () => {
  it.each([
    ['none', {}],
    ['a wrong one', { authorization: 'Bearer wrong' }],
    ['another scheme', { authorization: 'Basic token-of-the-test' }],
    ['a bare one', { authorization: 'token-of-the-test' }],
    ['an empty one', { authorization: 'Bearer ' }],
  ])('is asked for before anything else: %s', async (_name, headers) => {
    const { ask } = await openService();
    const bare = { authorization: '', ...headers };
    for (const [method, path] of [
      ['POST', QUEUE],
      ['GET', QUEUE],
      ['GET', '/api/nothing'],
      ['GET', '/api/run/nonsense'],
      ['GET', '/api/platform/profile'],
      ['GET', '/%61pi/platform/profile'],
    ] as const) {
      const answer = await ask(method, path, { headers: bare });
      const detail = /^Bearer ./.test(bare.authorization)
        ? 'Invalid or expired token'
        : 'Invalid or missing token';
      expect([path, answer.status, answer.json]).toEqual([path, 401, { detail }]);
    }
  });

  it.each([
    [`POST ${QUEUE}`, 401],
    ['POST /nowhere', 404],
    ['PUT /files/uploads/none/a.png', 404],
    ['POST /files/uploads/none/a.png', 405],
  ])('is checked before the body arrives: %s', async (request, status) => {
    const { service } = await openService();
    const head = [
      `${request} HTTP/1.1`,
      'Host: localhost',
      'Content-Type: application/json',
      'Content-Length: 1000000',
      '',
      '',
    ].join('\r\n');
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1', () => socket.write(head));
    const first = await new Promise<string>((resolve) =>
      socket.once('data', (data) => resolve(data.toString())),
    );
    expect(first).toMatch(new RegExp(String.raw`^HTTP/1\.1 ${status} `));
    socket.destroy();
  });
});

it('an error of the service itself answers 500 in plain text, and the next request is served', async () => {
  const events: string[] = [];
  const { ask, queue, deploymentId } = await openService({}, { log: (event) => events.push(event) });
  const deep = '['.repeat(200_000) + ']'.repeat(200_000);
  const body = `{"deployment_id": "${deploymentId}", "inputs": {"deep": ${deep}}}`;
  const answer = await ask('POST', QUEUE, { body });
  expect([answer.status, answer.headers['content-type'], answer.text]).toEqual([
    500,
    'text/plain; charset=utf-8',
    'Internal Server Error',
  ]);
  expect(events).toEqual(['listening', 'error']);
  expect(await queue()).toBeTypeOf('string');
});

it('a body above the limit answers 413 in the same format', async () => {
  const { ask } = await openService();
  const answer = await ask('POST', QUEUE, { body: `{"inputs": "${'x'.repeat(17 * 1024 * 1024)}"}` });
  expect([answer.status, typeof answer.json['detail']]).toEqual([413, 'string']);
});
