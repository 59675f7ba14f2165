// The Comfy API v2: whatever is lost, a run is executed once, or it is said; where nobody can know, it is never sent again.

import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { until } from '../stage/stage.ts';
import { openApiScene, type ApiScene as Scene } from './api-scene.ts';
import type { Loss } from './api-stand-in.ts';
import type { Mode } from './api-surfaces.ts';
import { colourOf } from './image-files.ts';
import { drawnColour } from './node-classes.ts';
import { COPIER, isDoubtful, isRunning, OwnService, portrait } from './own-service.ts';

const sceneOf = (mode: Mode, graph?: ReturnType<typeof portrait>, timing: object = {}): Promise<Scene> =>
  openApiScene(mode, graph, { spentMs: 100, provedMs: 200, ...timing });

type Point = {
  readonly name: string;
  readonly loses?: Loss;
  readonly crash?: (scene: Scene, id: string) => Promise<void>;
  /** How often it is executed on each surface, and with how many keys it is asked for. */
  readonly at: Partial<Readonly<Record<Mode, Outcome>>>;
};
type Outcome = {
  readonly times: number;
  readonly keys: number;
  readonly isDoubtful?: true;
  readonly says?: RegExp;
};

const SURE = { times: 1, keys: 1 };
/** The run may have been executed, and the contract leaves no proof. */
const DOUBTFUL = { ...SURE, isDoubtful: true } as const;
const NEVER_MADE = { ...DOUBTFUL, times: 0 };
const AGAIN = /which it may have been given already: it is sent again/;
const everywhere = (outcome: Outcome): Point['at'] => ({
  deployment: outcome,
  'old-deployment': outcome,
  cloud: outcome,
  proxy: outcome,
});

const POINTS: readonly Point[] = [
  { name: 'nothing', at: everywhere(SURE) },
  {
    name: 'our service dies while it executes',
    crash: async ({ own }, id) => {
      await own.until(id, isRunning);
      await own.close();
      await own.open();
    },
    at: everywhere(SURE),
  },
  {
    name: 'its process starts again and has forgotten keys and jobs',
    crash: async ({ own, api }, id) => {
      await own.until(id, isRunning);
      api.forget();
      await own.close();
      await own.open();
    },
    at: { proxy: SURE },
  },
  {
    name: 'the answer is lost',
    loses: 'the answer',
    at: { deployment: SURE, 'old-deployment': DOUBTFUL, cloud: DOUBTFUL, proxy: SURE },
  },
  {
    name: 'the answer is lost, and our service dies',
    loses: 'the answer',
    crash: async ({ own, api }) => {
      await until(() => api.executions.length === 2, 'it is executed');
      await own.close();
      await own.open();
    },
    at: { deployment: SURE, 'old-deployment': DOUBTFUL, cloud: DOUBTFUL, proxy: SURE },
  },
  {
    name: 'the request is lost',
    loses: 'everything',
    at: everywhere({ ...SURE, says: AGAIN }),
  },
  {
    name: 'the request is lost after its key was used',
    loses: 'the request',
    at: {
      deployment: { times: 1, keys: 2, says: /its key is used up: it is sent anew/ },
      'old-deployment': NEVER_MADE,
      cloud: NEVER_MADE,
      proxy: NEVER_MADE,
    },
  },
  {
    name: 'the job is executed and never remembered',
    loses: 'its memory',
    at: { proxy: DOUBTFUL },
  },
  {
    name: 'its process dies when it hands the job on, and has forgotten keys and jobs',
    loses: 'its memory',
    crash: async ({ gpu, api }) => {
      await until(() => gpu.executions.length === 2, 'it is executed');
      api.forget();
    },
    at: { proxy: DOUBTFUL },
  },
  {
    name: 'ComfyUI dies while it executes, so that the job is expired',
    crash: async ({ own, gpu }, id) => {
      await own.until(id, isRunning);
      await gpu.kill();
      await gpu.start();
    },
    at: { proxy: { times: 2, keys: 2, says: /it is executed again/ } },
  },
  {
    name: 'the platform gives the job up while it executes',
    crash: async ({ own, api }, id) => {
      await own.until(id, isRunning);
      api.hosted.expire(api.executions.at(-1)?.prompt_id ?? '');
    },
    at: { deployment: DOUBTFUL, 'old-deployment': DOUBTFUL, cloud: DOUBTFUL },
  },
  {
    name: 'the job is deleted while it executes',
    crash: async ({ own, api }, id) => {
      await own.until(id, isRunning);
      api.hosted.purge(api.executions.at(-1)?.prompt_id ?? '');
    },
    at: { deployment: DOUBTFUL, 'old-deployment': DOUBTFUL, cloud: DOUBTFUL },
  },
];

