// Runs that wait: for a server, or in the queue of one.

import { describe, expect, it } from 'vitest';
import { UsualTimes } from '../../src/run-service/executors/queueing/usual-times.ts';
import { openReceiver } from '../run-service/receiver.ts';
import { until } from '../stage/stage.ts';
import { openStandIn, OwnService, portrait, queueAt, isRunning, timesOf, openOwn } from './own-service.ts';
import type { ComfyStandIn } from './stand-in.ts';

const sleeping = portrait({ seconds: 3_600 });

it('are in no machine while they wait in the queue of a ComfyUI, and had no cold start', async () => {
  const { gpu, own } = await openOwn(sleeping);
  const first = await own.queue({ prompt: 'one' });
  await own.until(first, isRunning);
  const [cancelled, second] = [await own.queue({ prompt: 'two' }), await own.queue({ prompt: 'three' })];
  await until(async () => (await queueAt(gpu)).includes(cancelled), 'it waits there');
  expect(await own.run(cancelled)).toMatchObject({ status: 'queued', queued_at: null });
  await own.ask('POST', `/run/${cancelled}/cancel`);
  await until(async () => (await queueAt(gpu)).includes(second), 'another one waits there');
  gpu.wake();
  expect(await own.until(second, isRunning)).toMatchObject({ cold_start_duration: 0 });
  gpu.wake();
  expect(await own.until(second)).toMatchObject({ cold_start_duration: 0 });
  expect(await own.run(cancelled)).toMatchObject({ queued_at: null, cold_start_duration: null });
});

it.each([
  ['of the same workflow', 1],
  ['of several workflows', 3],
])('are not overtaken by all that another owner has, %s', async (_what, workflows) => {
  const { gpu, own } = await openOwn(sleeping, {}, { tokens: ['ann:key', 'ben:key-of-ben'] });
  const deployments = [own.deployment];
  for (let nth = 1; nth < workflows; nth += 1)
    deployments.push(await own.add([], portrait({ seconds: 3_600 + nth })));
  const queued = async (prompt: string, deployment = '', key = 'key'): Promise<string> => {
    const answer = await fetch(`${own.service.url}/api/run/deployment/queue`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ deployment_id: deployment, inputs: { prompt } }),
    });
    return ((await answer.json()) as { readonly run_id: string }).run_id;
  };
  for (let row = 0; row < 12; row += 1) await queued(`ann ${row}`, deployments[row % workflows]);
  await until(async () => (await queueAt(gpu)).length >= 2, 'the first runs are at the server');
  const waiting = own.service.stats().runs.waiting;
  // In the workflow with the most runs at work.
  await queued('ben', deployments[0], 'key-of-ben');
  expect(own.service.stats().runs.waiting).toBe(waiting + 1);
  const before = 12 - waiting;
  for (let nth = 1; nth <= before; nth += 1) {
    await until(() => gpu.executions.length === nth, `run ${nth} is executed`);
    gpu.wake();
  }
  await until(() => gpu.executions.length === before + 1, 'the next run is executed');
  expect(gpu.executions.at(-1)?.graph['3']?.inputs['text']).toBe('ben');
});

it.each([
  [[], [], 2],
  [[2_000], [50], 2],
  // On the way, the server would end two of them.
  [[40, 40], [50, 100], 3],
  [[1], [5_000], 7],
])('are so many at a server whose runs take %j ms, and %j ms to get there: %s', (ran, delivered, places) => {
  const usual = new UsualTimes();
  for (const ms of ran) usual.ran(ms);
  for (const ms of delivered) usual.delivered(ms);
  expect(usual.places).toBe(places);
});

