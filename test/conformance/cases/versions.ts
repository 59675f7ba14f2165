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
  buys('versions.v1.create', V1, async (service) => void (await queueV1(service))),
  buys('versions.v1.get versions.v1.get.query', V1, async (service) => {
    for (const id of [await queueV1(service), await queueV1(service)]) {
      assert.equal((await getV1(service, id))['id'], id);
    }
  }),
  buys('versions.v2.create versions.v2.get', async (service) => {
    const id = await service.queue();
    assert.equal((await service.run(id))['id'], id);
  }),
  free('versions.base', V1, async (service) => {
    const answer = await askV1(service, 'POST', QUEUE, { json: { deployment_id: UNKNOWN_ID } });
    assert.equal(answer.status, 404);
    assert.notEqual(answer.json['detail'], 'Deployment not found');
  }),
  buys('migration.1', V1, async (service) => {
    const id = await queueV1(service);
    assert.equal((await service.run(id))['id'], id);
  }),
  buys('migration.2', async (service) => {
    const { machine_version: version } = await service.run(await service.queue());
    if (version === null) return;
    assert.equal(typeof version, 'string');
    const [major = 0, minor = 0] = (version as string).replace(/^v/, '').split('.').map(Number);
    assert.ok(major > 2 || (major === 2 && minor >= 1), version as string);
  }),
  buys('migration.5', async (service) => {
    const run = await service.ended(await service.queue({ flags: [...FULL_REQUEST.flags] }));
    assert.equal(run['status'], 'success');
  }),
];

const REAL: readonly Case[] = [
  buys('v1.answer', V1, async (service) => {
    const json = { deployment_id: service.deploymentId };
    assert.deepEqual(Object.keys((await askV1(service, 'POST', '/run', { json })).json), ['run_id']);
  }),
  free('v1.401', V1, async (service) => {
    const headers = { authorization: undefined };
    const answer = await askV1(service, 'GET', `/run?run_id=${UNKNOWN_ID}`, { headers });
    assert.equal(answer.status, 401);
    assert.match(answer.type, /^text\/plain/);
    assert.equal(answer.text, 'Invalid or expired token');
  }),
  free('v1.500', V1, async (service) => {
    const answer = await askV1(service, 'POST', '/run', { json: { deployment_id: UNKNOWN_ID } });
    assert.deepEqual([answer.status, Object.keys(answer.json)], [500, ['error']]);
  }),
  free('v1.400', V1, async (service) => {
    const { status, json } = await askV1(service, 'GET', `/run?run_id=${UNKNOWN_ID}`);
    assert.deepEqual([status, json['message'], 'code' in json], [400, 'Workflow not found', true]);
  }),
  buys('v1.fields', V1, async (service) => {
    const run = await finishedV1(service);
    const added = ['updated_at', 'gpu_event_id', 'duration', 'cold_start_duration', 'run_duration', 'number'];
    assert.deepEqual(
      added.filter((name) => name in run),
      [],
    );
  }),
  buys('v1.run_log', V1, async (service) => void assert.ok('run_log' in (await finishedV1(service)))),
  buys('v1.outputs', V1, async (service) => {
    const outputs = (await finishedV1(service))['outputs'] as Json[];
    assert.ok(outputs.length > 0);
    for (const output of outputs) assert.deepEqual(Object.keys(output), ['data']);
  }),
];

export const VERSION_CASES: readonly Case[] = [...TABLE, ...REAL];
