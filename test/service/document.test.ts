import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { DEMO_DEPLOYMENTS } from '../../src/service/server.ts';
import { openService, TOKEN } from './asking.ts';
import { openDocument, type Document } from './documented.ts';
import { openReceiver } from './receiver.ts';

const BEHAVIOURS = ['specification', 'vendor'] as const;
const UNKNOWN = '3f2b8c1e-5d6a-4b7c-8d9e-0a1b2c3d4e5f';

describe.each(BEHAVIOURS)('the document of a service with the behaviour %s', (behaviour) => {
  const open = async (spec = {}) => {
    const opened = await openService(spec, { behaviour });
    const document = await openDocument(opened.service.url);
    return { ...opened, ...document };
  };

  it('is valid OpenAPI 3.1, and is read without a token', async () => {
    const { document } = await open();
    const result = await new Validator().validate(structuredClone(document));
    expect([document.openapi, result]).toEqual(['3.1.1', { valid: true }]);
  });

  it('has every route of both bases, and no other', async () => {
    const { service, document } = await open();
    const served = service.routes.filter((route) => / \/(v1\/)?api\//.test(route));
    expect(operationsOf(document)).toEqual(served.map((route) => route.replaceAll(/:(\w+)/g, '{$1}')).sort());
  });

  it('has examples that its own schemas allow', async () => {
    const { document, schemaOf } = await open();
    const contents = contentsOf(document);
    expect(contents.length).toBeGreaterThan(40);
    for (const { place, media } of contents) {
      if (media.example === undefined || media.schema === undefined) continue;
      const valid = schemaOf(place);
      expect([place, valid(media.example), valid.errors]).toEqual([place, true, null]);
    }
  });

  it('describes the answers of the service exactly', async () => {
    const { ask, queue, ended, deploymentId, contradiction } = await open({ gpu: 'L4', inputTypes: [INPUT] });
    const id = await queue({ inputs: { prompt: 'cat', seed: 7 }, webhook: 'http://localhost:1/' });
    const get = async (template: string, path: string, options = {}) =>
      expect(contradiction('get', template, await ask('GET', path, options))).toBeUndefined();
    await get('/api/run/{run_id}', `/api/run/${id}`);
    await ended(id);
    const { workflow_id: workflow } = (await ask('GET', `/api/run/${id}`)).json;
    await get('/api/run/{run_id}', `/api/run/${id}`);
    await get('/api/run/{run_id}', '/api/run/no');
    await get('/api/run/{run_id}', `/api/run/${UNKNOWN}`);
    await get('/api/run/{run_id}', '/api/run/%');
    await get('/api/run', `/api/run?run_id=${id}`);
    await get('/api/run', '/api/run');
    const list = '/api/workflow/{workflow_id}/runs';
    await get(list, `/api/workflow/${String(workflow)}/runs`);
    await get(list, `/api/workflow/${String(workflow)}/runs?with_inputs=true&with_outputs=false`);
    await get(list, `/api/workflow/${String(workflow)}/runs?limit=0&offset=x&with_inputs=perhaps`);
    await get(list, `/api/workflow/${UNKNOWN}/runs`);
    await get('/api/deployment/{deployment_id}/runs', `/api/deployment/${deploymentId}/runs`);
    await get('/api/deployments', '/api/deployments');
    await get('/api/deployment/{deployment_id}', `/api/deployment/${deploymentId}`);
    await get('/api/deployment/{deployment_id}', `/api/deployment/${UNKNOWN}`);
    await get('/api/platform/gpu-pricing', '/api/platform/gpu-pricing');
    await get('/api/platform/profile', '/api/platform/profile');
    await get('/api/platform/profile', '/api/platform/profile', { headers: { authorization: '' } });
    await get('/v1/api/run', `/v1/api/run?run_id=${id}`);
    await get('/v1/api/run', `/v1/api/run?run_id=${UNKNOWN}`);
    await get('/v1/api/run', '/v1/api/run', { headers: { authorization: '' } });
    const light = '/api/v2/workflow/{workflow_id}/runs';
    await get(light, `/api/v2/workflow/${String(workflow)}/runs?status=success`);
    await get('/api/v2/clickhouse-run-logs/{run_id}', `/api/v2/clickhouse-run-logs/${id}`);
    await get('/v1/api/upload-url', '/v1/api/upload-url?type=image/png&file_size=5');
    await get('/v1/api/upload-url', '/v1/api/upload-url?type=image/png');
    await get('/v1/api/platform/profile', '/v1/api/platform/profile');
    const cancelled = await ask('POST', `/api/run/${id}/cancel`);
    expect(contradiction('post', '/api/run/{run_id}/cancel', cancelled)).toBeUndefined();
  });

  it('describes the answers of Queue Run exactly', async () => {
    const { ask, deploymentId, contradiction } = await open();
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
        expect(contradiction('post', path, await ask('POST', path, { body }))).toBeUndefined();
    }
  });

  it('describes webhooks of progress and of the end exactly', async () => {
    const { queue, ended, schemaOf } = await open({ runSeconds: 20 });
    const receiver = await openReceiver();
    await ended(await queue({ webhook: receiver.url, webhook_intermediate_status: true }));
    const received = await receiver.until((all) => all.some(({ body }) => body['status'] === 'success'));
    expect(received.length).toBeGreaterThan(5);
    const valid = schemaOf('/components/schemas/Webhook');
    for (const { body } of received) expect([valid(body), valid.errors]).toEqual([true, null]);
  });

  it('describes the lines of a log, including webhooks, and of its stream', async () => {
    const { service, ask, queue, ended, schemaOf } = await open();
    const receiver = await openReceiver();
    const id = await queue({ webhook: receiver.url });
    await ended(id);
    await receiver.until((all) => all.some(({ body }) => body['status'] === 'success'));
    const log = JSON.parse((await ask('GET', `/api/v2/clickhouse-run-logs/${id}`)).text) as Line[];
    const valid = schemaOf('/components/schemas/Log');
    expect([valid(log), valid.errors]).toEqual([true, null]);
    expect(new Set(log.map((line) => line.log_type))).toEqual(new Set(['info', 'webhook']));
    const headers = { authorization: `Bearer ${TOKEN}` };
    const stream = await fetch(`${service.base}/v2/stream-logs?run_id=${id}`, { headers });
    const first = await stream.body?.getReader().read();
    const [event = ''] = new TextDecoder().decode(first?.value).split('\n\n');
    const validLine = schemaOf('/components/schemas/LogLine');
    expect([validLine(JSON.parse(event.replace(/^data: /, ''))), validLine.errors]).toEqual([true, null]);
  });

  it('describes deployments with and without inputs', async () => {
    const opened = await openService({}, { behaviour, deployments: DEMO_DEPLOYMENTS });
    const { contradiction } = await openDocument(opened.service.url);
    const answer = await opened.ask('GET', '/api/deployments');
    expect(contradiction('get', '/api/deployments', answer)).toBeUndefined();
  });
});

