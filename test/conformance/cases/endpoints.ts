import assert from 'node:assert/strict';
import { buys, free, type Case } from '../case.ts';
import type { Json } from '../violations.ts';
import { finished, FULL_REQUEST, UNKNOWN_ID, problemsOf, QUEUE, type Service } from '../service.ts';
import { UUID } from './run.ts';

const GET: readonly Case[] = [
  buys('get.method get.path get.authorization get.no-body', async (service) => {
    const answer = await service.ask('GET', `/run/${await service.queue()}`);
    assert.equal(answer.status, 200);
  }),
  free('get.run_id.uuid get.rule-2', async (service) => {
    problemsOf(await service.ask('GET', '/run/nonsense'));
  }),
  free('get.run_id.required', async (service) => {
    problemsOf(await service.ask('GET', '/run'));
  }),
  buys('get.success', async (service) => {
    const { json, type } = await service.ask('GET', `/run/${await service.queue()}`);
    assert.match(type, /^application\/json/);
    assert.ok('status' in json, JSON.stringify(json));
  }),
  free('get.failure', async (service) => {
    const { json } = await service.ask('GET', '/run/nonsense');
    assert.ok(!Array.isArray(json) && 'detail' in json, JSON.stringify(json));
  }),
  buys('get.rule-1', async (service) => {
    for (const id of [await service.queue(), await service.queue()]) {
      assert.equal((await service.run(id))['id'], id);
    }
  }),
];

const firstRefused = async (service: Service, request: Json): Promise<unknown[]> =>
  (await service.refused(request)).map((problem) => problem.loc[1]);

const QUEUE_CASES: readonly Case[] = [
  buys('queue.method queue.path queue.content-type queue.authorization', async (service) => {
    assert.equal((await service.postRun()).status, 200);
  }),
  buys('queue.success', async (service) => {
    const { json, type } = await service.postRun();
    assert.match(type, /^application\/json/);
    assert.ok(!Array.isArray(json));
  }),
  buys('queue.success.one-field', async (service) => {
    assert.equal(Object.keys((await service.postRun()).json).length, 1);
  }),
  buys('queue.success.run_id', async (service) => {
    assert.ok('run_id' in (await service.postRun()).json);
  }),
  buys('queue.success.run_id.uuid', async (service) => {
    assert.match(String((await service.postRun()).json['run_id']), UUID);
  }),
  free('queue.failure', async (service) => {
    const { json } = await service.postRun({ deployment_id: 'portraits' });
    assert.ok(!Array.isArray(json) && 'detail' in json, JSON.stringify(json));
  }),
  buys('queue.rule-1', async (service) => {
    assert.equal((await service.ask('GET', `/run/${await service.queue()}`)).status, 200);
  }),
  buys('queue.rule-2', { only: 'specification' }, async (service) => {
    const run = await service.ended(await service.queue({ gpu: 'H100' }));
    assert.equal(run['gpu'], 'H100');
  }),
  free('queue.rule-3.missing deployment_id.required', async (service) => {
    await learn(service);
    assert.deepEqual(await firstRefused(service, { deployment_id: undefined }), ['deployment_id']);
  }),
  free('queue.rule-3.invalid deployment_id.format', async (service) => {
    await learn(service);
    assert.deepEqual(await firstRefused(service, { deployment_id: 'portraits' }), ['deployment_id']);
  }),
  free('deployment_id.type', async (service) => {
    await learn(service);
    assert.deepEqual(await firstRefused(service, { deployment_id: 5 }), ['deployment_id']);
  }),
  free('queue.rule-3.gpu', async (service) => {
    assert.deepEqual(await firstRefused(service, { gpu: 'RTX4090' }), ['gpu']);
  }),
];

/** Sends a request that is valid except for its unknown deployment. */
const learn = async (service: Service): Promise<void> => {
  await service.postRun({ gpu: 'RTX4090' });
};

const FIELDS: readonly Case[] = [
  free('inputs.type', async (service) => {
    for (const inputs of [[1], 'prompt', 7])
      assert.deepEqual(await firstRefused(service, { inputs }), ['inputs']);
  }),
  buys(
    'inputs.optional webhook.optional webhook_intermediate_status.optional gpu.optional flags.optional',
    async (service) => void assert.equal((await service.postRun()).status, 200),
  ),
  buys('inputs.default', async (service) => {
    assert.deepEqual((await service.run(await service.queue()))['workflow_inputs'], {});
  }),
  buys('inputs.free-form', { only: 'specification' }, async (service) => {
    const inputs = { a: null, b: { c: [1, { d: true }] }, e: 0.5, 'f g': 'ü' };
    assert.deepEqual((await service.run(await service.queue({ inputs })))['workflow_inputs'], inputs);
  }),
  buys('inputs.kept', async (service) => {
    assert.deepEqual((await finished(service))['workflow_inputs'], FULL_REQUEST.inputs);
  }),
  free('webhook.type', async (service) => {
    assert.deepEqual(await firstRefused(service, { webhook: 7 }), ['webhook']);
  }),
  buys('webhook.default', async (service) => {
    assert.equal((await service.run(await service.queue()))['webhook'], null);
  }),
  buys('webhook.target', { needs: ['webhooks that reach this machine'] }, async (service) => {
    const inbox = service.inboxes.open();
    const id = await service.queue({ webhook: inbox.url });
    const received = await inbox.until((all) => all.length > 0);
    assert.equal(received[0]?.body['run_id'], id);
  }),
  free('webhook_intermediate_status.type', async (service) => {
    const refused = await firstRefused(service, { webhook_intermediate_status: [true] });
    assert.deepEqual(refused, ['webhook_intermediate_status']);
  }),
  buys('webhook_intermediate_status.default', async (service) => {
    assert.equal((await service.run(await service.queue()))['webhook_intermediate_status'], false);
  }),
  free('gpu.type', async (service) => {
    assert.deepEqual(await firstRefused(service, { gpu: 4 }), ['gpu']);
  }),
  buys('gpu.default', async (service) => {
    const runs = await Promise.all([0, 1].map(async () => service.ended(await service.queue())));
    const { json } = await service.ask('GET', `/deployment/${service.deploymentId}`);
    assert.deepEqual(
      runs.map((run) => run['gpu']),
      [json['gpu'], json['gpu']],
    );
  }),
  free('flags.type', async (service) => {
    assert.deepEqual(await firstRefused(service, { flags: 'provider_v2' }), ['flags']);
  }),
  free('flags.items', async (service) => {
    assert.deepEqual(await firstRefused(service, { flags: ['provider_v2', 2] }), ['flags']);
  }),
  buys('flags.provider_v2', async (service) => {
    assert.equal((await service.postRun({ flags: ['provider_v2'] })).status, 200);
  }),
];

