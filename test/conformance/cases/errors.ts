import assert from 'node:assert/strict';
import { buys, free, type Case } from '../case.ts';
import type { Json } from '../violations.ts';
import { UNKNOWN_ID, problemsOf, QUEUE, type Problem, type Service } from '../service.ts';

/** A request with three problems. */
const refusedThrice = (service: Service): Promise<readonly Problem[]> =>
  service.refused({ deployment_id: 'portraits', gpu: 'RTX4090', inputs: 7 });

const raw = async (service: Service, body: string, type?: string): Promise<readonly Problem[]> =>
  problemsOf(await service.ask('POST', QUEUE, { body, headers: { 'content-type': type } }));

const only = (problems: readonly Problem[]): Problem => {
  assert.equal(problems.length, 1, JSON.stringify(problems));
  return problems[0] as Problem;
};

const SHAPE: readonly Case[] = [
  free('errors.detail errors.detail.objects', async (service) => {
    await refusedThrice(service);
  }),
  free('errors.detail.each', async (service) => {
    assert.equal((await refusedThrice(service)).length, 3);
  }),
  free('errors.loc', async (service) => {
    for (const { loc } of await refusedThrice(service)) assert.ok(Array.isArray(loc), String(loc));
  }),
  free('errors.loc.strings', { only: 'specification' }, async (service) => {
    const flags = await service.refused({ flags: ['a', 1] });
    const json = await raw(service, '{"deployment_id": x}', 'application/json');
    for (const { loc } of [...(await refusedThrice(service)), ...flags, ...json]) {
      assert.ok(
        loc.every((step) => typeof step === 'string'),
        JSON.stringify(loc),
      );
    }
  }),
  free('errors.loc.place', async (service) => {
    const places = (await refusedThrice(service)).map(({ loc }) => String(loc[1]));
    assert.deepEqual([...places].sort(), ['deployment_id', 'gpu', 'inputs']);
  }),
  free('errors.msg', async (service) => {
    for (const { msg } of await refusedThrice(service)) assert.equal(typeof msg, 'string');
  }),
  free('errors.type', async (service) => {
    for (const { type } of await refusedThrice(service)) assert.equal(typeof type, 'string');
  }),
  free('errors.type.kind', async (service) => {
    assert.equal(new Set((await refusedThrice(service)).map(({ type }) => type)).size, 3);
  }),
];

const is = async (problem: Promise<Problem>, type: string, ...loc: readonly unknown[]): Promise<Problem> => {
  const one = await problem;
  assert.deepEqual([one.type, one.loc.map(String)], [type, loc.map(String)]);
  return one;
};

const refusedOnce = async (service: Service, request: Json): Promise<Problem> =>
  only(await service.refused(request));

const KINDS: readonly Case[] = [
  buys('status.queue', async (service) => {
    assert.equal((await service.postRun()).status, 200);
  }),
  buys('status.get', async (service) => {
    assert.equal((await service.ask('GET', `/run/${await service.queue()}`)).status, 200);
  }),
  free('status.422', async (service) => {
    assert.equal((await service.postRun({ gpu: 'RTX4090' })).status, 422);
  }),
  free('status.422.path', async (service) => {
    assert.equal((await service.ask('GET', '/run/nonsense')).status, 422);
  }),
  free('kind.missing kind.missing.words', async (service) => {
    const problem = await is(
      refusedOnce(service, { deployment_id: undefined }),
      'missing',
      'body',
      'deployment_id',
    );
    assert.equal(problem.msg, 'Field required');
  }),
  free('kind.uuid_parsing', async (service) => {
    const problem = await is(
      refusedOnce(service, { deployment_id: 'x' }),
      'uuid_parsing',
      'body',
      'deployment_id',
    );
    assert.match(String(problem.msg), /^Input should be a valid UUID, /);
  }),
  free('kind.uuid_type', async (service) => {
    await is(refusedOnce(service, { deployment_id: 5 }), 'uuid_type', 'body', 'deployment_id');
  }),
  free('kind.enum', async (service) => {
    const problem = await refusedOnce(service, { gpu: 'RTX4090' });
    assert.equal(problem.type, 'enum');
    assert.match(String(problem.msg), /^Input should be .*'T4', 'L4', 'A10G', 'L40S', 'A100', 'A100-80GB'/);
  }),
  free('kind.enum.place', async (service) => {
    await is(refusedOnce(service, { gpu: 'RTX4090' }), 'enum', 'body', 'gpu');
  }),
  free('kind.json_invalid', async (service) => {
    await is(raw(service, '{"a": 1 b}', 'application/json').then(only), 'json_invalid', 'body', 8);
  }),
  free('kind.content-type', async (service) => {
    const body = JSON.stringify({ deployment_id: service.deploymentId });
    for (const type of ['text/plain', undefined]) {
      await is(raw(service, body, type).then(only), 'model_attributes_type', 'body');
    }
  }),
  free('kind.empty', async (service) => {
    await is(raw(service, '', 'application/json').then(only), 'missing', 'body');
  }),
  free('kind.path', async (service) => {
    const problems = problemsOf(await service.ask('GET', '/run/nonsense'));
    await is(Promise.resolve(only(problems)), 'uuid_parsing', 'path', 'run_id');
  }),
  free('kind.query', async (service) => {
    const problems = problemsOf(await service.ask('GET', '/run?run_id=nonsense'));
    await is(Promise.resolve(only(problems)), 'uuid_parsing', 'query', 'run_id');
  }),
  free('kind.input', async (service) => {
    assert.equal((await refusedOnce(service, { gpu: 'RTX4090' }))['input'], 'RTX4090');
  }),
  free('kind.ctx', async (service) => {
    const { ctx } = (await refusedOnce(service, { gpu: 'RTX4090' })) as { ctx?: { expected?: unknown } };
    assert.match(String(ctx?.expected), /'T4'.* or '/);
  }),
  free('kind.null-inputs', async (service) => {
    for (const name of ['inputs', 'webhook_intermediate_status']) {
      assert.deepEqual((await refusedOnce(service, { [name]: null })).loc, ['body', name]);
    }
  }),
];

const missing = (
  rule: string,
  ask: (service: Service) => ReturnType<Service['ask']>,
  expected: readonly [number, string],
): Case =>
  free(rule, async (service) => {
    const { status, json } = await ask(service);
    assert.deepEqual([status, json['detail']], expected);
  });

const MISSING: readonly Case[] = [
  missing('status.404.run', (s) => s.ask('GET', `/run/${UNKNOWN_ID}`), [404, 'Run not found']),
  missing('status.404.deployment', (s) => s.postRun({ deployment_id: UNKNOWN_ID }), [
    404,
    'Deployment not found',
  ]),
  missing('status.404.path', (s) => s.ask('GET', '/nowhere'), [404, 'Not Found']),
  missing('status.405', (s) => s.ask('PUT', QUEUE, { json: {} }), [405, 'Method Not Allowed']),
];

export const ERROR_CASES: readonly Case[] = [...SHAPE, ...KINDS, ...MISSING];
