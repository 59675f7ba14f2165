import assert from 'node:assert/strict';
import { free, type Case } from '../case.ts';
import type { Json } from '../receiver.ts';
import { UNKNOWN_ID, problemsOf, QUEUE, type Answer, type Problem, type Service } from '../service.ts';

/** A request with three problems. */
const refusedThrice = (service: Service): Promise<readonly Problem[]> =>
  service.refused({ deployment_id: 'portraits', gpu: 'RTX4090', inputs: 7 });

const raw = async (service: Service, body: string, type?: string): Promise<readonly Problem[]> =>
  problemsOf(await service.ask('POST', QUEUE, { body, headers: { 'content-type': type } }));

const SHAPE: readonly Case[] = [
  free(
    'a validation failure has detail, a list; each entry of detail is an object; there is one entry per problem; loc is the location of the faulty input',
    async (service) => {
      const places = (await refusedThrice(service)).map(({ loc }) => String(loc[1]));
      assert.deepEqual(places.toSorted(), ['deployment_id', 'gpu', 'inputs']);
    },
  ),
  free(
    'an entry has loc, a list; an entry has msg, a string; an entry has type, a string; type is the kind of problem: different problems have different types',
    async (service) => {
      const problems = await refusedThrice(service);
      for (const { loc, msg, type } of problems)
        assert.deepEqual([Array.isArray(loc), typeof msg, typeof type], [true, 'string', 'string']);
      assert.equal(new Set(problems.map(({ type }) => type)).size, 3);
    },
  ),
  free('loc is a list of strings', { only: 'specification' }, async (service) => {
    const flags = await service.refused({ flags: ['a', 1] });
    const json = await raw(service, '{"deployment_id": x}', 'application/json');
    for (const { loc } of [...(await refusedThrice(service)), ...flags, ...json])
      for (const step of loc) assert.equal(typeof step, 'string', JSON.stringify(loc));
  }),
];

/** A request with one problem of this type at this place. */
const kindCase = (
  name: string,
  ask: (service: Service) => Promise<readonly Problem[]>,
  expected: readonly [type: string, ...loc: unknown[]],
  check: (problem: Problem) => void = () => undefined,
): Case =>
  free(name, async (service) => {
    const problems = await ask(service);
    const words = problems.map(({ type, loc }) => [type, ...loc].map(String));
    assert.deepEqual(words, [expected.map(String)]);
    for (const problem of problems) check(problem);
  });

const refuses =
  (request: Json) =>
  (service: Service): Promise<readonly Problem[]> =>
    service.refused(request);

const KINDS: readonly Case[] = [
  free('a validation failure of Queue Run has status 422', async (service) => {
    assert.equal((await service.postRun({ gpu: 'RTX4090' })).status, 422);
  }),
  free('a validation failure of a run_id has status 422', async (service) => {
    assert.equal((await service.ask('GET', '/run/nonsense')).status, 422);
  }),
  kindCase(
    'a missing deployment_id: `missing`; deployment_id is required and has no default; the message for a missing field is `Field required`',
    refuses({ deployment_id: undefined }),
    ['missing', 'body', 'deployment_id'],
    ({ msg }) => assert.equal(msg, 'Field required'),
  ),
  kindCase(
    'a deployment_id that is not a uuid: `uuid_parsing`',
    refuses({ deployment_id: 'x' }),
    ['uuid_parsing', 'body', 'deployment_id'],
    ({ msg }) => assert.match(String(msg), /^Input should be a valid UUID, /),
  ),
  kindCase('deployment_id is a string; one that is a number: `uuid_type`', refuses({ deployment_id: 5 }), [
    'uuid_type',
    'body',
    'deployment_id',
  ]),
  kindCase(
    'a GPU outside the allowed values: `enum`, with the allowed ones in msg; it is at body, gpu; an entry shows the input that was refused; the entry of a GPU has ctx.expected',
    refuses({ gpu: 'RTX4090' }),
    ['enum', 'body', 'gpu'],
    ({ msg, input, ctx }) => {
      assert.match(String(msg), /^Input should be .*'T4', 'L4', 'A10G', 'L40S', 'A100', 'A100-80GB'/);
      assert.equal(input, 'RTX4090');
      assert.match(String((ctx as Json | undefined)?.['expected']), /'T4'.* or '/);
    },
  ),
  kindCase(
    'a body that is not JSON: `json_invalid`, at body and the offset',
    (service) => raw(service, '{"a": 1 b}', 'application/json'),
    ['json_invalid', 'body', 8],
  ),
  ...['text/plain', undefined].map((type) =>
    kindCase(
      `the content type ${type ?? 'none'}: \`model_attributes_type\` at body`,
      (service) => raw(service, JSON.stringify({ deployment_id: service.deploymentId }), type),
      ['model_attributes_type', 'body'],
    ),
  ),
  kindCase('an empty body: `missing` at body', (service) => raw(service, '', 'application/json'), [
    'missing',
    'body',
  ]),
  kindCase(
    'run_id is a uuid; a malformed run_id gives the validation error shape, at path, run_id',
    async (service) => problemsOf(await service.ask('GET', '/run/nonsense')),
    ['uuid_parsing', 'path', 'run_id'],
  ),
  kindCase(
    `a malformed run_id in V1's query is at query, run_id`,
    async (service) => problemsOf(await service.ask('GET', '/run?run_id=nonsense')),
    ['uuid_parsing', 'query', 'run_id'],
  ),
  free('inputs and webhook_intermediate_status must not be null', async (service) => {
    for (const name of ['inputs', 'webhook_intermediate_status'])
      assert.deepEqual(
        (await service.refused({ [name]: null })).map(({ loc }) => loc),
        [['body', name]],
      );
  }),
];

const missing = (
  name: string,
  status: number,
  detail: string,
  ask: (service: Service) => Promise<Answer>,
): Case =>
  free(`${name}: ${status}, \`${detail}\``, async (service) => {
    const answer = await ask(service);
    assert.deepEqual([answer.status, answer.json['detail']], [status, detail]);
  });

const MISSING: readonly Case[] = [
  missing('an unknown run', 404, 'Run not found', (s) => s.ask('GET', `/run/${UNKNOWN_ID}`)),
  missing('a request for an unknown deployment', 404, 'Deployment not found', (s) =>
    s.postRun({ deployment_id: UNKNOWN_ID }),
  ),
  missing('an unknown path', 404, 'Not Found', (s) => s.ask('GET', '/nowhere')),
  missing('another method', 405, 'Method Not Allowed', (s) => s.ask('PUT', QUEUE, { json: {} })),
];

export const ERROR_CASES: readonly Case[] = [...SHAPE, ...KINDS, ...MISSING];
