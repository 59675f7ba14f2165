import assert from 'node:assert/strict';
import { buys, free, type Case } from '../case.ts';
import type { Json } from '../receiver.ts';
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
  free('a validation failure has detail, a list; each entry of detail is an object', async (service) => {
    await refusedThrice(service);
  }),
  free('there is one entry per problem', async (service) => {
    assert.equal((await refusedThrice(service)).length, 3);
  }),
  free('an entry has loc, a list', async (service) => {
    for (const { loc } of await refusedThrice(service)) assert.ok(Array.isArray(loc), String(loc));
  }),
  free('loc is a list of strings', { only: 'specification' }, async (service) => {
    const flags = await service.refused({ flags: ['a', 1] });
    const json = await raw(service, '{"deployment_id": x}', 'application/json');
    for (const { loc } of [...(await refusedThrice(service)), ...flags, ...json]) {
      assert.ok(
        loc.every((step) => typeof step === 'string'),
        JSON.stringify(loc),
      );
    }
  }),
  free('loc is the location of the faulty input', async (service) => {
    const places = (await refusedThrice(service)).map(({ loc }) => String(loc[1]));
    assert.deepEqual([...places].sort(), ['deployment_id', 'gpu', 'inputs']);
  }),
  free('an entry has msg, a string', async (service) => {
    for (const { msg } of await refusedThrice(service)) assert.equal(typeof msg, 'string');
  }),
  free('an entry has type, a string', async (service) => {
    for (const { type } of await refusedThrice(service)) assert.equal(typeof type, 'string');
  }),
  free('type is the kind of problem: different problems have different types', async (service) => {
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
  buys('Queue Run succeeds with 200', async (service) => {
    assert.equal((await service.postRun()).status, 200);
  }),
  buys('Get Run succeeds with 200', async (service) => {
    assert.equal((await service.ask('GET', `/run/${await service.queue()}`)).status, 200);
  }),
  free('a validation failure of Queue Run has status 422', async (service) => {
    assert.equal((await service.postRun({ gpu: 'RTX4090' })).status, 422);
  }),
  free('a validation failure of a run_id has status 422', async (service) => {
    assert.equal((await service.ask('GET', '/run/nonsense')).status, 422);
  }),
  free(
    'a missing deployment_id: `missing`; the message for a missing field is `Field required`',
    async (service) => {
      const problem = await is(
        refusedOnce(service, { deployment_id: undefined }),
        'missing',
        'body',
        'deployment_id',
      );
      assert.equal(problem.msg, 'Field required');
    },
  ),
  free('a deployment_id that is not a uuid: `uuid_parsing`', async (service) => {
    const problem = await is(
      refusedOnce(service, { deployment_id: 'x' }),
      'uuid_parsing',
      'body',
      'deployment_id',
    );
    assert.match(String(problem.msg), /^Input should be a valid UUID, /);
  }),
  free('a deployment_id that is a number: `uuid_type`', async (service) => {
    await is(refusedOnce(service, { deployment_id: 5 }), 'uuid_type', 'body', 'deployment_id');
  }),
  free('a GPU outside the allowed values: `enum`, with the allowed ones in msg', async (service) => {
    const problem = await refusedOnce(service, { gpu: 'RTX4090' });
    assert.equal(problem.type, 'enum');
    assert.match(String(problem.msg), /^Input should be .*'T4', 'L4', 'A10G', 'L40S', 'A100', 'A100-80GB'/);
  }),
  free('a GPU outside the allowed values is at body, gpu', async (service) => {
    await is(refusedOnce(service, { gpu: 'RTX4090' }), 'enum', 'body', 'gpu');
  }),
  free('a body that is not JSON: `json_invalid`, at body and the offset', async (service) => {
    await is(raw(service, '{"a": 1 b}', 'application/json').then(only), 'json_invalid', 'body', 8);
  }),
  free('another content type, or none: `model_attributes_type` at body', async (service) => {
    const body = JSON.stringify({ deployment_id: service.deploymentId });
    for (const type of ['text/plain', undefined]) {
      await is(raw(service, body, type).then(only), 'model_attributes_type', 'body');
    }
  }),
  free('an empty body: `missing` at body', async (service) => {
    await is(raw(service, '', 'application/json').then(only), 'missing', 'body');
  }),
  free('a malformed run_id is at path, run_id', async (service) => {
    const problems = problemsOf(await service.ask('GET', '/run/nonsense'));
    await is(Promise.resolve(only(problems)), 'uuid_parsing', 'path', 'run_id');
  }),
  free(`a malformed run_id in V1's query is at query, run_id`, async (service) => {
    const problems = problemsOf(await service.ask('GET', '/run?run_id=nonsense'));
    await is(Promise.resolve(only(problems)), 'uuid_parsing', 'query', 'run_id');
  }),
  free('an entry shows the input that was refused', async (service) => {
    assert.equal((await refusedOnce(service, { gpu: 'RTX4090' }))['input'], 'RTX4090');
  }),
  free('the entry of a GPU has ctx.expected', async (service) => {
    const { ctx } = (await refusedOnce(service, { gpu: 'RTX4090' })) as { ctx?: { expected?: unknown } };
    assert.match(String(ctx?.expected), /'T4'.* or '/);
  }),
  free('inputs and webhook_intermediate_status must not be null', async (service) => {
    for (const name of ['inputs', 'webhook_intermediate_status']) {
      assert.deepEqual((await refusedOnce(service, { [name]: null })).loc, ['body', name]);
    }
  }),
];

const missing = (
  name: string,
  ask: (service: Service) => ReturnType<Service['ask']>,
  expected: readonly [number, string],
): Case =>
  free(name, async (service) => {
    const { status, json } = await ask(service);
    assert.deepEqual([status, json['detail']], expected);
  });

const MISSING: readonly Case[] = [
  missing('an unknown run: 404, `Run not found`', (s) => s.ask('GET', `/run/${UNKNOWN_ID}`), [
    404,
    'Run not found',
  ]),
  missing(
    'a request for an unknown deployment: 404, `Deployment not found`',
    (s) => s.postRun({ deployment_id: UNKNOWN_ID }),
    [404, 'Deployment not found'],
  ),
  missing('an unknown path: 404, `Not Found`', (s) => s.ask('GET', '/nowhere'), [404, 'Not Found']),
  missing('another method: 405, `Method Not Allowed`', (s) => s.ask('PUT', QUEUE, { json: {} }), [
    405,
    'Method Not Allowed',
  ]),
];

export const ERROR_CASES: readonly Case[] = [...SHAPE, ...KINDS, ...MISSING];
