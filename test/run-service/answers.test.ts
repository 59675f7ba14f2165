import { describe, expect, it } from 'vitest';
import { logLineShown, logShown, webhookShown } from '../../src/service-client/contract/shown.ts';
import { DEMO_DEPLOYMENTS } from '../../src/run-service/server.ts';
import { openService, present, TOKEN } from './asking.ts';
import { operationsOf } from '../../src/run-service/operations.ts';
import { contradiction } from './contradiction.ts';
import { openReceiver } from './receiver.ts';

const UNKNOWN = '3f2b8c1e-5d6a-4b7c-8d9e-0a1b2c3d4e5f';

describe.each(['specification', 'vendor'] as const)('a service with the behaviour %s', (behaviour) => {
  const open = async (spec = {}) => {
    const opened = await openService(spec, { behaviour });
    const operations = operationsOf(behaviour);
    const faults: string[] = [];
    /** Asks, and compares the answer with the schemas of the operation of this route. */
    const check = async (route: string, path: string, options = {}) => {
      const answer = await opened.ask(route.split(' ', 1)[0] ?? '', path, options);
      const operation = present(operations.find((candidate) => candidate.route === route));
      faults.push(...[contradiction(operation, answer) ?? []].flat());
    };
    return { ...opened, operations, check, faults };
  };

  it('serves each operation on both bases, and no other', async () => {
    const { service, operations } = await open();
    const served = service.routes.filter((route) => / \/(v1\/)?api\//.test(route));
    expect(operations.map(({ route }) => route).sort()).toEqual([...served].sort());
  });

  it('sends exactly what the schemas of its answers allow', async () => {
    const { ask, queue, ended, deploymentId, check, faults } = await open({ gpu: 'L4', inputTypes: [INPUT] });
    const id = await queue({ inputs: { prompt: 'cat', seed: 7 }, webhook: 'http://localhost:1/' });
    await check('GET /api/run/:run_id', `/api/run/${id}`);
    await ended(id);
    const { workflow_id } = (await ask('GET', `/api/run/${id}`)).json;
    const workflow = String(workflow_id);
    for (const runId of [id, 'no', UNKNOWN, '%']) await check('GET /api/run/:run_id', `/api/run/${runId}`);
    for (const query of [`?run_id=${id}`, '']) await check('GET /api/run', `/api/run${query}`);
    for (const list of [
      `${workflow}/runs`,
      `${workflow}/runs?with_inputs=true&with_outputs=false`,
      `${workflow}/runs?limit=0&offset=x&with_inputs=perhaps`,
      `${UNKNOWN}/runs`,
    ])
      await check('GET /api/workflow/:workflow_id/runs', `/api/workflow/${list}`);
    await check('GET /api/deployment/:deployment_id/runs', `/api/deployment/${deploymentId}/runs`);
    await check('GET /api/deployments', '/api/deployments');
    for (const candidateId of [deploymentId, UNKNOWN])
      await check('GET /api/deployment/:deployment_id', `/api/deployment/${candidateId}`);
    await check('GET /api/platform/gpu-pricing', '/api/platform/gpu-pricing');
    for (const options of [{}, { headers: { authorization: '' } }]) {
      await check('GET /api/platform/profile', '/api/platform/profile', options);
      await check('GET /v1/api/run', `/v1/api/run?run_id=${id}`, options);
    }
    await check('GET /v1/api/run', `/v1/api/run?run_id=${UNKNOWN}`);
    const light = `/api/v2/workflow/${workflow}/runs?status=success`;
    await check('GET /api/v2/workflow/:workflow_id/runs', light);
    await check('GET /api/v2/clickhouse-run-logs/:run_id', `/api/v2/clickhouse-run-logs/${id}`);
    for (const query of ['type=image/png&file_size=5', 'type=image/png'])
      await check('GET /v1/api/upload-url', `/v1/api/upload-url?${query}`);
    await check('GET /v1/api/platform/profile', '/v1/api/platform/profile');
    await check('POST /api/run/:run_id/cancel', `/api/run/${id}/cancel`);
    expect(faults).toEqual([]);
  });

  it('answers Queue Run as its schemas allow', async () => {
    const { deploymentId, check, faults } = await open();
    const bodies = [
      JSON.stringify({ deployment_id: deploymentId }),
      JSON.stringify({ deployment_id: UNKNOWN }),
      '{"deployment_id": 1, "gpu": "RTX", "inputs": null, "webhook": [], "flags": [1]}',
      `{"deployment_id": "${deploymentId}", "inputs": {"a": null, "b": {}}}`,
      '{"a": 1 b}',
      '[]',
      '',
    ];
    for (const body of bodies) {
      for (const path of ['/api/run/deployment/queue', '/v1/api/run'])
        await check(`POST ${path}`, path, { body });
    }
    expect(faults).toEqual([]);
  });

  it('sends webhooks of progress and of the end exactly as their schema allows', async () => {
    const { queue, ended } = await open({ runSeconds: 20 });
    const receiver = await openReceiver();
    await ended(await queue({ webhook: receiver.url, webhook_intermediate_status: true }));
    const received = await receiver.until((webhooks) =>
      webhooks.some(({ body }) => body['status'] === 'success'),
    );
    expect(received.length).toBeGreaterThan(5);
    for (const { body } of received) expect(webhookShown.parse(body)).toEqual(body);
  });

  it('writes the lines of a log, including webhooks, and of its stream as their schemas allow', async () => {
    const { service, ask, queue, ended } = await open();
    const receiver = await openReceiver();
    const id = await queue({ webhook: receiver.url });
    await ended(id);
    await receiver.until((webhooks) => webhooks.some(({ body }) => body['status'] === 'success'));
    const log = logShown.parse(JSON.parse((await ask('GET', `/api/v2/clickhouse-run-logs/${id}`)).text));
    expect(new Set(log.map((line) => line.log_type))).toEqual(new Set(['info', 'webhook']));
    const headers = { authorization: `Bearer ${TOKEN}` };
    const stream = await fetch(`${service.base}/v2/stream-logs?run_id=${id}`, { headers });
    const first = await stream.body?.getReader().read();
    const [event = ''] = new TextDecoder().decode(first?.value).split('\n\n');
    expect(() => logLineShown.parse(JSON.parse(event.replace(/^data: /, '')))).not.toThrow();
  });

  it('shows deployments with and without inputs', async () => {
    const { ask } = await openService({}, { behaviour, deployments: DEMO_DEPLOYMENTS });
    const operation = present(operationsOf(behaviour).find(({ route }) => route === 'GET /api/deployments'));
    expect(contradiction(operation, await ask('GET', '/api/deployments'))).toBeUndefined();
  });
});

const INPUT = { name: 'seed', type: 'int', default: 3, min: 1, max: 9, options: ['3', '4'] };

it('the service accepts every uuid, whatever its version', async () => {
  const { ask } = await openService();
  const any = '00000000-0000-0000-0000-00000000000a';
  const body = JSON.stringify({ deployment_id: any });
  expect((await ask('GET', `/api/run/${any}`)).status).toBe(404);
  expect((await ask('POST', '/api/run/deployment/queue', { body })).status).toBe(404);
});
