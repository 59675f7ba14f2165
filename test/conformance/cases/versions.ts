import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { buys, free, type Case } from '../case.ts';
import type { Json } from '../violations.ts';
import {
  FULL_REQUEST,
  isEnded,
  UNKNOWN_ID,
  QUEUE,
  type Answer,
  type Question,
  type Service,
} from '../service.ts';

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
  buys(
    'versions.v1.create',
    'V1: POST /run queues a run',
    async (service) => void (await queueV1(service)),
    V1,
  ),
  buys(
    'versions.v1.get versions.v1.get.query',
    'V1: GET /run?run_id= shows each run',
    async (service) => {
      for (const id of [await queueV1(service), await queueV1(service)]) {
        assert.equal((await getV1(service, id))['id'], id);
      }
    },
    V1,
  ),
  buys(
    'versions.v2.create versions.v2.get',
    'V2: a run is queued and read by the new paths',
    async (service) => {
      const id = await service.queue();
      assert.equal((await service.run(id))['id'], id);
    },
  ),
  free(
    'versions.base',
    "V1's base address does not serve V2's path",
    async (service) => {
      const answer = await askV1(service, 'POST', QUEUE, { json: { deployment_id: UNKNOWN_ID } });
      assert.equal(answer.status, 404);
      assert.notEqual(answer.json['detail'], 'Deployment not found');
    },
    V1,
  ),
  buys(
    'migration.1',
    'V2 can read a run that V1 queued',
    async (service) => {
      const id = await queueV1(service);
      assert.equal((await service.run(id))['id'], id);
    },
    V1,
  ),
  buys('migration.2', 'the node component is recent enough if its version is shown', async (service) => {
    const { machine_version: version } = await service.run(await service.queue());
    if (version === null) return;
    assert.equal(typeof version, 'string');
    const [major = 0, minor = 0] = (version as string).replace(/^v/, '').split('.').map(Number);
    assert.ok(major > 2 || (major === 2 && minor >= 1), version as string);
  }),
  buys('migration.5', 'the verification run of a migration ends', async (service) => {
    const run = await service.ended(await service.queue({ flags: [...FULL_REQUEST.flags] }));
    assert.equal(run['status'], 'success');
  }),
];

const REAL: readonly Case[] = [
  buys(
    'v1.answer',
    'V1: POST /run answers with run_id',
    async (service) => {
      const json = { deployment_id: service.deploymentId };
      assert.deepEqual(Object.keys((await askV1(service, 'POST', '/run', { json })).json), ['run_id']);
    },
    V1,
  ),
  free(
    'v1.401',
    'V1: a request without a key gets 401 and a sentence',
    async (service) => {
      const headers = { authorization: undefined };
      const answer = await askV1(service, 'GET', `/run?run_id=${UNKNOWN_ID}`, { headers });
      assert.equal(answer.status, 401);
      assert.match(answer.type, /^text\/plain/);
      assert.equal(answer.text, 'Invalid or expired token');
    },
    V1,
  ),
  free(
    'v1.500',
    'V1: an invalid request gets 500 and an error',
    async (service) => {
      const answer = await askV1(service, 'POST', '/run', { json: { deployment_id: UNKNOWN_ID } });
      assert.deepEqual([answer.status, Object.keys(answer.json)], [500, ['error']]);
    },
    V1,
  ),
  free(
    'v1.400',
    'V1: an unknown run gets 400 and a message',
    async (service) => {
      const { status, json } = await askV1(service, 'GET', `/run?run_id=${UNKNOWN_ID}`);
      assert.deepEqual([status, json['message'], 'code' in json], [400, 'Workflow not found', true]);
    },
    V1,
  ),
  buys(
    'v1.fields',
    'V1: a run shows fewer fields than in V2',
    async (service) => {
      const run = await finishedV1(service);
      const added = [
        'updated_at',
        'gpu_event_id',
        'duration',
        'cold_start_duration',
        'run_duration',
        'number',
      ];
      assert.deepEqual(
        added.filter((name) => name in run),
        [],
      );
    },
    V1,
  ),
  buys(
    'v1.run_log',
    'V1: a run shows run_log',
    async (service) => void assert.ok('run_log' in (await finishedV1(service))),
    V1,
  ),
  buys(
    'v1.outputs',
    'V1: an output has only data',
    async (service) => {
      const outputs = (await finishedV1(service))['outputs'] as Json[];
      assert.ok(outputs.length > 0);
      for (const output of outputs) assert.deepEqual(Object.keys(output), ['data']);
    },
    V1,
  ),
];

export const VERSION_CASES: readonly Case[] = [...TABLE, ...REAL];
