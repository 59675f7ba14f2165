// Every moment at which the service, the network or ComfyUI may die: what is known is continued, what is lost is executed again
// under the same run and said, and nothing else is executed twice.

import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { colourOf } from './image-files.ts';
import { drawnColour } from './node-classes.ts';
import { OwnService, portrait, openStandIn, isRunning, timesOf, openOwn } from './own-service.ts';
import { type ComfyStandIn } from './stand-in.ts';

type CrashScene = { readonly gpu: ComfyStandIn; readonly own: OwnService };
type Point = {
  readonly name: string;
  /** From the queued run to the moment at which everything works again; the run sleeps until `gpu.wake()`. */
  readonly crash: (scene: CrashScene, id: string) => Promise<void>;
  readonly times: number;
  /** How often it was executed in vain. */
  readonly lost?: number;
  readonly says: RegExp;
  readonly status?: string;
};

const reopened = async ({ own }: CrashScene): Promise<void> => {
  await own.close();
  await own.open();
};

const POINTS: readonly Point[] = [
  {
    name: 'the service dies while the run executes',
    crash: async (scene, id) => {
      await scene.own.until(id, isRunning);
      await reopened(scene);
      scene.gpu.wake();
    },
    times: 1,
    says: /^goes to \S+$/,
  },
  {
    name: 'the service dies, and the run ends before it is back',
    crash: async (scene, id) => {
      await scene.own.until(id, isRunning);
      await scene.own.close();
      const ended = once(scene.gpu, 'ended');
      scene.gpu.wake();
      await ended;
      await scene.own.open();
    },
    times: 1,
    says: /^goes to \S+$/,
  },
  {
    name: 'the answer to the POST is lost after the run was queued',
    crash: async ({ gpu, own }, id) => {
      await own.until(id, isRunning);
      gpu.wake();
    },
    times: 1,
    says: /^goes to \S+$/,
  },
  {
    name: 'ComfyUI dies while it executes the run',
    crash: async ({ gpu, own }, id) => {
      await own.until(id, isRunning);
      await gpu.kill();
      const begun = once(gpu, 'began');
      await gpu.start();
      await begun;
      gpu.wake();
    },
    times: 2,
    lost: 1,
    says: /stopped while it executed this run: it is executed again/,
  },
  {
    name: 'ComfyUI dies twice while it executes the run',
    crash: async ({ gpu, own }, id) => {
      const first = await own.until(id, isRunning);
      await gpu.kill();
      const begun = once(gpu, 'began');
      await gpu.start();
      await begun;
      await own.until(id, (run) => isRunning(run) && run.started_at !== first.started_at);
      await gpu.kill();
      await gpu.start();
    },
    times: 2,
    lost: 1,
    status: 'failed',
    says: /stopped twice while it executed this run/,
  },
  {
    name: 'somebody interrupts the run',
    crash: async ({ gpu, own }, id) => {
      await own.until(id, isRunning);
      await fetch(`${gpu.url}/interrupt`, { method: 'POST', body: JSON.stringify({ prompt_id: id }) });
      gpu.wake();
    },
    times: 1,
    status: 'cancelled',
    says: /another client interrupted it/,
  },
];

describe('a run is executed once', () => {
  it.each(POINTS)('$name', async ({ name, crash, times, lost, says, status = 'success' }) => {
    const { gpu, own } = await openOwn(portrait({ seconds: 3_600 }));
    if (name.startsWith('the answer to the POST')) gpu.answerNext('/prompt', { done: true, with: 'reset' });
    const inputs = { prompt: 'an owl', '3.seed': 7 };
    const id = await own.queue(inputs);
    await crash({ gpu, own }, id);
    const run = await own.until(id);
    const colour = status === 'success' ? colourOf(await own.picture(run)) : drawnColour('an owl', 7);
    expect([run.status, timesOf([gpu], id), colour]).toEqual([status, times, drawnColour('an owl', 7)]);
    expect(run.lost_executions).toBe(lost);
    expect((run.lost_duration ?? -1) >= 0).toBe(lost !== undefined);
    expect(await own.log(id)).toMatch(says);
  });

  it.each([
    ['not repeated', 'queued', 500],
    ['not repeated', 'queued', 'reset'],
    ['not repeated', 'queued', 'half'],
    ['repeated', 'not queued', 500],
    ['repeated', 'not queued', 'reset'],
  ] as const)('a POST is %s that was %s and answered by %s', async (_, done, how) => {
    const { gpu, own } = await openOwn();
    gpu.answerNext('/prompt', { done: done === 'queued', with: how });
    const id = await own.queue({ prompt: 'an owl' });
    expect((await own.until(id)).status).toBe('success');
    expect(timesOf([gpu], id)).toBe(1);
  });
});

