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
  free('errors.detail errors.detail.objects', 'a refusal has a list of objects', async (service) => {
    await refusedThrice(service);
  }),
  free('errors.detail.each', 'three problems are three entries', async (service) => {
    assert.equal((await refusedThrice(service)).length, 3);
  }),
  free('errors.loc', 'each problem has a list that locates it', async (service) => {
    for (const { loc } of await refusedThrice(service)) assert.ok(Array.isArray(loc), String(loc));
  }),
  free(
    'errors.loc.strings',
    'the parts of each location are strings',
    async (service) => {
      const flags = await service.refused({ flags: ['a', 1] });
      const json = await raw(service, '{"deployment_id": x}', 'application/json');
      for (const { loc } of [...(await refusedThrice(service)), ...flags, ...json]) {
        assert.ok(
          loc.every((step) => typeof step === 'string'),
          JSON.stringify(loc),
        );
      }
    },
    { only: 'specification' },
  ),
  free('errors.loc.place', 'each problem has the correct location', async (service) => {
    const places = (await refusedThrice(service)).map(({ loc }) => String(loc[1]));
    assert.deepEqual([...places].sort(), ['deployment_id', 'gpu', 'inputs']);
  }),
  free('errors.msg', 'each problem has a message', async (service) => {
    for (const { msg } of await refusedThrice(service)) assert.equal(typeof msg, 'string');
  }),
  free('errors.type', 'each problem has a type', async (service) => {
    for (const { type } of await refusedThrice(service)) assert.equal(typeof type, 'string');
  }),
  free('errors.type.kind', 'problems of three kinds have three types', async (service) => {
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
  buys('status.queue', 'Queue Run answers 200', async (service) => {
    assert.equal((await service.postRun()).status, 200);
  }),
  buys('status.get', 'Get Run answers 200', async (service) => {
    assert.equal((await service.ask('GET', `/run/${await service.queue()}`)).status, 200);
  }),
  free('status.422', 'an invalid request gets 422', async (service) => {
    assert.equal((await service.postRun({ gpu: 'RTX4090' })).status, 422);
  }),
  free('status.422.path', 'an invalid run_id gets 422', async (service) => {
    assert.equal((await service.ask('GET', '/run/nonsense')).status, 422);
  }),
  free('kind.missing kind.missing.words', 'a missing deployment_id is `missing`', async (service) => {
    const problem = await is(
      refusedOnce(service, { deployment_id: undefined }),
      'missing',
      'body',
      'deployment_id',
    );
    assert.equal(problem.msg, 'Field required');
  }),
  free('kind.uuid_parsing', 'a deployment_id that is not a uuid is `uuid_parsing`', async (service) => {
    const problem = await is(
      refusedOnce(service, { deployment_id: 'x' }),
      'uuid_parsing',
      'body',
      'deployment_id',
    );
    assert.match(String(problem.msg), /^Input should be a valid UUID, /);
  }),
  free('kind.uuid_type', 'a deployment_id that is a number is `uuid_type`', async (service) => {
    await is(refusedOnce(service, { deployment_id: 5 }), 'uuid_type', 'body', 'deployment_id');
  }),
  free('kind.enum', 'an unknown GPU is `enum`, and the known ones are named', async (service) => {
    const problem = await refusedOnce(service, { gpu: 'RTX4090' });
    assert.equal(problem.type, 'enum');
    assert.match(String(problem.msg), /^Input should be .*'T4', 'L4', 'A10G', 'L40S', 'A100', 'A100-80GB'/);
  }),
  free('kind.enum.place', 'an unknown GPU is at body, gpu', async (service) => {
    await is(refusedOnce(service, { gpu: 'RTX4090' }), 'enum', 'body', 'gpu');
  }),
  free('kind.json_invalid', 'invalid JSON is `json_invalid` at its first error', async (service) => {
    await is(raw(service, '{"a": 1 b}', 'application/json').then(only), 'json_invalid', 'body', 8);
  }),
  free('kind.content-type', 'JSON with another content type is not read as an object', async (service) => {
    const body = JSON.stringify({ deployment_id: service.deploymentId });
    for (const type of ['text/plain', undefined]) {
      await is(raw(service, body, type).then(only), 'model_attributes_type', 'body');
    }
  }),
  free('kind.empty', 'an empty body is `missing`', async (service) => {
    await is(raw(service, '', 'application/json').then(only), 'missing', 'body');
  }),
  free('kind.path', 'a malformed run_id is located in the path', async (service) => {
    const problems = problemsOf(await service.ask('GET', '/run/nonsense'));
    await is(Promise.resolve(only(problems)), 'uuid_parsing', 'path', 'run_id');
  }),
  free('kind.query', 'a malformed run_id is located in the query', async (service) => {
    const problems = problemsOf(await service.ask('GET', '/run?run_id=nonsense'));
    await is(Promise.resolve(only(problems)), 'uuid_parsing', 'query', 'run_id');
  }),
  free('kind.input', 'a refusal shows the refused input', async (service) => {
    assert.equal((await refusedOnce(service, { gpu: 'RTX4090' }))['input'], 'RTX4090');
  }),
  free('kind.ctx', 'the refusal of a GPU shows the expected values', async (service) => {
    const { ctx } = (await refusedOnce(service, { gpu: 'RTX4090' })) as { ctx?: { expected?: unknown } };
    assert.match(String(ctx?.expected), /'T4'.* or '/);
  }),
  free('kind.null-inputs', 'a field that must not be null is refused with its type', async (service) => {
    for (const name of ['inputs', 'webhook_intermediate_status']) {
      assert.deepEqual((await refusedOnce(service, { [name]: null })).loc, ['body', name]);
    }
  }),
];

const missing = (
  rule: string,
  name: string,
  ask: (service: Service) => ReturnType<Service['ask']>,
  expected: readonly [number, string],
): Case =>
  free(rule, name, async (service) => {
    const { status, json } = await ask(service);
    assert.deepEqual([status, json['detail']], expected);
  });

const MISSING: readonly Case[] = [
  missing('status.404.run', 'an unknown run is not found', (s) => s.ask('GET', `/run/${UNKNOWN_ID}`), [
    404,
    'Run not found',
  ]),
  missing(
    'status.404.deployment',
    'an unknown deployment is not found',
    (s) => s.postRun({ deployment_id: UNKNOWN_ID }),
    [404, 'Deployment not found'],
  ),
  missing('status.404.path', 'an unknown path is not found', (s) => s.ask('GET', '/nowhere'), [
    404,
    'Not Found',
  ]),
  missing('status.405', 'PUT is not allowed for Queue Run', (s) => s.ask('PUT', QUEUE, { json: {} }), [
    405,
    'Method Not Allowed',
  ]),
];

export const ERROR_CASES: readonly Case[] = [...SHAPE, ...KINDS, ...MISSING];
