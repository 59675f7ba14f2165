// Names of inputs that nobody would choose.

import { expect, it } from 'vitest';
import { cpuMs } from '../stage/cpu.ts';
import { openService } from '../run-service/asking.ts';
import { openOwn, portrait } from './own-service.ts';

const QUEUE = '/api/run/deployment/queue';

it.each(['__proto__', 'constructor', 'toString'])(
  'the input %s is shown by a rehearsal as it was sent, and refused by a workflow that has none of this name',
  async (name) => {
    const { ask, deploymentId } = await openService();
    const inputs = `{"${name}": {"seed": 12345678901234567890}}`;
    for (const path of [QUEUE, '/v1/api/run']) {
      const queued = await ask('POST', path, {
        body: `{"deployment_id": "${deploymentId}", "inputs": ${inputs}}`,
      });
      const shown = await ask('GET', `/api/run/${String(queued.json['run_id'])}`);
      expect(shown.text).toContain(`"workflow_inputs":${inputs.replaceAll(' ', '')}`);
    }
    const { own } = await openOwn(portrait());
    const answer = await fetch(`${own.service.url}${QUEUE}`, {
      method: 'POST',
      headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
      body: `{"deployment_id": "${own.deployment}", "inputs": {"${name}": 1}}`,
    });
    expect([answer.status, await answer.text()]).toEqual([
      422,
      expect.stringContaining(`the workflow has no input ${name}`),
    ]);
  },
);

const names = (count: number, value: string): string =>
  `{${Array.from({ length: count }, (_, index) => `"name-${index}":${value}`).join()}}`;

it('10,000 wrong names are refused with the first of them and their number', async () => {
  const { own } = await openOwn(portrait());
  const body = { deployment_id: own.deployment, inputs: JSON.parse(names(10_000, '1')) as object };
  const { status, json } = await own.ask('POST', '/run/deployment/queue', body);
  const { detail } = json as { readonly detail: readonly { readonly msg: string }[] };
  expect([status, detail.length]).toEqual([422, 101]);
  expect(detail[0]?.msg).toContain('the workflow has no input name-0');
  expect(detail.at(-1)?.msg).toBe('Value error, 9900 further problems are not listed');
});

it('900,000 names are refused at once', async () => {
  const { ask, deploymentId } = await openService();
  const body = `{"deployment_id": "${deploymentId}", "inputs": ${names(900_000, '1')}}`;
  const startMs = cpuMs();
  const answer = await ask('POST', QUEUE, { body });
  expect([answer.status, answer.json['detail']]).toMatchObject([
    422,
    [{ loc: ['body', 'inputs'], msg: 'Value error, a run has at most 10000 inputs' }],
  ]);
  expect(cpuMs() - startMs).toBeLessThan(4_000);
  expect((await ask('POST', '/v1/api/run', { body })).status).toBe(500);
});

it.each([
  ['null inputs', `"inputs": ${names(10_000, 'null')}`],
  ['flags that are no texts', `"flags": [${Array.from({ length: 10_000 }, () => '1').join()}]`],
])('10,000 %s are refused with the first of them', async (_what, field) => {
  const { ask, deploymentId } = await openService({}, { behaviour: 'vendor' });
  const { status, json } = await ask('POST', QUEUE, {
    body: `{"deployment_id": "${deploymentId}", ${field}}`,
  });
  expect([status, (json['detail'] as readonly unknown[]).length]).toEqual([422, 101]);
});
