import assert from 'node:assert/strict';
import { buys, free, shows, type Case } from '../case.ts';
import type { Json } from '../receiver.ts';
import { GPU_VALUES, MAY_BE_EMPTY, RUN_FIELDS, VENDOR_GPU_VALUES, type RunField } from '../run-fields.ts';
import { finished, FULL_REQUEST } from '../service.ts';

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;
const FORMATS = { uuid: UUID, 'date-time': DATE_TIME } as const;

const typeOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value);

const fieldCase = ({ name, type, format, only }: RunField): Case =>
  shows(
    `Get Run shows \`${name}\`, of the type ${type}${format ? ` and the format ${format}` : ''}`,
    (run) => {
      assert.ok(name in run, `${name} is not there`);
      const value = run[name];
      if (value === null && MAY_BE_EMPTY.has(name)) return;
      assert.equal(typeOf(value), type);
      if (format) assert.match(String(value), FORMATS[format]);
    },
    only ? { only } : {},
  );

const dateOf = (run: Json, name: string): number => Date.parse(String(run[name]));

const durationCase = (name: string, from: string, to: string): Case =>
  shows(`\`${name}\` lasts from ${from} to ${to}, in seconds`, (run) => {
    const seconds = (dateOf(run, to) - dateOf(run, from)) / 1000;
    assert.ok(Math.abs(Number(run[name]) - seconds) < 0.002, `${String(run[name])} instead of ${seconds}`);
  });

const MACHINES: ReadonlySet<unknown> = new Set([
  null,
  'classic',
  'runpod-serverless',
  'modal-serverless',
  'comfy-deploy-serverless',
  'workspace',
  'workspace-v2',
]);

export const RUN_CASES: readonly Case[] = [
  ...RUN_FIELDS.map(fieldCase),
  shows('`webhook` is the webhook target given at queue time, unchanged', ({ webhook }) =>
    assert.equal(webhook, FULL_REQUEST.webhook),
  ),
  shows('a run can be queued with webhook_intermediate_status', (run) =>
    assert.equal(run['webhook_intermediate_status'], true),
  ),
  buys('`worker_function_call_id` identifies one call: no two runs have the same', async (service) => {
    const secondRun = await service.ended(await service.queue());
    assert.notEqual(
      secondRun['worker_function_call_id'],
      (await finished(service))['worker_function_call_id'],
    );
  }),
  buys('`gpu` may be one of these', async (service) => {
    const gpus = [...GPU_VALUES, ...(service.flavour === 'vendor' ? VENDOR_GPU_VALUES : [])];
    for (const gpu of gpus) assert.equal((await service.postRun({ gpu })).status, 200, gpu);
  }),
  free('`gpu` is one of the seven values and nothing else', { only: 'specification' }, async (service) => {
    for (const gpu of ['H200', 'B200', 'CPU', 'RTX4090', '']) await service.refused({ gpu });
  }),
  free('a GPU must be spelled exactly like this; `gpu` is one value, not a list', async (service) => {
    for (const gpu of ['t4', ['T4', 'L4']]) await service.refused({ gpu });
  }),
  shows(
    'the service executes queued runs; a run with a deployment_id and the flag provider_v2 is accepted, and ends without an error as a `success`',
    ({ status }) => assert.equal(status, 'success'),
  ),
  shows('a record carries its timing', (run) => {
    const times = ['created_at', 'queued_at', 'started_at', 'ended_at'].map((name) => dateOf(run, name));
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
    assert.ok(times.every(Number.isFinite), String(times));
  }),
  shows('Get Run no longer shows `workflow_api`', (run) => assert.ok(!('workflow_api' in run)), {
    only: 'vendor',
  }),
  shows(`the call also has the vendor's field name, with the same value: \`fc-\` and 26 signs`, (run) => {
    assert.equal(run['modal_function_call_id'], run['worker_function_call_id']);
    assert.match(String(run['modal_function_call_id']), /^fc-[0-9A-Z]{26}$/);
  }),
  shows('`origin` of a run that was queued here is `api`', ({ origin }) => assert.equal(origin, 'api')),
  shows('a date is in UTC: it has six digits after its seconds, or none, and a Z', (run) => {
    for (const name of ['created_at', 'ended_at'])
      assert.match(String(run[name]), /T\d\d:\d\d(:\d\d(\.\d{6})?)?Z$/, name);
  }),
  buys("V1's `?run_id=` also works on the V2 base, and shows the same run", async (service) => {
    const run = await finished(service);
    const answer = await service.ask('GET', `/run?run_id=${String(run['id'])}`);
    assert.deepEqual(answer.json, run);
  }),
  shows('`number` is 0; `is_realtime` is false; `webhook_status` is never written', (run) =>
    assert.deepEqual([run['number'], run['is_realtime'], run['webhook_status']], [0, false, null]),
  ),
  shows('`progress` is between 0 and 1, with at most two decimals', ({ progress }) => {
    assert.ok(Number(progress) > 0 && Number(progress) <= 1, String(progress));
    assert.match(String(progress), /^[01](\.\d\d?)?$/);
  }),
  durationCase('duration', 'created_at', 'ended_at'),
  durationCase('cold_start_duration', 'queued_at', 'started_at'),
  durationCase('cold_start_duration_total', 'created_at', 'started_at'),
  durationCase('run_duration', 'started_at', 'ended_at'),
  shows('`machine_type` is one of the six kinds of machine', ({ machine_type: kind }) =>
    assert.ok(MACHINES.has(kind), JSON.stringify(kind)),
  ),
];