describe('a row that names a model', () => {
  /** Opens two servers: both have the model that the workflow names, or only A. */
  async function scene(common = 'common') {
    const a = await openStandIn({ checkpoints: ['sd15', common] });
    const b = await openStandIn({ checkpoints: common === 'sd15' ? ['xl'] : ['xl', common] });
    const graph = portrait({ seconds: 3_600 });
    Object.assign(graph['3']?.inputs ?? {}, { model: ['1', 0] });
    graph['1'] = { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: common } };
    return { a, b, own: await OwnService.of([a, b], graph) };
  }
  const textsAt = (gpu: ComfyStandIn): readonly unknown[] =>
    gpu.executions.map(({ graph }) => graph['3']?.inputs['text']);

  it.each(['common', 'sd15'])(
    'is executed by the server that has it, and keeps no other row from the others (the workflow names %s)',
    async (common) => {
      const { own, a, b } = await scene(common);
      for (const prompt of ['1', '2', '3', '4']) await own.queue({ prompt, '1.ckpt_name': 'xl' });
      const last = await own.queue({ prompt: '5', '1.ckpt_name': 'sd15' });
      await own.until(last, isRunning);
      await until(() => b.executions.length > 0, 'B executes');
      for (const nth of [2, 3, 4]) {
        b.wake();
        await until(() => b.executions.length === nth, 'B executes the next one');
      }
      expect([textsAt(a), textsAt(b)]).toEqual([['5'], ['1', '2', '3', '4']]);
    },
  );

  it('is offered what any server has, and refused by name if none has it', async () => {
    const { own, a, b } = await scene();
    const { json } = await own.ask('GET', `/deployment/${own.deployment}`);
    const { input_types } = json as { readonly input_types: readonly Record<string, unknown>[] };
    expect(input_types.find(({ input_id }) => input_id === 'ckpt_name')?.['enum_options']).toEqual([
      'sd15',
      'common',
      'xl',
    ]);
    const refused = await own.ask('POST', '/run/deployment/queue', {
      deployment_id: own.deployment,
      inputs: { '1.ckpt_name': 'absent' },
    });
    expect([refused.status, JSON.stringify(refused.json)]).toEqual([
      422,
      expect.stringMatching(/ckpt_name.*is \\"absent\\", and there is \\"sd15\\", \\"common\\", \\"xl\\"/),
    ]);
    expect([...a.executions, ...b.executions]).toEqual([]);
  });

  it('waits while its server is away, and fails by name once no server has it', async () => {
    const { own, a, b } = await scene();
    await b.kill();
    const id = await own.queue({ '1.ckpt_name': 'xl' });
    await own.until(await own.queue({ '1.ckpt_name': 'sd15' }), isRunning);
    expect((await own.run(id)).status).toBe('not-started');
    b.checkpoints = ['common'];
    await b.start();
    expect((await own.until(id)).status).toBe('failed');
    expect(await own.log(id)).toMatch(/failed validation: .*ckpt_name is "xl", and there is "common"/);
    expect([a.executions.length, b.executions.length]).toEqual([1, 0]);
  });
});

describe('a server that idles while a run waits behind another one elsewhere', () => {
  /** Each executes a run, and one waits; then the run of the other server ends, after `before`. */
  async function scene(before: (busy: ComfyStandIn) => void = () => undefined) {
    const gpus = [await openStandIn(), await openStandIn()];
    const own = await OwnService.of(gpus, sleeping);
    for (const prompt of ['1', '2']) await own.until(await own.queue({ prompt }), isRunning);
    const inbox = await openReceiver();
    const waits = await own.queue({ prompt: '3' }, { webhook: inbox.url });
    let busy: ComfyStandIn | undefined;
    await until(async () => {
      for (const gpu of gpus) if ((await queueAt(gpu)).includes(waits)) busy = gpu;
      return busy !== undefined;
    }, 'it waits at one of them');
    const idle = gpus.find((gpu) => gpu !== busy);
    if (busy === undefined || idle === undefined) throw new Error('it waits nowhere');
    before(busy);
    idle.wake();
    return { own, busy, idle, waits, inbox };
  }

  it('takes it, and it is executed once, and reported as queued once', async () => {
    const { own, busy, idle, waits, inbox } = await scene();
    await own.until(waits, isRunning);
    idle.wake();
    expect((await own.until(waits)).status).toBe('success');
    const reported = await inbox.until((webhooks) =>
      webhooks.some(({ body }) => body['status'] === 'success'),
    );
    expect(reported.map(({ body }) => body['status'])).toEqual(['queued', 'started', 'running', 'success']);
    busy.wake();
    expect([timesOf([busy], waits), timesOf([idle], waits)]).toEqual([0, 1]);
    expect(await own.log(waits)).toContain('idles');
  });

  it.each([
    ['the answer is lost', { done: true, with: 500 }],
    ['the request is lost', { done: false, with: 500 }],
    ['nothing was removed', { done: false, with: 200 }],
  ] as const)('does not get it if %s, and it is executed once all the same', async (_, fault) => {
    const { own, busy, idle, waits } = await scene((gpu) => gpu.answerNext('POST /queue', fault));
    await new Promise((resolve) => busy.once('faulty', resolve));
    await until(async () => (await queueAt(busy)).includes(waits), 'it is there again');
    busy.wake();
    await own.until(waits, isRunning);
    busy.wake();
    expect((await own.until(waits)).status).toBe('success');
    expect([timesOf([busy], waits), timesOf([idle], waits)]).toEqual([1, 0]);
  });
});
