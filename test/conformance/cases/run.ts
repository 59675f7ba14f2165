import assert from 'node:assert/strict';
import { buys, free, type Case } from '../case.ts';
import type { Json } from '../receiver.ts';
import { MAY_BE_EMPTY, GPU_VALUES, RUN_FIELDS, VENDOR_GPU_VALUES, type RunField } from '../run-fields.ts';
import { finished, FULL_REQUEST } from '../service.ts';

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;
const FORMATS = { uuid: UUID, 'date-time': DATE_TIME } as const;

const typeOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value);

const fieldCase = ({ name, type, format, only }: RunField): Case =>
  buys(
    `Get Run shows \`${name}\`, of the type ${type}${format ? ` and the format ${format}` : ''}`,
    only ? { only } : {},
    async (service) => {
      const run = await finished(service);
      assert.ok(name in run, `${name} is not there`);
      const value = run[name];
      if (value === null && MAY_BE_EMPTY.has(name)) return;
      assert.equal(typeOf(value), type);
      if (format) assert.match(String(value), FORMATS[format]);
    },
  );

const dateOf = (run: Json, name: string): number => Date.parse(String(run[name]));

const durationCase = (name: string, from: string, to: string): Case =>
  buys(`\`${name}\` lasts from ${from} to ${to}`, async (service) => {
    const run = await finished(service);
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
  buys('`id` is the identifier of the run', async (service) => {
    const id = await service.queue();
    assert.equal((await service.run(id))['id'], id);
  }),
  buys('`ended_at` is in UTC', async (service) => {
    assert.match(String((await finished(service))['ended_at']), /Z$/);
  }),
  buys('`webhook` is the webhook target given at queue time, unchanged', async (service) => {
    assert.equal((await finished(service))['webhook'], FULL_REQUEST.webhook);
  }),
  buys('`worker_function_call_id` identifies one call: no two runs have the same', async (service) => {
    const other = await service.ended(await service.queue());
    assert.notEqual(other['worker_function_call_id'], (await finished(service))['worker_function_call_id']);
  }),
  buys('`gpu` may be one of these', async (service) => {
    const gpus = [...GPU_VALUES, ...(service.flavour === 'vendor' ? VENDOR_GPU_VALUES : [])];
    for (const gpu of gpus) assert.equal((await service.postRun({ gpu })).status, 200, gpu);
  }),
  free('`gpu` is one of the seven values and nothing else', { only: 'specification' }, async (service) => {
    for (const gpu of ['H200', 'B200', 'CPU', 'RTX4090', '']) await service.refused({ gpu });
  }),
  free('a GPU must be spelled exactly like this', async (service) => {
    await service.refused({ gpu: 't4' });
  }),
  free('`gpu` is one value, not a list', async (service) => {
    await service.refused({ gpu: ['T4', 'L4'] });
  }),
  buys('the service executes queued runs', async (service) => {
    assert.equal((await finished(service))['status'], 'success');
  }),
  buys('each request returns the identifier of a new run', async (service) => {
    assert.notEqual(await service.queue(), await service.queue());
  }),
  buys('Get Run returns all details of a run', async (service) => {
    const run = await finished(service);
    const missing = RUN_FIELDS.filter(({ name, only }) => !(name in run) && only !== 'specification');
    assert.deepEqual(missing, []);
  }),
  buys('a record carries its status', async (service) => {
    const run = await service.run(await service.queue());
    assert.notEqual(run['status'], '');
  }),
  buys('a record carries its timing', async (service) => {
    const run = await finished(service);
    const times = ['created_at', 'queued_at', 'started_at', 'ended_at'].map((name) => dateOf(run, name));
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
    assert.ok(times.every(Number.isFinite), String(times));
  }),
  buys('a record carries its GPU', async (service) => {
    assert.match(String((await finished(service))['gpu']), /^[A-Z]+[0-9]/);
  }),
  buys('a record carries its webhook settings', async (service) => {
    const run = await finished(service);
    const shown = [run['webhook'], run['webhook_intermediate_status']];
    assert.deepEqual(shown, [FULL_REQUEST.webhook, true]);
  }),
  buys('a record carries its outputs', async (service) => {
    assert.ok(((await finished(service))['outputs'] as unknown[]).length > 0);
  }),
  buys(
    'Get Run no longer shows `workflow_api`',
    { only: 'vendor' },
    async (service) => void assert.ok(!('workflow_api' in (await finished(service)))),
  ),
  buys(`the call also has the vendor's field name, with the same value`, async (service) => {
    const run = await finished(service);
    assert.equal(run['modal_function_call_id'], run['worker_function_call_id']);
  }),
  buys('the identifier of a call is `fc-` and 26 letters and digits', async (service) => {
    assert.match(String((await finished(service))['modal_function_call_id']), /^fc-[0-9A-Z]{26}$/);
  }),
  buys('`origin` of a run that was queued here is `api`', async (service) => {
    assert.equal((await finished(service))['origin'], 'api');
  }),
  buys('a date has six digits after its seconds, or none, and a Z', async (service) => {
    assert.match(String((await finished(service))['created_at']), /T\d\d:\d\d(:\d\d(\.\d{6})?)?Z$/);
  }),
  buys("V1's `?run_id=` also works on the V2 base, and shows the same run", async (service) => {
    const run = await finished(service);
    const answer = await service.ask('GET', `/run?run_id=${String(run['id'])}`);
    assert.deepEqual(answer.json, run);
  }),
  buys('`number` is 0', async (service) => {
    assert.equal((await finished(service))['number'], 0);
  }),
  buys('`is_realtime` is false', async (service) => {
    assert.equal((await finished(service))['is_realtime'], false);
  }),
  buys('`webhook_status` is never written', async (service) => {
    assert.equal((await finished(service))['webhook_status'], null);
  }),
  buys('`progress` is between 0 and 1', async (service) => {
    const { progress } = await finished(service);
    assert.ok(Number(progress) > 0 && Number(progress) <= 1, String(progress));
  }),
  buys('durations are in seconds', async (service) => {
    const run = await finished(service);
    const ms = dateOf(run, 'ended_at') - dateOf(run, 'created_at');
    assert.ok(Number(run['duration']) * 1000 < ms + 2, `${String(run['duration'])} for ${ms} ms`);
  }),
  durationCase('duration', 'created_at', 'ended_at'),
  durationCase('cold_start_duration', 'queued_at', 'started_at'),
  durationCase('cold_start_duration_total', 'created_at', 'started_at'),
  durationCase('run_duration', 'started_at', 'ended_at'),
  buys('`machine_type` is one of the six kinds of machine', async (service) => {
    const { machine_type: kind } = await finished(service);
    assert.ok(MACHINES.has(kind), JSON.stringify(kind));
  }),
];