describe('a run is bought once', () => {
  const cases = POINTS.flatMap(({ at, ...point }) =>
    Object.entries(at).map(([mode, outcome]) => ({ ...point, mode: mode as Mode, outcome })),
  );
  it.each(cases)('$name ($mode)', async ({ loses, crash, mode, outcome }) => {
    const scene = await sceneOf(mode);
    const { gpu, api, own } = scene;
    const tick = setInterval(() => gpu.wake(), 50);
    // A first run, so that the memory after the crash goes back to before the second one.
    await own.until(await own.queue({})).finally(() => clearInterval(tick));
    const before = new Set(api.asked);
    api.loses = loses;
    const id = await own.queue({ prompt: 'an owl', '3.seed': 7 });
    await crash?.(scene, id);
    const { isDoubtful: isLost = false, times, keys, says } = outcome;
    // Each execution sleeps until it is woken.
    const waking = setInterval(() => isLost || gpu.wake(), 50);
    const run = await own.until(id, isLost ? isDoubtful : undefined).finally(() => clearInterval(waking));
    const colour = isLost ? undefined : colourOf(await own.picture(run));
    expect([run.status, colour]).toEqual(
      isLost ? ['timeout', undefined] : ['success', drawnColour('an owl', 7)],
    );
    const keysSent = api.asked.filter((key) => !before.has(key));
    expect([...new Set(keysSent)]).toEqual([1, 2].slice(0, keys).map((at) => `rs-${id}-${at}`));
    expect(gpu.executions).toHaveLength(1 + times);
    expect(await own.log(id)).toMatch(isLost ? /it is not sent again/ : (says ?? /^goes to \S+$/));
  });

  it('and not repeated at a service that shows nothing of before, because it may have been started again', async () => {
    const { gpu, api, own } = await sceneOf('proxy');
    api.loses = 'its memory';
    const id = await own.queue({});
    await until(() => gpu.executions.length === 1, 'it is executed');
    api.forget();
    const run = await own.until(id, isDoubtful);
    // The first request was refused, because its label was a map.
    expect([run.status, api.asked.length, gpu.executions.length]).toEqual(['timeout', 2, 1]);
  });

  it('also if a gateway answers for the service ten times', async () => {
    const { gpu, api, own } = await sceneOf('cloud');
    api.loses = 'the answer';
    const id = await own.queue({});
    await until(() => gpu.executions.length === 1, 'it is executed');
    api.refuses = 502;
    await own.until(id, isDoubtful);
    expect(gpu.executions).toHaveLength(1);
    expect(await own.log(id)).toContain('answered 502');
  });

  it('and not sent while ComfyUI is down, because its key would be used', async () => {
    const { gpu, api, own } = await sceneOf('proxy', portrait());
    await gpu.kill();
    const id = await own.queue({});
    await own.until(id, ({ live_status }) => live_status?.includes('upstream_unreachable') === true);
    expect(api.asked).toEqual([]);
    await gpu.start();
    expect((await own.until(id)).status).toBe('success');
    expect(gpu.executions).toHaveLength(1);
  });
});

const MODES = ['deployment', 'cloud', 'proxy'] as const;

it.each(MODES)('a picture of a row is an asset there, which the workflow names (%s)', async (mode) => {
  const { own } = await sceneOf(mode, portrait());
  const picture = await own.picture(await own.until(await own.queue({ prompt: 'an owl' })));
  await own.add([], COPIER);
  const run = await own.until(await own.queue({ photo: await own.upload(picture) }));
  expect(run.status).toBe('success');
  expect(colourOf(await own.picture(run))).toBe(colourOf(picture));
});