type Line = { readonly log_type: string };
const INPUT = { name: 'seed', type: 'int', default: 3, min: 1, max: 9, options: ['3', '4'] };

it('the gpus of the document are those of the behaviour', async () => {
  const gpusOf = async (behaviour: (typeof BEHAVIOURS)[number]) => {
    const { service } = await openService({}, { behaviour });
    const valid = (await openDocument(service.url)).schemaOf('/components/schemas/Order');
    return ['T4', 'H100', 'CPU', 'H200', 'B200', 'RTX'].filter((gpu) =>
      valid({ deployment_id: UNKNOWN, gpu }),
    );
  };
  expect(await gpusOf('specification')).toEqual(['T4', 'H100']);
  expect(await gpusOf('vendor')).toEqual(['T4', 'H100', 'CPU', 'H200', 'B200']);
});

it('a Queue Run body with a missing or an additional field is valid in the document', async () => {
  const { service, deploymentId } = await openService();
  const { schemaOf } = await openDocument(service.url);
  const valid = schemaOf('/components/schemas/Order');
  expect(valid({ deployment_id: deploymentId, machine_id: 'ignored' })).toBe(true);
  expect(valid({ inputs: {} })).toBe(false);
});

it('the service accepts every uuid of the document, whatever its version', async () => {
  const { ask } = await openService();
  const any = '00000000-0000-0000-0000-00000000000a';
  const body = JSON.stringify({ deployment_id: any });
  expect((await ask('GET', `/api/run/${any}`)).status).toBe(404);
  expect((await ask('POST', '/api/run/deployment/queue', { body })).status).toBe(404);
});

const operationsOf = (document: Document): readonly string[] =>
  Object.entries(document.paths)
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
    .sort();

type Place = {
  readonly place: string;
  readonly media: { readonly schema?: unknown; readonly example?: unknown };
};

/** Every media type of the document that has a schema, with the schema's path. */
const contentsOf = (document: Document): readonly Place[] => {
  const found: Place[] = [];
  const walk = (value: unknown, way: string): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, member] of Object.entries(value)) {
      const below = `${way}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (/\/content\/[^/]+$/.test(below)) found.push({ place: `${below}/schema`, media: member as object });
      else walk(member, below);
    }
  };
  walk({ paths: document.paths, webhooks: document.webhooks }, '');
  return found;
};
