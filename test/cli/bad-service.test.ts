// A run service that answers with other things than one does, or with numbers that make no sense: nothing is sent to it.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { KEY, Stage } from '../stage/stage.ts';
import { plan } from './refused.ts';

const DEPLOYMENT = { id: '0d2ab3c4-5e6f-4a7b-8c9d-0e1f2a3b4c5d', name: 'portraits', workflow_id: 'w' };
const NOT_A_RUN = { detail: [{ loc: ['path', 'run_id'], msg: 'not a uuid', type: 'uuid_parsing' }] };

/** What the service says of itself, and what it comes to. */
const services: readonly (readonly [
  name: string,
  path: string,
  body: unknown,
  exit: number,
  code: string,
  said: RegExp,
])[] = [
  ['no JSON', '/deployments', '<h1>Welcome</h1>', 6, 'E310', /GET \/deployments: .*not JSON: <h1>/],
  ['another shape', '/deployments', { deployments: [] }, 6, 'E310', /GET \/deployments: /],
  [
    'a concurrency limit of 0',
    '/deployments',
    [{ ...DEPLOYMENT, concurrency_limit: 0 }],
    5,
    'E311',
    /concurrency limit 0[^]*--concurrency/,
  ],
  [
    'a concurrency limit of -5',
    '/deployments',
    [{ ...DEPLOYMENT, concurrency_limit: -5 }],
    5,
    'E311',
    /concurrency limit -5[^]*--concurrency/,
  ],
  [
    'a run time-out of 0',
    '/deployments',
    [{ ...DEPLOYMENT, run_timeout: 0 }],
    5,
    'E311',
    /run time-out 0[^]*--run-timeout/,
  ],
  [
    'a negative price',
    '/platform/gpu-pricing',
    { A10G: -1 },
    6,
    'E310',
    /GET \/platform\/gpu-pricing: .*A10G: /,
  ],
  [
    'a profile of words',
    '/platform/profile',
    { poll_interval_ms: 'often' },
    6,
    'E310',
    /GET \/platform\/profile: /,
  ],
];

/** A run service that gives only these answers. */
async function serviceThat(answers: Readonly<Record<string, unknown>>): Promise<string> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/^\/api|\?.*$/g, '');
    const body = path.startsWith('/run/') ? NOT_A_RUN : answers[path];
    response.statusCode = path.startsWith('/run/') ? 422 : body === undefined ? 404 : 200;
    response.end(typeof body === 'string' ? body : JSON.stringify(body ?? { detail: 'Not Found' }));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
}

describe('a command', () => {
  const stage = new Stage();
  beforeAll(() => {
    stage.environment = { RUNSHEET_API_KEY: KEY };
    stage.write('ok.csv', 'prompt,seed\na fox,1\n');
  });
  afterAll(() => stage.close());

  describe('refuses a service that answers with', () => {
    it.each(services)('%s', async (_, path, body, exit, code, said) => {
      const base = await serviceThat({ '/deployments': [DEPLOYMENT], [path]: body });
      const ended = await stage.run(plan('--retries', '0'), { RUNSHEET_API_URL: base });
      expect(ended.stderr).toContain(`error[${code}]`);
      expect(ended.stderr).toMatch(said);
      expect([ended.stdout, ended.code]).toEqual(['', exit]);
    });

    it('an invalid limit, and accepts --concurrency instead', async () => {
      const base = await serviceThat({ '/deployments': [{ ...DEPLOYMENT, concurrency_limit: -5 }] });
      const ended = await stage.run(plan('-c', '3', '-o', 'json'), { RUNSHEET_API_URL: base });
      expect([ended.code, JSON.parse(ended.stdout)]).toEqual([
        0,
        expect.objectContaining({ limits: expect.objectContaining({ concurrency: 3 }) }),
      ]);
    });
  });
});