it.each([
  ['the network of the service', ({ api }: Scene) => `${api.url}/store`, 'success', /^goes to \S+$/],
  ['elsewhere', () => 'http://169.254.169.254/store', 'failed', /169\.254\.169\.254/],
])('files are in a store, in %s', async (_, storeOf, status, says) => {
  const scene = await sceneOf('proxy', portrait(), { pollMs: 2 });
  const { api, own } = scene;
  api.store = storeOf(scene);
  const run = await own.until(await own.queue({ prompt: 'an owl' }));
  expect([run.status, await own.log(run.id)]).toEqual([status, expect.stringMatching(says)]);
});

it.each(MODES)('a job with odd facts keeps no other one waiting, and ends (%s)', async (mode) => {
  const { own, api } = await sceneOf(mode, portrait());
  api.alters = (job) => ({ ...job, error: 'none', started_at: 7, outputs: [{ node_id: '9', name: null }] });
  const id = await own.queue({});
  expect((await own.until(id)).status).toBe('failed');
  expect(await own.log(id)).toContain('outputs that cannot be read');
  api.alters = (job) => (String(job['metadata']).includes(id) ? { ...job, status: 7 } : job);
  expect((await own.until(await own.queue({}))).status).toBe('success');
});

describe('a run that cannot be sent', () => {
  it('pauses those that follow while no credits are left, and is sent when there are some', async () => {
    const { api, own, gpu } = await sceneOf('cloud', portrait());
    api.refuses = 402;
    const id = await own.queue({ prompt: 'an owl' });
    await own.until(id, ({ live_status }) => live_status?.includes('402') === true);
    const next = await own.ask('POST', '/run/deployment/queue', {
      deployment_id: own.deployment,
      inputs: {},
    });
    expect([next.status, JSON.stringify(next.json)]).toEqual([
      403,
      expect.stringContaining('insufficient_credits'),
    ]);
    expect(gpu.executions).toHaveLength(0);
  });

  it('leaves its place to others while it is unknown whether it is there', async () => {
    const { api, own, gpu } = await sceneOf('proxy', portrait(), { spentMs: 3_600_000 });
    await own.until(await own.queue({ prompt: 'the first' }));
    for (const prompt of ['one', 'two', 'three']) {
      api.loses = 'the request';
      const id = await own.queue({ prompt });
      await own.until(id, ({ live_status }) => live_status?.includes('has used the key') === true);
    }
    expect((await own.until(await own.queue({ prompt: 'the last' }))).status).toBe('success');
    expect(gpu.executions).toHaveLength(2);
  });

  it('waits as long as it is told', async () => {
    const { api, own, gpu } = await sceneOf('proxy', portrait());
    api.refuses = 429;
    const id = await own.queue({ prompt: 'an owl' });
    await own.until(id, ({ live_status }) => live_status?.includes('429') === true);
    api.refuses = undefined;
    expect((await own.until(id)).status).toBe('success');
    expect(gpu.executions).toHaveLength(1);
  });

  it('fails with what the node says', async () => {
    const graph = portrait();
    graph['5'] = {
      class_type: 'Fail',
      inputs: { image: ['3', 0], message: 'Allocation on device', exception_type: 'torch.OutOfMemoryError' },
    };
    const scene = await sceneOf('proxy', graph);
    const id = await scene.own.queue({});
    expect((await scene.own.until(id)).status).toBe('failed');
    expect(await scene.own.log(id)).toMatch(/Allocation on device \(node 5, Fail\)$/m);
  });

  it('is cancelled there too', async () => {
    const { own, api, gpu } = await sceneOf('proxy');
    const id = await own.queue({});
    await own.until(id, isRunning);
    const ended = once(gpu, 'ended');
    await own.ask('POST', `/run/${id}/cancel`);
    await api.cancelled.promise;
    gpu.wake();
    await ended;
    expect(gpu.executions.map(({ end }) => end)).toEqual(['interrupted']);
  });

  it('is cancelled there too while another one is looked for, which may have been sent and says so', async () => {
    const { own, api } = await sceneOf('cloud', portrait({ seconds: 3_600 }), { lateMs: 3_600_000 });
    const id = await own.queue({ prompt: 'one' });
    await own.until(id, isRunning);
    api.loses = 'everything';
    const secondRun = await own.queue({ prompt: 'two' });
    await until(() => api.asked.length === 2, 'the other one was sent');
    await own.until(
      secondRun,
      ({ live_status }) => live_status?.endsWith('has not said yet whether it has this run') === true,
    );
    await own.ask('POST', `/run/${id}/cancel`);
    await api.cancelled.promise;
    expect((await own.run(id)).status).toBe('cancelled');
  });
});

