import assert from 'node:assert/strict';
import { buys, free, shows, type Case } from '../case.ts';
import type { Json } from '../receiver.ts';
import { finished, inputsFor, UNKNOWN_ID, problemsOf, QUEUE, type Service } from '../service.ts';
import { UUID } from './run.ts';

const GET: readonly Case[] = [
  buys(
    'the method is GET; the path is /run/{run_id} below the base; the request has the header Authorization: Bearer <ACCESS_TOKEN>; there is no request body; Get Run succeeds with 200; the success response is a JSON object, the Run itself',
    async (service) => {
      const { status, json, type } = await service.ask('GET', `/run/${await service.queue()}`);
      assert.equal(status, 200);
      assert.match(type, /^application\/json/);
      assert.ok('status' in json, JSON.stringify(json));
    },
  ),
  free('run_id is required', async (service) => {
    problemsOf(await service.ask('GET', '/run'));
  }),
  buys(
    `a valid run_id of an existing run gives that run's record; \`id\` is the identifier of the run; each request returns the identifier of a new run`,
    async (service) => {
      const ids = [await service.queue(), await service.queue()];
      assert.notEqual(ids[0], ids[1]);
      for (const id of ids) assert.equal((await service.run(id))['id'], id);
    },
  ),
];

const QUEUE_CASES: readonly Case[] = [
  buys(
    'the method is POST; the path is /run/deployment/queue below the base; the request content type is application/json; the request has the header Authorization: Bearer <ACCESS_TOKEN>; Queue Run succeeds with 200; inputs is not required; webhook is not required; webhook_intermediate_status is not required; gpu is not required; flags is not required, and there are none by default',
    async (service) => void assert.equal((await service.postRun()).status, 200),
  ),
  buys(
    'the success response is a JSON object; the success response has one field; the field is run_id; run_id is a string, a uuid',
    async (service) => {
      const { json, type } = await service.postRun();
      assert.match(type, /^application\/json/);
      assert.deepEqual([Array.isArray(json), Object.keys(json)], [false, ['run_id']]);
      assert.match(String(json['run_id']), UUID);
    },
  ),
  buys(
    'gpu overrides the default GPU of the machine for this run',
    { only: 'specification', needs: ['rented GPUs'] },
    async (service) => {
      const run = await service.ended(await service.queue({ gpu: 'H100' }));
      assert.equal(run['gpu'], 'H100');
    },
  ),
];

/** A field of the request with values of another type. */
const typeCase = (name: string, field: string, ...values: readonly unknown[]): Case =>
  free(name, async (service) => {
    for (const value of values) {
      const problems = await service.refused({ [field]: value });
      assert.deepEqual(
        problems.map(({ loc }) => loc[1]),
        [field],
      );
    }
  });

const FIELDS: readonly Case[] = [
  typeCase('inputs is an object', 'inputs', [1], 'prompt', 7),
  typeCase('webhook is a string', 'webhook', 7),
  typeCase('webhook_intermediate_status is a boolean', 'webhook_intermediate_status', [true]),
  typeCase('gpu is a string', 'gpu', 4),
  typeCase('flags is a list; each flag is a string', 'flags', 'provider_v2', ['provider_v2', 2]),
  buys(
    'the default of inputs is an empty object; there is no webhook by default; webhook_intermediate_status is off by default',
    async (service) => {
      const run = await service.run(await service.queue());
      assert.deepEqual(run['workflow_inputs'], {});
      assert.deepEqual([run['webhook'], run['webhook_intermediate_status']], [null, false]);
    },
  ),
  buys(
    'inputs is free-form: a value may be any JSON value',
    { only: 'specification', needs: ['rented GPUs'] },
    async (service) => {
      const inputs = { a: null, b: { c: [1, { d: true }] }, e: 0.5, 'f g': 'ü' };
      assert.deepEqual((await service.run(await service.queue({ inputs })))['workflow_inputs'], inputs);
    },
  ),
  buys('the inputs of a run are those of its request', async (service) => {
    assert.deepEqual((await finished(service))['workflow_inputs'], inputsFor(service));
  }),
  buys(
    'the service calls the webhook target for the run',
    { needs: ['webhooks that reach this machine'] },
    async (service) => {
      const inbox = service.inboxes.open();
      const id = await service.queue({ webhook: inbox.url });
      const received = await inbox.until((webhooks) => webhooks.length > 0);
      assert.equal(received[0]?.body['run_id'], id);
    },
  ),
  buys('a run without a requested gpu gets that of its machine', async (service) => {
    const runs = await Promise.all([0, 1].map(async () => service.ended(await service.queue())));
    const { json } = await service.ask('GET', `/deployment/${service.deploymentId}`);
    for (const run of runs) assert.equal(run['gpu'], json['gpu']);
  }),
];

