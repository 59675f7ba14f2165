// Faults of a single run or a single server, while the others continue.

import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { until } from '../stage/stage.ts';
import { openApiScene } from './api-scene.ts';
import { colourOf, pictureOf } from './image-files.ts';
import { COPIER, isDoubtful, isRunning, OwnService, openStandIn, portrait, type Run } from './own-service.ts';
import type { ComfyStandIn } from './stand-in.ts';

it('a server that never answers a request keeps one run, and gets no other one', async () => {
  const silent = await openStandIn();
  const healthy = await openStandIn();
  let reads = 0;
  silent.on('faulty', () => (reads += 1));
  for (let time = 0; time < 20; time += 1)
    silent.answerNext('POST /prompt', { done: false, with: 'silence' });
  const own = await OwnService.of([silent, healthy]);
  const ids = await Promise.all(['1', '2', '3', '4', '5', '6'].map((prompt) => own.queue({ prompt })));
  const ended = async (): Promise<number> =>
    (await Promise.all(ids.map((id) => own.run(id)))).filter(({ status }) => status === 'success').length;
  await until(async () => (await ended()) === ids.length - 1, 'all others have ended');
  expect([reads, healthy.executions.length]).toEqual([1, ids.length - 1]);
});

describe('files that a server does not take', () => {
  const refuses = (gpu: ComfyStandIn): void => {
    gpu.alters = ({ url = '' }, truth) =>
      url === '/upload/image' || (url.startsWith('/view') && url.includes('type=input'))
        ? { status: 502, body: Buffer.from('Bad Gateway') }
        : truth;
  };

  it('keep no other run from it, and their run fails after ten attempts', async () => {
    const gpu = await openStandIn();
    refuses(gpu);
    const own = await OwnService.of([gpu], portrait(), { pollMs: 2 });
    const { deployment: plain } = own;
    await own.add([], COPIER);
    const photo = await own.upload(pictureOf(0x07_07_07));
    const stuck = [await own.queue({ photo }), await own.queue({ photo }), await own.queue({ photo })];
    await until(async () => (await own.run(stuck[2] ?? '')).live_status !== null, 'the last one waits');
    own.deployment = plain;
    expect((await own.until(await own.queue({}))).status).toBe('success');
    for (const id of stuck) {
      expect((await own.until(id)).status).toBe('failed');
      expect(await own.log(id)).toMatch(/cannot be put on \S+: .*502: Bad Gateway \(10 attempts\)/);
    }
  });

  it('are put on another server, which executes the run', async () => {
    const full = await openStandIn();
    const healthy = await openStandIn();
    refuses(full);
    const own = await OwnService.of([full, healthy], COPIER, { pollMs: 2, moveAfterMs: 3_600_000 });
    const photo = await own.upload(pictureOf(0x07_07_07));
    const ids = await Promise.all(Array.from({ length: 6 }, () => own.queue({ photo })));
    for (const id of ids) {
      const run = await own.until(id);
      expect([run.status, colourOf(await own.picture(run))]).toEqual(['success', 0x07_07_07]);
    }
    expect([full.executions.length, healthy.executions.length]).toEqual([0, 6]);
  });
});

it('a run of which a ComfyUI has no readable history ends by what its websocket said, and others go on', async () => {
  const gpu = await openStandIn();
  let wrong = '';
  gpu.alters = ({ url = '' }, truth) =>
    url === `/history/${wrong}` ? { status: 500, body: Buffer.from('500') } : truth;
  const own = await OwnService.of([gpu], portrait({ seconds: 3_600 }));
  wrong = await own.queue({ prompt: 'one' });
  await own.until(wrong, isRunning);
  const next = await own.queue({ prompt: 'two' });
  gpu.wake();
  expect((await own.until(wrong)).status).toBe('success');
  await own.until(next, isRunning);
  gpu.wake();
  expect((await own.until(next)).status).toBe('success');
});

describe('a job of a Comfy API', () => {
  it.each([
    ['proxy', 'failed', (run: Run) => run.ended_at !== null],
    ['deployment', 'timeout', isDoubtful],
    ['cloud', 'timeout', isDoubtful],
  ] as const)('that it never shows keeps no other one from going on, and ends (%s)', async (...args) => {
    const [mode, status, isOver] = args;
    const { own, api, gpu } = await openApiScene(mode, undefined, { moveAfterMs: 300 }, 1);
    const wrong = await own.queue({ prompt: 'one' });
    await own.until(wrong, isRunning);
    const [{ prompt_id: wrongJob } = { prompt_id: '' }] = api.executions;
    api.alters = (job) => {
      if (job['id'] === wrongJob) throw new Error('it cannot be shown');
      return job;
    };
    gpu.wake();
    for (const prompt of ['two', 'three', 'four']) {
      const id = await own.queue({ prompt });
      await own.until(id, isRunning);
      gpu.wake();
      expect((await own.until(id)).status).toBe('success');
    }
    const run = await own.until(wrong, isOver);
    expect([run.status, await own.log(wrong)]).toEqual([
      status,
      expect.stringMatching(/does not report the state of this run: .*503/),
    ]);
    expect(gpu.executions).toHaveLength(4);
  });

  it('of which it knows nothing is given up as long after it was sent, also if the service was restarted', async () => {
    const { own, api, gpu } = await openApiScene('proxy', undefined, { spentMs: 3_600_000 });
    const before = await own.queue({ prompt: 'before' });
    await own.until(before, isRunning);
    gpu.wake();
    await own.until(before);
    api.loses = 'the request';
    const id = await own.queue({ prompt: 'an owl' });
    await own.until(id, ({ live_status }) => live_status?.includes('has used the key') === true);
    await own.close();
    const database = new DatabaseSync(own.files.replace(/\.files$/, ''));
    // Simulates that the service had known nothing of the run for two hours.
    database.exec(
      `UPDATE run SET state = json_set(state, '$.unknownSinceMs', ${Date.now() - 7_200_000}) WHERE id = '${id}'`,
    );
    database.close();
    await own.open();
    await own.until(id, isDoubtful);
    expect(await own.log(id)).toContain('it is not sent again');
  });
});
