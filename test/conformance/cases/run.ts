import assert from 'node:assert/strict';
import { buys, free, type Case } from '../case.ts';
import type { Json } from '../violations.ts';
import { MAY_BE_EMPTY, GPU_VALUES, RUN_FIELDS, VENDOR_GPU_VALUES, type RunField } from '../run-fields.ts';
import { finished, FULL_REQUEST } from '../service.ts';

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;
const FORMATS = { uuid: UUID, 'date-time': DATE_TIME } as const;

const typeOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value);

const fieldCase = ({ name, type, format, only }: RunField): Case =>
  buys(
    [`run.${name}`, `run.${name}.type`, ...(format ? [`run.${name}.format`] : [])].join(' '),
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
  buys(`run.${name}.value`, async (service) => {
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
  buys('run.id.note', async (service) => {
    const id = await service.queue();
    assert.equal((await service.run(id))['id'], id);
  }),
  buys('run.ended_at.utc', async (service) => {
    assert.match(String((await finished(service))['ended_at']), /Z$/);
  }),
  buys('run.webhook.note', async (service) => {
    assert.equal((await finished(service))['webhook'], FULL_REQUEST.webhook);
  }),
  buys('run.call-id.note', async (service) => {
    const other = await service.ended(await service.queue());
    assert.notEqual(other['worker_function_call_id'], (await finished(service))['worker_function_call_id']);
  }),
  ...GPU_VALUES.map((gpu) =>
    buys(`gpu.${gpu}`, async (service) => {
      assert.equal((await service.postRun({ gpu })).status, 200);
    }),
  ),
  ...VENDOR_GPU_VALUES.map((gpu) =>
    buys(
      `gpu.${gpu}`,
      { only: 'vendor' },
      async (service) => void assert.equal((await service.postRun({ gpu })).status, 200),
    ),
  ),
  free('gpu.exactly', { only: 'specification' }, async (service) => {
    for (const gpu of ['H200', 'B200', 'CPU', 'RTX4090', '']) await service.refused({ gpu });
  }),
  free('gpu.spelling', async (service) => {
    await service.refused({ gpu: 't4' });
  }),
  free('gpu.one', async (service) => {
    await service.refused({ gpu: ['T4', 'L4'] });
  }),
  buys('does.execute', async (service) => {
    assert.equal((await finished(service))['status'], 'success');
  }),
  buys('does.new-run', async (service) => {
    assert.notEqual(await service.queue(), await service.queue());
  }),
  buys('does.full-details', async (service) => {
    const run = await finished(service);
    const missing = RUN_FIELDS.filter(({ name, only }) => !(name in run) && only !== 'specification');
    assert.deepEqual(missing, []);
  }),
  buys('record.status', async (service) => {
    const run = await service.run(await service.queue());
    assert.notEqual(run['status'], '');
  }),
  buys('record.timing', async (service) => {
    const run = await finished(service);
    const times = ['created_at', 'queued_at', 'started_at', 'ended_at'].map((name) => dateOf(run, name));
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
    assert.ok(times.every(Number.isFinite), String(times));
  }),
  buys('record.gpu', async (service) => {
    assert.match(String((await finished(service))['gpu']), /^[A-Z]+[0-9]/);
  }),
  buys('record.webhook-settings', async (service) => {
    const run = await finished(service);
    const shown = [run['webhook'], run['webhook_intermediate_status']];
    assert.deepEqual(shown, [FULL_REQUEST.webhook, true]);
  }),
  buys('record.outputs', async (service) => {
    assert.ok(((await finished(service))['outputs'] as unknown[]).length > 0);
  }),
  buys(
    'run.workflow_api.absent',
    { only: 'vendor' },
    async (service) => void assert.ok(!('workflow_api' in (await finished(service)))),
  ),
  buys('run.modal_function_call_id', async (service) => {
    const run = await finished(service);
    assert.equal(run['modal_function_call_id'], run['worker_function_call_id']);
  }),
  buys('run.call-id.shape', async (service) => {
    assert.match(String((await finished(service))['modal_function_call_id']), /^fc-[0-9A-Z]{26}$/);
  }),
  buys('run.origin.api', async (service) => {
    assert.equal((await finished(service))['origin'], 'api');
  }),
  buys('run.dates.digits', async (service) => {
    assert.match(String((await finished(service))['created_at']), /T\d\d:\d\d(:\d\d(\.\d{6})?)?Z$/);
  }),
  buys('run.query', async (service) => {
    const run = await finished(service);
    const answer = await service.ask('GET', `/run?run_id=${String(run['id'])}`);
    assert.deepEqual(answer.json, run);
  }),
  buys('run.number.value', async (service) => {
    assert.equal((await finished(service))['number'], 0);
  }),
  buys('run.is_realtime.value', async (service) => {
    assert.equal((await finished(service))['is_realtime'], false);
  }),
  buys('run.webhook_status.value', async (service) => {
    assert.equal((await finished(service))['webhook_status'], null);
  }),
  buys('run.progress.range', async (service) => {
    const { progress } = await finished(service);
    assert.ok(Number(progress) > 0 && Number(progress) <= 1, String(progress));
  }),
  buys('run.durations.seconds', async (service) => {
    const run = await finished(service);
    const ms = dateOf(run, 'ended_at') - dateOf(run, 'created_at');
    assert.ok(Number(run['duration']) * 1000 < ms + 2, `${String(run['duration'])} for ${ms} ms`);
  }),
  durationCase('duration', 'created_at', 'ended_at'),
  durationCase('cold_start_duration', 'queued_at', 'started_at'),
  durationCase('cold_start_duration_total', 'created_at', 'started_at'),
  durationCase('run_duration', 'started_at', 'ended_at'),
  buys('run.machine_type.value', async (service) => {
    const { machine_type: kind } = await finished(service);
    assert.ok(MACHINES.has(kind), JSON.stringify(kind));
  }),
];