it('a run that was cancelled while its request was under way stays so, whatever the answer says', async () => {
  const { own, api } = await sceneOf('cloud', portrait(), { spentMs: 0, lateMs: 0 });
  await own.until(await own.queue({ prompt: 'before' }));
  const { length: before } = api.asked;
  api.loses = 'the request';
  const id = await own.queue({ prompt: 'one' });
  const { promise, resolve } = Promise.withResolvers<void>();
  await until(() => api.asked.length === before + 1, 'its key is used');
  api.answersAfter = promise;
  await until(() => api.asked.length === before + 2, 'it is sent again');
  await own.ask('POST', `/run/${id}/cancel`);
  const { ended_at } = await own.run(id);
  await own.queue({ prompt: 'two' });
  resolve();
  await until(() => api.asked.length === before + 3, 'the next one is sent');
  expect(await own.run(id)).toMatchObject({ status: 'cancelled', ended_at });
});

it.each(MODES)('a request on the wire is answered before our service stops (%s)', async (mode) => {
  const { own, api } = await sceneOf(mode, portrait());
  await own.until(await own.queue({ prompt: 'before' }));
  const { length: before } = api.asked;
  const { promise, resolve } = Promise.withResolvers<void>();
  api.answersAfter = promise;
  const id = await own.queue({ prompt: 'an owl' });
  const later = await own.queue({ prompt: 'later' });
  await until(() => api.asked.length === before + 1, 'the request is there');
  const closed = own.close();
  setTimeout(resolve, 200);
  await closed;
  expect(api.asked).toHaveLength(before + 1);
  await own.open();
  expect([(await own.until(id)).status, (await own.until(later)).status]).toEqual(['success', 'success']);
  // The form of the label is found anew.
  expect(new Set(api.asked.slice(before)).size).toBe(2);
});

/** Two services, one of which executes a run. */
async function runAtOneOfTwo(mode: Mode) {
  const [first, second] = [await sceneOf(mode), await sceneOf(mode)];
  const own = await OwnService.of(
    [first, second].map(({ api: { url } }) => ({ url, kind: 'comfy-api' })),
    portrait({ seconds: 3_600 }),
    { pollOnlyMs: 20 },
  );
  const id = await own.queue({});
  await own.until(id, isRunning);
  const [left, next] = first.gpu.executions.length === 1 ? [first, second] : [second, first];
  return { own, id, left, next };
}

it('a run that was bought at a service without lists stays there, however long that is away', async () => {
  const { own, id, left, next } = await runAtOneOfTwo('cloud');
  left.api.isAway = true;
  // A run at another kind of service would move meanwhile.
  await until(() => left.api.unanswered > 30, 'it is asked for long');
  left.api.isAway = false;
  left.gpu.wake();
  expect((await own.until(id)).status).toBe('success');
  expect(next.gpu.executions).toEqual([]);
});

it.each([
  ['', false],
  [', also if ours was restarted meanwhile', true],
])('a run that moved is stopped at the service that it left%s', async (_, isRestarted) => {
  const { own, id, left, next } = await runAtOneOfTwo('proxy');
  left.api.isAway = true;
  await until(() => next.gpu.executions.length === 1, 'it is executed elsewhere');
  if (isRestarted) await own.close();
  if (isRestarted) await own.open();
  const { unanswered } = left.api;
  await until(() => left.api.unanswered > unanswered + 2, 'it is looked for there');
  left.api.isAway = false;
  await left.api.cancelled.promise;
  next.gpu.wake();
  expect((await own.until(id)).status).toBe('success');
  expect(await own.log(id)).toContain('goes to another server');
});