describe('the picture of a run is its own', () => {
  it('also when prompts repeat and the files of ComfyUI are deleted', async () => {
    const { gpu, own } = await openOwn();
    const ids: string[] = [];
    for (const prompt of ['a fox', 'an owl', 'a fox', 'a fox']) {
      ids.push(await own.queue({ prompt }));
      await own.until(ids.at(-1) ?? '');
      rmSync(gpu.output, { recursive: true, force: true });
    }
    const colours = await Promise.all(ids.map(async (id) => colourOf(await own.picture(await own.run(id)))));
    const [fox, owl] = [drawnColour('a fox', 1), drawnColour('an owl', 1)];
    expect(colours).toEqual([fox, owl, fox, fox]);
  });

  it('with every digit of its seed', async () => {
    const { own } = await openOwn();
    const answer = await fetch(`${own.service.base}/run/deployment/queue`, {
      method: 'POST',
      headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
      body: `{"deployment_id":"${own.deployment}","inputs":{"3.seed":18446744073709551615}}`,
    });
    const { run_id } = (await answer.json()) as { readonly run_id: string };
    const run = await own.until(run_id);
    expect(colourOf(await own.picture(run))).toBe(drawnColour('a fox', '18446744073709551615'));
  });
});

describe('several servers', () => {
  it('share the runs, and those of one that does not answer move to another', async () => {
    const first = await openStandIn({
      device: 'cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync',
    });
    const second = await openStandIn();
    const own = await OwnService.of([first, second], portrait({ seconds: 3_600 }));
    const ids = [await own.queue({ prompt: 'one' }), await own.queue({ prompt: 'two' })];
    const runs = await Promise.all(ids.map((id) => own.until(id, isRunning)));
    expect(runs.map(({ gpu }) => gpu).toSorted()).toEqual(['CPU', 'RTX 4090']);
    const [moved, remaining] = runs[0]?.gpu === 'CPU' ? runs.toReversed() : runs;
    await first.kill();
    second.wake();
    await own.until(remaining?.id ?? '');
    await own.until(moved?.id ?? '', (run) => run.gpu === 'CPU' && isRunning(run));
    second.wake();
    expect(await own.until(moved?.id ?? '')).toMatchObject({ status: 'success', gpu: 'CPU' });
    expect(await own.log(moved?.id ?? '')).toContain('has not answered since');
  });

  it('do not touch what others have sent', async () => {
    const { gpu, own } = await openOwn();
    const foreignGraph = {
      '1': { class_type: 'EmptyImage', inputs: { width: 8, height: 8, batch_size: 1, color: 5 } },
      '2': { class_type: 'Sleep', inputs: { image: ['1', 0], seconds: 3_600, steps: 1 } },
      '3': { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: 'theirs' } },
    };
    const begun = once(gpu, 'began');
    await fetch(`${gpu.url}/prompt`, {
      method: 'POST',
      body: JSON.stringify({ prompt: foreignGraph, prompt_id: 'theirs' }),
    });
    await begun;
    const [stays, goes] = [await own.queue({ prompt: 'one' }), await own.queue({ prompt: 'two' })];
    await own.ask('POST', `/run/${goes}/cancel`);
    expect((await own.run(goes)).status).toBe('cancelled');
    gpu.wake();
    expect((await own.until(stays)).status).toBe('success');
    expect(gpu.executions.map(({ prompt_id, end }) => [prompt_id, end])).toEqual([
      ['theirs', 'success'],
      [stays, 'success'],
    ]);
  });
});

describe('a run that cannot be', () => {
  it('fails with what ComfyUI says, in words by which its kind is found', async () => {
    const gpu = await openStandIn();
    const graph = portrait();
    graph['5'] = {
      class_type: 'Fail',
      inputs: { image: ['3', 0], message: 'Allocation on device', exception_type: 'torch.OutOfMemoryError' },
    };
    const own = await OwnService.of([gpu], graph);
    const id = await own.queue({});
    expect((await own.until(id)).status).toBe('failed');
    expect(await own.log(id)).toMatch(/^torch\.OutOfMemoryError: Allocation on device \(node 5, Fail\)$/m);
  });

  it('has an unknown end if a paid service may have executed it, whatever cancels it then', async () => {
    const { gpu, own } = await openOwn(portrait({ draw: 'PaidDraw', seconds: 3_600 }));
    const id = await own.queue({});
    await own.until(id, isRunning);
    await gpu.kill();
    await gpu.start();
    await own.until(id, ({ status }) => status === 'timeout');
    expect((await own.ask('POST', `/run/${id}/cancel`)).status).toBe(200);
    const run = await own.run(id);
    expect([run.status, run.ended_at, timesOf([gpu], id)]).toEqual(['timeout', null, 1]);
    expect(await own.log(id)).toContain('paid service: it is not sent again');
  });
});
