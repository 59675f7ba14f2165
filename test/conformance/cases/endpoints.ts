import assert from 'node:assert/strict';
import { buys, free, type Case } from '../case.ts';
import type { Json } from '../receiver.ts';
import { finished, inputsFor, UNKNOWN_ID, problemsOf, QUEUE, type Service } from '../service.ts';
import { UUID } from './run.ts';

const GET: readonly Case[] = [
  buys(
    'the method is GET; the path is /run/{run_id} below the base; the request has the header Authorization: Bearer <ACCESS_TOKEN>; there is no request body',
    async (service) => {
      const answer = await service.ask('GET', `/run/${await service.queue()}`);
      assert.equal(answer.status, 200);
    },
  ),
  free('run_id is a uuid; a malformed run_id gives the validation error shape', async (service) => {
    problemsOf(await service.ask('GET', '/run/nonsense'));
  }),
  free('run_id is required', async (service) => {
    problemsOf(await service.ask('GET', '/run'));
  }),
  buys('the success response is a JSON object, the Run itself', async (service) => {
    const { json, type } = await service.ask('GET', `/run/${await service.queue()}`);
    assert.match(type, /^application\/json/);
    assert.ok('status' in json, JSON.stringify(json));
  }),
  free('the validation failure response is a JSON object with detail', async (service) => {
    const { json } = await service.ask('GET', '/run/nonsense');
    assert.ok(!Array.isArray(json) && 'detail' in json, JSON.stringify(json));
  }),
  buys(`a valid run_id of an existing run gives that run's record`, async (service) => {
    for (const id of [await service.queue(), await service.queue()]) {
      assert.equal((await service.run(id))['id'], id);
    }
  }),
];

const firstRefused = async (service: Service, request: Json): Promise<unknown[]> =>
  (await service.refused(request)).map((problem) => problem.loc[1]);

const QUEUE_CASES: readonly Case[] = [
  buys(
    'the method is POST; the path is /run/deployment/queue below the base; the request content type is application/json; the request has the header Authorization: Bearer <ACCESS_TOKEN>',
    async (service) => {
      assert.equal((await service.postRun()).status, 200);
    },
  ),
  buys('the success response is a JSON object', async (service) => {
    const { json, type } = await service.postRun();
    assert.match(type, /^application\/json/);
    assert.ok(!Array.isArray(json));
  }),
  buys('the success response has one field', async (service) => {
    assert.equal(Object.keys((await service.postRun()).json).length, 1);
  }),
  buys('the field is run_id', async (service) => {
    assert.ok('run_id' in (await service.postRun()).json);
  }),
  buys('run_id is a string, a uuid', async (service) => {
    assert.match(String((await service.postRun()).json['run_id']), UUID);
  }),
  free('the validation failure response is a JSON object with detail', async (service) => {
    const { json } = await service.postRun({ deployment_id: 'portraits' });
    assert.ok(!Array.isArray(json) && 'detail' in json, JSON.stringify(json));
  }),
  buys('a valid deployment_id creates a run, and run_id is its identifier', async (service) => {
    assert.equal((await service.ask('GET', `/run/${await service.queue()}`)).status, 200);
  }),
  buys(
    'gpu overrides the default GPU of the machine for this run',
    { only: 'specification', needs: ['rented GPUs'] },
    async (service) => {
      const run = await service.ended(await service.queue({ gpu: 'H100' }));
      assert.equal(run['gpu'], 'H100');
    },
  ),
  free(
    'a missing deployment_id gives the validation error shape; deployment_id is required and has no default',
    async (service) => {
      await learn(service);
      assert.deepEqual(await firstRefused(service, { deployment_id: undefined }), ['deployment_id']);
    },
  ),
  free(
    'an invalid deployment_id gives the validation error shape; deployment_id is a uuid',
    async (service) => {
      await learn(service);
      assert.deepEqual(await firstRefused(service, { deployment_id: 'portraits' }), ['deployment_id']);
    },
  ),
  free('deployment_id is a string', async (service) => {
    await learn(service);
    assert.deepEqual(await firstRefused(service, { deployment_id: 5 }), ['deployment_id']);
  }),
  free('a gpu outside the allowed values gives the validation error shape', async (service) => {
    assert.deepEqual(await firstRefused(service, { gpu: 'RTX4090' }), ['gpu']);
  }),
];

/** Sends a request that is valid except for its unknown deployment. */
const learn = async (service: Service): Promise<void> => {
  await service.postRun({ gpu: 'RTX4090' });
};

