import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { openService } from './asking.ts';

const QUEUE = '/api/run/deployment/queue';
const UNKNOWN = '3f2b8c1e-5d6a-4b7c-8d9e-0a1b2c3d4e5f';

describe('a request that is not valid', () => {
  const deployment = `"deployment_id": "${UNKNOWN}"`;
  it.each([
    ['deployment_id missing', '{"inputs": {}}', 'missing', ['body', 'deployment_id'], { inputs: {} }],
    ['deployment_id no uuid', '{"deployment_id": "no"}', 'uuid_parsing', ['body', 'deployment_id'], 'no'],
    ['deployment_id a number', '{"deployment_id": 5}', 'uuid_type', ['body', 'deployment_id'], 5],
    ['gpu unknown', `{${deployment}, "gpu": "RTX"}`, 'enum', ['body', 'gpu'], 'RTX'],
    ['gpu of the real service only', `{${deployment}, "gpu": "H200"}`, 'enum', ['body', 'gpu'], 'H200'],
    ['inputs a list', `{${deployment}, "inputs": [1]}`, 'dict_type', ['body', 'inputs'], [1]],
    ['inputs null', `{${deployment}, "inputs": null}`, 'dict_type', ['body', 'inputs'], null],
    ['webhook a number', `{${deployment}, "webhook": 1}`, 'string_type', ['body', 'webhook'], 1],
    ['flags a text', `{${deployment}, "flags": "a"}`, 'list_type', ['body', 'flags'], 'a'],
    ['a flag a number', `{${deployment}, "flags": ["a", 1]}`, 'string_type', ['body', 'flags', '1'], 1],
    [
      'intermediate null',
      `{${deployment}, "webhook_intermediate_status": null}`,
      'bool_type',
      ['body', 'webhook_intermediate_status'],
      null,
    ],
    ['broken JSON', '{"a": 1 b}', 'json_invalid', ['body', '8'], {}],
    ['JSON that ends early', '{"a":', 'json_invalid', ['body', '5'], {}],
    ['a list as body', '[]', 'model_attributes_type', ['body'], []],
    ['an empty body', '', 'missing', ['body'], null],
  ])('answers 422 for %s', async (_name, body, type, loc, input) => {
    const { ask } = await openService();
    const answer = await ask('POST', QUEUE, { body });
    expect(answer.status).toBe(422);
    expect(answer.json['detail']).toEqual([
      expect.objectContaining({ type, loc, input, msg: expect.any(String) }),
    ]);
  });

  it('answers 422 for a body without a JSON content type', async () => {
    const { ask, deploymentId } = await openService();
    const body = JSON.stringify({ deployment_id: deploymentId });
    const answer = await ask('POST', QUEUE, { body, headers: { 'content-type': 'text/plain' } });
    expect(answer.status).toBe(422);
    expect(answer.json['detail']).toMatchObject([
      { type: 'model_attributes_type', loc: ['body'], input: body },
    ]);
    const other = await ask('POST', QUEUE, {
      body,
      headers: { 'content-type': 'application/vnd.x+json; charset=utf-8' },
    });
    expect(other.status).toBe(200);
  });

  it('names all problems, and the allowed gpus', async () => {
    const { ask } = await openService();
    const answer = await ask('POST', QUEUE, { body: '{"gpu": "RTX", "inputs": 1}' });
    const detail = answer.json['detail'] as { loc: string[]; msg: string }[];
    expect(detail.map((one) => String(one.loc[1])).sort()).toEqual(['deployment_id', 'gpu', 'inputs']);
    expect(detail.find((one) => one.loc[1] === 'gpu')?.msg).toBe(
      "Input should be 'T4', 'L4', 'A10G', 'L40S', 'A100', 'A100-80GB' or 'H100'",
    );
  });

  it.each([
    ['GET', '/api/run/nonsense', ['path', 'run_id']],
    ['POST', '/api/run/nonsense/cancel', ['path', 'run_id']],
    ['GET', '/api/deployment/nonsense', ['path', 'deployment_id']],
    ['GET', '/api/workflow/nonsense/runs', ['path', 'workflow_id']],
    ['GET', `/api/workflow/${UNKNOWN}/runs?limit=x`, ['query', 'limit']],
    ['GET', `/api/workflow/${UNKNOWN}/runs?limit=0`, ['query', 'limit']],
    ['GET', `/api/workflow/${UNKNOWN}/runs?with_inputs=perhaps`, ['query', 'with_inputs']],
    ['GET', `/api/deployment/${UNKNOWN}/runs?offset=-1`, ['query', 'offset']],
  ])('%s %s answers 422 and names the location', async (method, path, loc) => {
    const { ask } = await openService();
    const answer = await ask(method, path);
    expect(answer.status).toBe(422);
    expect(answer.json['detail']).toEqual([expect.objectContaining({ loc })]);
  });

  it('creates no run', async () => {
    const { ask, service, deploymentId } = await openService();
    await ask('POST', QUEUE, { body: `{"deployment_id": "${deploymentId}", "gpu": "RTX"}` });
    expect((await ask('GET', `/api/deployment/${deploymentId}/runs`)).json['data']).toEqual([]);
    expect(service.stats().runs).toEqual({ waiting: 0, busy: 0, idle: 0 });
  });
});

describe('a missing resource', () => {
  it.each([
    ['GET', `/api/run/${UNKNOWN}`, 404, 'Run not found'],
    ['POST', `/api/run/${UNKNOWN}/cancel`, 404, 'Run not found'],
    ['GET', `/api/deployment/${UNKNOWN}`, 404, 'Deployment not found'],
    ['GET', `/api/deployment/${UNKNOWN}/runs`, 404, 'Deployment not found'],
    ['GET', `/api/workflow/${UNKNOWN}/runs`, 404, 'Workflow not found'],
    ['GET', '/api/nothing', 404, 'Not Found'],
    ['GET', '/nothing', 404, 'Not Found'],
    ['GET', `/files/runs/${UNKNOWN}/picture-1.png`, 404, 'Not Found'],
    ['GET', QUEUE.replace('/queue', '/other'), 404, 'Not Found'],
    ['GET', QUEUE, 405, 'Method Not Allowed'],
    ['DELETE', `/api/run/${UNKNOWN}`, 405, 'Method Not Allowed'],
    ['POST', '/api/platform/gpu-pricing', 405, 'Method Not Allowed'],
    ['PUT', `/files/runs/${UNKNOWN}/picture-1.png`, 405, 'Method Not Allowed'],
  ])('%s %s answers %i %s', async (method, path, status, detail) => {
    const { ask } = await openService();
    const answer = await ask(method, path, method === 'PUT' ? { body: '{broken' } : {});
    expect([answer.status, answer.json]).toEqual([status, { detail }]);
  });

  it('answers 404 for an unknown deployment', async () => {
    const { ask } = await openService();
    const answer = await ask('POST', QUEUE, { body: `{"deployment_id": "${UNKNOWN}"}` });
    expect([answer.status, answer.json]).toEqual([404, { detail: 'Deployment not found' }]);
  });
});

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

  it('is not needed for prices', async () => {
    const { ask } = await openService();
    const answer = await ask('GET', '/api/platform/gpu-pricing', { headers: { authorization: '' } });
    expect(answer.json).toMatchObject({ T4: 0.00018, H100: 0.002338 });
  });

  it('is checked before the body arrives', async () => {
    const { service } = await openService();
    const head = [
      `POST ${QUEUE} HTTP/1.1`,
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
    expect(first).toMatch(/^HTTP\/1\.1 401 /);
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
