import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { buys, free, type Case } from '../case.ts';
import type { Json } from '../receiver.ts';
import { isEnded, UNKNOWN_ID, QUEUE, type Answer, type Question, type Service } from '../service.ts';

const V1 = { needs: ['legacy base'] } as const;

const askV1 = (service: Service, method: string, path: string, question: Question = {}): Promise<Answer> =>
  service.ask(method, path, { base: service.legacyBase ?? '', ...question });

const queueV1 = async (service: Service): Promise<string> => {
  const json = { deployment_id: service.deploymentId, inputs: { seed: 7 } };
  const answer = await askV1(service, 'POST', '/run', { json });
  assert.equal(answer.status, 200, answer.text);
  return String(answer.json['run_id']);
};

const getV1 = async (service: Service, id: string): Promise<Json> =>
  (await askV1(service, 'GET', `/run?run_id=${id}`)).json;

/** A run that was queued and has ended by V1. */
const finishedV1 = (service: Service): Promise<Json> =>
  service.once('finished by V1', async () => {
    const id = await queueV1(service);
    const deadlineMs = Date.now() + service.patienceMs;
    for (;;) {
      const run = await getV1(service, id);
      if (isEnded(run)) return run;
      assert.ok(Date.now() < deadlineMs, `V1 shows the run as ${String(run['status'])}`);
      await pause(service.pauseMs);
    }
  });

const TABLE: readonly Case[] = [
  buys('V1 creates a run by POST /run, which answers {run_id}', V1, async (service) => {
    const json = { deployment_id: service.deploymentId };
    assert.deepEqual(Object.keys((await askV1(service, 'POST', '/run', { json })).json), ['run_id']);
  }),
  buys(
    'V1 returns the status of a run by GET /run; V1 reads the run from the query parameter run_id',
    V1,
    async (service) => {
      for (const id of [await queueV1(service), await queueV1(service)]) {
        assert.equal((await getV1(service, id))['id'], id);
      }
    },
  ),
  free(
    `V1 and V2 differ by their base address: V2's endpoints are not on the base of V1`,
    V1,
    async (service) => {
      const answer = await askV1(service, 'POST', QUEUE, { json: { deployment_id: UNKNOWN_ID } });
      assert.equal(answer.status, 404);
      assert.notEqual(answer.json['detail'], 'Deployment not found');
    },
  ),
  buys('a client that has replaced the base address finds its earlier runs', V1, async (service) => {
    const id = await queueV1(service);
    assert.equal((await service.run(id))['id'], id);
  }),
  buys('the node component is at v2.1.0 or later if the service shows its version', async (service) => {
    const { machine_version: version } = await service.run(await service.queue());
    if (version === null) return;
    assert.equal(typeof version, 'string');
    const [major = 0, minor = 0] = (version as string).replace(/^v/, '').split('.').map(Number);
    assert.ok(major > 2 || (major === 2 && minor >= 1), version as string);
  }),
];

const REAL: readonly Case[] = [
  free('an unauthenticated request gets 401 in plain text', V1, async (service) => {
    const headers = { authorization: undefined };
    const answer = await askV1(service, 'GET', `/run?run_id=${UNKNOWN_ID}`, { headers });
    assert.equal(answer.status, 401);
    assert.match(answer.type, /^text\/plain/);
    assert.equal(answer.text, 'Invalid or expired token');
  }),
  free('an invalid request: 500 and {error}', V1, async (service) => {
    const answer = await askV1(service, 'POST', '/run', { json: { deployment_id: UNKNOWN_ID } });
    assert.deepEqual([answer.status, Object.keys(answer.json)], [500, ['error']]);
  }),
  free('an unknown run: 400 and {code, message: "Workflow not found"}', V1, async (service) => {
    const { status, json } = await askV1(service, 'GET', `/run?run_id=${UNKNOWN_ID}`);
    assert.deepEqual([status, json['message'], 'code' in json], [400, 'Workflow not found', true]);
  }),
  buys(
    'a run shows run_log, but neither updated_at nor gpu_event_id, no durations and no number',
    V1,
    async (service) => {
      const run = await finishedV1(service);
      assert.ok('run_log' in run);
      const added = [
        'updated_at',
        'gpu_event_id',
        'duration',
        'cold_start_duration',
        'run_duration',
        'number',
      ];
      for (const name of added) assert.ok(!(name in run), name);
    },
  ),
  buys('an output is {data}', V1, async (service) => {
    const outputs = (await finishedV1(service))['outputs'] as Json[];
    assert.ok(outputs.length > 0);
    for (const output of outputs) assert.deepEqual(Object.keys(output), ['data']);
  }),
];

export const VERSION_CASES: readonly Case[] = [...TABLE, ...REAL];