const FIELDS: readonly Case[] = [
  free('inputs is an object', async (service) => {
    for (const inputs of [[1], 'prompt', 7])
      assert.deepEqual(await firstRefused(service, { inputs }), ['inputs']);
  }),
  buys(
    'inputs is not required; webhook is not required; webhook_intermediate_status is not required; gpu is not required; flags is not required, and there are none by default',
    async (service) => void assert.equal((await service.postRun()).status, 200),
  ),
  buys('the default of inputs is an empty object', async (service) => {
    assert.deepEqual((await service.run(await service.queue()))['workflow_inputs'], {});
  }),
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
  free('webhook is a string', async (service) => {
    assert.deepEqual(await firstRefused(service, { webhook: 7 }), ['webhook']);
  }),
  buys('there is no webhook by default', async (service) => {
    assert.equal((await service.run(await service.queue()))['webhook'], null);
  }),
  buys(
    'the service calls the webhook target for the run',
    { needs: ['webhooks that reach this machine'] },
    async (service) => {
      const inbox = service.inboxes.open();
      const id = await service.queue({ webhook: inbox.url });
      const received = await inbox.until((all) => all.length > 0);
      assert.equal(received[0]?.body['run_id'], id);
    },
  ),
  free('webhook_intermediate_status is a boolean', async (service) => {
    const refused = await firstRefused(service, { webhook_intermediate_status: [true] });
    assert.deepEqual(refused, ['webhook_intermediate_status']);
  }),
  buys('webhook_intermediate_status is off by default', async (service) => {
    assert.equal((await service.run(await service.queue()))['webhook_intermediate_status'], false);
  }),
  free('gpu is a string', async (service) => {
    assert.deepEqual(await firstRefused(service, { gpu: 4 }), ['gpu']);
  }),
  buys('a run without a requested gpu gets that of its machine', async (service) => {
    const runs = await Promise.all([0, 1].map(async () => service.ended(await service.queue())));
    const { json } = await service.ask('GET', `/deployment/${service.deploymentId}`);
    assert.deepEqual(
      runs.map((run) => run['gpu']),
      [json['gpu'], json['gpu']],
    );
  }),
  free('flags is a list', async (service) => {
    assert.deepEqual(await firstRefused(service, { flags: 'provider_v2' }), ['flags']);
  }),
  free('each flag is a string', async (service) => {
    assert.deepEqual(await firstRefused(service, { flags: ['provider_v2', 2] }), ['flags']);
  }),
  buys('the flag provider_v2 is accepted', async (service) => {
    assert.equal((await service.postRun({ flags: ['provider_v2'] })).status, 200);
  }),
];

const authDetailOf = async (service: Service, authorization: string | undefined): Promise<unknown> => {
  const { status, json } = await service.ask('GET', `/run/${UNKNOWN_ID}`, { headers: { authorization } });
  return [status, json['detail']];
};

const AUTH: readonly Case[] = [
  free('Queue Run needs the Authorization header', async (service) => {
    await service.postRun({ gpu: 'RTX4090' });
    const { status } = await service.postRun({ gpu: 'RTX4090' }, { headers: { authorization: undefined } });
    assert.ok([401, 403].includes(status), String(status));
  }),
  free('Get Run needs the Authorization header', async (service) => {
    await service.ask('GET', `/run/${UNKNOWN_ID}`);
    const answer = await service.ask('GET', `/run/${UNKNOWN_ID}`, { headers: { authorization: undefined } });
    assert.ok([401, 403].includes(answer.status), String(answer.status));
  }),
  free('the scheme is Bearer', async (service) => {
    await service.ask('GET', `/run/${UNKNOWN_ID}`);
    for (const scheme of ['Basic', 'Token']) {
      const headers = { authorization: `${scheme} ${service.key}` };
      const { status } = await service.ask('GET', `/run/${UNKNOWN_ID}`, { headers });
      assert.ok([401, 403].includes(status), `${scheme}: ${status}`);
    }
  }),
  free('an unauthenticated request gets 401', async (service) => {
    const { status } = await service.ask('GET', `/run/${UNKNOWN_ID}`, {
      headers: { authorization: undefined },
    });
    assert.equal(status, 401);
  }),
  free('without a key: `Invalid or missing token`', async (service) => {
    assert.deepEqual(await authDetailOf(service, undefined), [401, 'Invalid or missing token']);
  }),
  free('with an unknown key: `Invalid or expired token`', async (service) => {
    assert.deepEqual(await authDetailOf(service, `Bearer ${UNKNOWN_ID}`), [401, 'Invalid or expired token']);
  }),
  free(
    'with a revoked key: `Revoked token`',
    { needs: ['revoked key'] },
    async (service) =>
      void assert.deepEqual(await authDetailOf(service, `Bearer ${service.revokedKey}`), [
        401,
        'Revoked token',
      ]),
  ),
  free('authentication is checked before the request', async (service) => {
    const { status } = await service.ask('POST', QUEUE, { body: '{', headers: { authorization: undefined } });
    assert.equal(status, 401);
  }),
  buys(
    'a run of another owner: 403, `You are not authorized to access this resource`',
    { needs: ['another key'] },
    async (service) => {
      const headers = { authorization: `Bearer ${service.otherKey}` };
      const answer = await service.ask('GET', `/run/${await service.queue()}`, { headers });
      assert.deepEqual(
        [answer.status, answer.json['detail']],
        [403, 'You are not authorized to access this resource'],
      );
    },
  ),
];

const taken = (name: string, request: Json): Case =>
  buys(name, async (service) => void assert.equal((await service.postRun(request)).status, 200));

const REAL: readonly Case[] = [
  buys('a run can be queued with webhook', async (service) => {
    const webhook = 'https://runsheet.invalid/kept';
    assert.equal((await service.run(await service.queue({ webhook })))['webhook'], webhook);
  }),
  buys('a run can be queued with webhook_intermediate_status', async (service) => {
    const id = await service.queue({ webhook_intermediate_status: true });
    assert.equal((await service.run(id))['webhook_intermediate_status'], true);
  }),
  taken('unknown fields are ignored', { machine_id: UNKNOWN_ID, x: 1 }),
  taken('gpu may be null', { gpu: null }),
  taken('webhook may be null', { webhook: null }),
  taken('flags may be null', { flags: null }),
  taken('any flags are accepted', { flags: ['made_up'] }),
  buys(
    'the GPU of a deployment takes precedence',
    { only: 'vendor', needs: ['rented GPUs'] },
    async (service) => void assert.equal((await finished(service))['gpu'], 'A10G'),
  ),
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
