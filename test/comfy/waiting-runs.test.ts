// Runs that wait: for a server, or in the queue of one.

import { describe, expect, it } from 'vitest';
import { until } from '../stage/stage.ts';
import { openStandIn, OwnService, portrait, queueAt, type Run } from './own-service.ts';
import type { ComfyStandIn } from './stand-in.ts';

const sleeping = portrait({ seconds: 3_600 });
const isRunning = ({ status }: Run): boolean => status === 'running';

it('are in no machine while they wait in the queue of a ComfyUI, and had no cold start', async () => {
  await using gpu = await openStandIn();
  await using own = await OwnService.of([gpu], sleeping);
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

describe('a row that names a model', () => {
  type Scene = AsyncDisposable & {
    readonly own: OwnService;
    readonly a: ComfyStandIn;
    readonly b: ComfyStandIn;
  };

  /** Both servers have what the workflow names itself, or only A. */
  async function scene(common = 'common'): Promise<Scene> {
    const a = await openStandIn({ checkpoints: ['sd15', common] });
    const b = await openStandIn({ checkpoints: common === 'sd15' ? ['xl'] : ['xl', common] });
    const graph = portrait({ seconds: 3_600 });
    Object.assign(graph['3']?.inputs ?? {}, { model: ['1', 0] });
    graph['1'] = { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: common } };
    const own = await OwnService.of([a, b], graph);
    return {
      own,
      a,
      b,
      [Symbol.asyncDispose]: async () => {
        for (const one of [own, a, b]) await one[Symbol.asyncDispose]();
      },
    };
  }
  const textsAt = (gpu: ComfyStandIn): readonly unknown[] =>
    gpu.executions.map(({ graph }) => graph['3']?.inputs['text']);

  it.each(['common', 'sd15'])(
    'is executed by the server that has it, and keeps no other row from the others (the workflow names %s)',
    async (common) => {
      await using at = await scene(common);
      const { own, a, b } = at;
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
    await using at = await scene();
    const { own, a, b } = at;
    const { json } = await own.ask('GET', `/deployment/${own.deployment}`);
    const { input_types } = json as { readonly input_types: readonly Record<string, unknown>[] };
    expect(input_types.find(({ input_id }) => input_id === '1.ckpt_name')?.['enum_options']).toEqual([
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
    await using at = await scene();
    const { own, a, b } = at;
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