const authDetailOf = async (service: Service, authorization: string | undefined): Promise<unknown> => {
  const { status, json } = await service.ask('GET', `/run/${UNKNOWN_ID}`, { headers: { authorization } });
  return [status, json['detail']];
};

const AUTH: readonly Case[] = [
  free('auth.queue', async (service) => {
    await service.postRun({ gpu: 'RTX4090' });
    const { status } = await service.postRun({ gpu: 'RTX4090' }, { headers: { authorization: undefined } });
    assert.ok([401, 403].includes(status), String(status));
  }),
  free('auth.get', async (service) => {
    await service.ask('GET', `/run/${UNKNOWN_ID}`);
    const answer = await service.ask('GET', `/run/${UNKNOWN_ID}`, { headers: { authorization: undefined } });
    assert.ok([401, 403].includes(answer.status), String(answer.status));
  }),
  free('auth.scheme', async (service) => {
    await service.ask('GET', `/run/${UNKNOWN_ID}`);
    for (const scheme of ['Basic', 'Token']) {
      const headers = { authorization: `${scheme} ${service.key}` };
      const { status } = await service.ask('GET', `/run/${UNKNOWN_ID}`, { headers });
      assert.ok([401, 403].includes(status), `${scheme}: ${status}`);
    }
  }),
  free('auth.401', async (service) => {
    const { status } = await service.ask('GET', `/run/${UNKNOWN_ID}`, {
      headers: { authorization: undefined },
    });
    assert.equal(status, 401);
  }),
  free('auth.missing', async (service) => {
    assert.deepEqual(await authDetailOf(service, undefined), [401, 'Invalid or missing token']);
  }),
  free('auth.unknown', async (service) => {
    assert.deepEqual(await authDetailOf(service, `Bearer ${UNKNOWN_ID}`), [401, 'Invalid or expired token']);
  }),
  free(
    'auth.revoked',
    { needs: ['revoked key'] },
    async (service) =>
      void assert.deepEqual(await authDetailOf(service, `Bearer ${service.revokedKey}`), [
        401,
        'Revoked token',
      ]),
  ),
  free('auth.first', async (service) => {
    const { status } = await service.ask('POST', QUEUE, { body: '{', headers: { authorization: undefined } });
    assert.equal(status, 401);
  }),
  buys('auth.another', { needs: ['another key'] }, async (service) => {
    const headers = { authorization: `Bearer ${service.otherKey}` };
    const answer = await service.ask('GET', `/run/${await service.queue()}`, { headers });
    assert.deepEqual(
      [answer.status, answer.json['detail']],
      [403, 'You are not authorized to access this resource'],
    );
  }),
];

const taken = (rule: string, request: Json): Case =>
  buys(rule, async (service) => void assert.equal((await service.postRun(request)).status, 200));

const REAL: readonly Case[] = [
  buys('events.order.webhook', async (service) => {
    const webhook = 'https://runsheet.invalid/kept';
    assert.equal((await service.run(await service.queue({ webhook })))['webhook'], webhook);
  }),
  buys('events.order.intermediate', async (service) => {
    const id = await service.queue({ webhook_intermediate_status: true });
    assert.equal((await service.run(id))['webhook_intermediate_status'], true);
  }),
  taken('queue.unknown-fields', { machine_id: UNKNOWN_ID, x: 1 }),
  taken('queue.null-gpu', { gpu: null }),
  taken('queue.null-webhook', { webhook: null }),
  taken('queue.null-flags', { flags: null }),
  taken('queue.any-flags', { flags: ['made_up'] }),
  buys(
    'queue.gpu.deployment-wins',
    { only: 'vendor' },
    async (service) => void assert.equal((await finished(service))['gpu'], 'A10G'),
  ),
  free('queue.inputs.scalars', { only: 'vendor' }, async (service) => {
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
  }),
];

export const ENDPOINT_CASES: readonly Case[] = [...GET, ...QUEUE_CASES, ...FIELDS, ...AUTH, ...REAL];