const authDetailOf = async (service: Service, authorization: string | undefined): Promise<unknown> => {
  const { status, json } = await service.ask('GET', `/run/${UNKNOWN_ID}`, { headers: { authorization } });
  return [status, json['detail']];
};

const AUTH: readonly Case[] = [
  free(
    'Queue Run needs the Authorization header; authentication is checked before the request',
    async (service) => {
      const headers = { authorization: undefined };
      assert.equal((await service.ask('POST', QUEUE, { body: '{', headers })).status, 401);
    },
  ),
  free('the scheme is Bearer', async (service) => {
    for (const scheme of ['Basic', 'Token']) {
      const headers = { authorization: `${scheme} ${service.key}` };
      const { status } = await service.ask('GET', `/run/${UNKNOWN_ID}`, { headers });
      assert.ok([401, 403].includes(status), `${scheme}: ${status}`);
    }
  }),
  free(
    'Get Run needs the Authorization header; an unauthenticated request gets 401; without a key: `Invalid or missing token`',
    async (service) => {
      assert.deepEqual(await authDetailOf(service, undefined), [401, 'Invalid or missing token']);
    },
  ),
  free('with an unknown key: `Invalid or expired token`', async (service) => {
    assert.deepEqual(await authDetailOf(service, `Bearer ${UNKNOWN_ID}`), [401, 'Invalid or expired token']);
  }),
  free('with a revoked key: `Revoked token`', { needs: ['revoked key'] }, async (service) => {
    assert.deepEqual(await authDetailOf(service, `Bearer ${service.revokedKey}`), [401, 'Revoked token']);
  }),
  buys(
    'a run of another owner: 403, `You are not authorized to access this resource`',
    { needs: ['another key'] },
    async (service) => {
      const headers = { authorization: `Bearer ${service.otherKey}` };
      const { status, json } = await service.ask('GET', `/run/${await service.queue()}`, { headers });
      assert.deepEqual([status, json['detail']], [403, 'You are not authorized to access this resource']);
    },
  ),
];

const taken = (name: string, request: Json): Case =>
  buys(name, async (service) => void assert.equal((await service.postRun(request)).status, 200));

const REAL: readonly Case[] = [
  taken('unknown fields are ignored', { machine_id: UNKNOWN_ID, x: 1 }),
  taken('gpu may be null; webhook may be null; flags may be null', { gpu: null, webhook: null, flags: null }),
  taken('any flags are accepted', { flags: ['made_up'] }),
  shows('the GPU of a deployment takes precedence', ({ gpu }) => assert.equal(gpu, 'A10G'), {
    only: 'vendor',
    needs: ['rented GPUs'],
  }),
  free(
    'a value of inputs that is null or an object is refused, with five entries',
    { only: 'vendor' },
    async (service) => {
      for (const value of [null, { b: 1 }]) {
        const problems = await service.refused({ inputs: { a: value } });
        assert.deepEqual(
          problems.map(({ loc, type }) => [loc.join('.'), type]),
          [
            ['body.inputs.a.str', 'string_type'],
            ['body.inputs.a.int', 'int_type'],
            ['body.inputs.a.float', 'float_type'],
            ['body.inputs.a.bool', 'bool_type'],
            ['body.inputs.a.list[any]', 'list_type'],
          ],
        );
      }
    },
  ),
];

export const ENDPOINT_CASES: readonly Case[] = [...GET, ...QUEUE_CASES, ...FIELDS, ...AUTH, ...REAL];
