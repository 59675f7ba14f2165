// The published contract of the Comfy API v2, held against our backend: ends, labels, lists, refusals, limits.

import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { until } from '../stage/stage.ts';
import { openApiScene, type ApiScene } from './api-scene.ts';
import { Refused } from './api-shapes.ts';
import type { ApiStandIn, Asked } from './api-stand-in.ts';
import type { Mode } from './api-surfaces.ts';
import { colourOf } from './image-files.ts';
import { drawnColour } from './node-classes.ts';
import { COPIER, isDoubtful, isRunning, OwnService, portrait, type Run } from './own-service.ts';

const MODES = ['deployment', 'cloud', 'proxy'] as const;
const TIMING = { spentMs: 100, provedMs: 200 };

const sceneOf = (mode: Mode, seconds = 0, timing: object = {}, workers = 1): Promise<ApiScene> =>
  openApiScene(mode, portrait({ seconds }), { ...TIMING, ...timing }, workers);

const isList = ({ method, path }: Asked): boolean => method === 'GET' && path === '/api/v2/jobs';
const isLook = ({ method, path }: Asked): boolean =>
  method === 'GET' && /^\/api\/v2\/jobs\/[^/]+$/.test(path);

/** The colour of its picture. */
async function drawn(own: OwnService, run: Run): Promise<number> {
  expect(run.status).toBe('success');
  return colourOf(await own.picture(run));
}
const OWL = drawnColour('an owl', 1);

describe('an end', () => {
  it.each(MODES)('that a list shows first is read from the job, which has the outputs (%s)', async (mode) => {
    const { own, gpu, api } = await sceneOf(mode, 3_600);
    const id = await own.queue({ prompt: 'an owl' });
    await own.until(id, isRunning);
    await own.close();
    gpu.wake();
    await until(() => gpu.executions[0]?.end === 'success', 'it has ended');
    api.requests.length = 0;
    await own.open();
    expect(await drawn(own, await own.until(id))).toBe(OWL);
    // A service that is opened again reads the list first.
    expect(api.requests.some(isList)).toBe(true);
  });

  it.each(MODES)('without outputs is asked for once more, and these are delivered (%s)', async (mode) => {
    const { own, api } = await sceneOf(mode);
    let ends = 0;
    api.alters = (job) => {
      if (job['status'] !== 'succeeded' || !('outputs' in job)) return job;
      ends += 1;
      return ends === 1 ? { ...job, outputs: [] } : job;
    };
    expect(await drawn(own, await own.until(await own.queue({ prompt: 'an owl' })))).toBe(OWL);
  });

  it('without outputs ends once it was asked for twice, and the run has made nothing', async () => {
    const { own, api } = await sceneOf('deployment');
    let ends = 0;
    api.alters = (job) => {
      if (job['status'] === 'succeeded' && 'outputs' in job) ends += 1;
      const { outputs: _, ...withoutOutputs } = job;
      return withoutOutputs;
    };
    const run = await own.until(await own.queue({}));
    expect([run.status, run.outputs, ends]).toEqual(['success', [], 2]);
  });

  it('with a status that no release knows is not waited for without end', async () => {
    const { own, api, gpu } = await sceneOf('deployment', 0, { moveAfterMs: 100 });
    api.alters = (job) => (job['status'] === 'succeeded' ? { ...job, status: 'archived' } : job);
    const id = await own.queue({});
    await own.until(id, isDoubtful);
    expect(await own.log(id)).toMatch(/does not report the state of this run: it has the status archived/);
    expect(gpu.executions).toHaveLength(1);
  });

  it.each([0.5, 1e300, -7, 'soon', null])('after %s ms is stored as whole numbers', async (execution_ms) => {
    const { own, api } = await sceneOf('deployment');
    api.alters = (job) => ({ ...job, started_at: null, completed_at: null, metrics: { execution_ms } });
    const run = await own.until(await own.queue({}));
    expect([run.status, Number.isFinite(run.run_duration)]).toEqual(['success', true]);
  });

  it.each([
    ['1969-12-31T23:59:59Z', '2026-01-01T00:00:00.0005Z'],
    ['2026-01-01T00:00:00Z', '1970-01-01T00:00:00Z'],
    ['+275760-09-13T00:00:00Z', '-271821-04-20T00:00:00Z'],
    ['then', 'now'],
  ])('from %s to %s is stored as whole numbers', async (started_at, completed_at) => {
    const { own, api } = await sceneOf('deployment');
    api.alters = (job) => ({ ...job, started_at, completed_at, metrics: null });
    const run = await own.until(await own.queue({}));
    expect([run.status, Number.isFinite(run.run_duration)]).toEqual(['success', true]);
  });
});

/** A job whose answer is lost, by a service that dies before it has looked for it. */
async function lostAnswer(api: ApiStandIn, own: OwnService): Promise<string> {
  api.loses = 'the answer';
  api.answersInstead = ({ method }) =>
    method === 'GET' && api.asked.length > 0 ? { status: 503, body: {} } : undefined;
  const id = await own.queue({ prompt: 'an owl' });
  await until(() => api.executions.length === 1, 'it is executed');
  await own.close();
  api.answersInstead = () => undefined;
  return id;
}

describe('a label', () => {
  it.each<[Mode, unknown, number]>([
    ['deployment', { runsheet: 'ID', 'runsheet-try': '1' }, 1],
    ['old-deployment', undefined, 1],
    ['cloud', undefined, 2],
    ['proxy', 'rs-ID-1', 2],
  ])('is sent to a %s as it takes it: %s', async (mode, label, requests) => {
    const { own, api } = await sceneOf(mode);
    const id = await own.queue({});
    await own.until(id);
    const [[job] = []] = await api.jobs.list();
    expect(JSON.stringify(job?.metadata)?.replace(id, 'ID')).toEqual(JSON.stringify(label));
    // Each form that is refused costs one request, and only the first time.
    await own.until(await own.queue({}));
    expect(api.asked).toHaveLength(requests + 1);
  });

  it('finds its job behind a thousand newer ones in one exact request', async () => {
    const { own, api, gpu } = await sceneOf('deployment', 3_600);
    const id = await lostAnswer(api, own);
    api.hosted.rules.depth = 1_000;
    for (let otherJobs = 0; otherJobs < 1_000; otherJobs += 1)
      await api.hosted.create(portrait(), { runsheet: `other-${otherJobs}` });
    const { length: askedBefore } = api.asked;
    api.requests.length = 0;
    await own.open();
    await own.until(id, isRunning);
    gpu.wake();
    expect(await drawn(own, await own.until(id))).toBe(OWL);
    expect(api.asked).toHaveLength(askedBefore);
    const exact = api.requests.filter(({ query }) => query.get('metadata[runsheet]') === id);
    expect(exact).toHaveLength(1);
  });

  it('finds its job on a later page', async () => {
    const { own, api, gpu } = await sceneOf('deployment', 3_600);
    const id = await lostAnswer(api, own);
    api.hosted.rules.depth = 1_000;
    // More tries of the run than a page has.
    for (let tries = 0; tries < 200; tries += 1)
      await api.hosted.create(portrait(), { runsheet: id, 'runsheet-try': String(100 + tries) });
    await own.open();
    await own.until(id, isRunning);
    gpu.wake();
    expect(await drawn(own, await own.until(id))).toBe(OWL);
    expect(api.requests.some(({ query }) => query.has('cursor'))).toBe(true);
  });

  it('that a gateway does not keep makes nobody read all of its pages', async () => {
    const { own, api } = await sceneOf('old-deployment');
    await own.until(await own.queue({}));
    api.hosted.rules.depth = 1_000;
    for (let otherJobs = 0; otherJobs < 500; otherJobs += 1) await api.hosted.create(portrait(), undefined);
    api.loses = 'the answer';
    await own.until(await own.queue({}), isDoubtful);
    expect(api.requests.filter(({ query }) => query.has('cursor'))).toEqual([]);
  });
});

describe('a refusal of every row', () => {
  const REFUSALS: readonly Refused[] = [
    new Refused(401, 'unauthorized'),
    new Refused(402, 'insufficient_credits'),
    new Refused(403, 'forbidden'),
    new Refused(404, 'not_found'),
    new Refused(422, 'deployment_stopped'),
    new Refused(422, 'workspace_suspended'),
  ];

  it.each(REFUSALS.map((refused) => [refused.code, refused] as const))(
    'fails none, pauses those that follow, and is over when it is corrected (%s)',
    async (code, { status, body }) => {
      const { own, api } = await sceneOf('deployment');
      const answer = { status, body, headers: { 'retry-after': '1' } };
      api.answersInstead = ({ method }) => (method === 'POST' ? answer : undefined);
      const id = await own.queue({ prompt: 'an owl' });
      await own.until(
        id,
        ({ live_status }) => live_status?.includes(`takes no runs: answered ${status}`) === true,
      );
      const next = await own.ask('POST', '/run/deployment/queue', {
        deployment_id: own.deployment,
        inputs: {},
      });
      expect([next.status, JSON.stringify(next.json)]).toEqual([403, expect.stringContaining(code)]);
      api.answersInstead = () => undefined;
      expect(await drawn(own, await own.until(id))).toBe(OWL);
      expect(await own.queue({})).toBeDefined();
    },
  );

  it.each(['deployment', 'proxy'] as const)(
    'that begins while runs execute pauses those that follow, and loses none (%s)',
    async (mode) => {
      const { own, api, gpu } = await sceneOf(mode, 3_600, { moveAfterMs: 100 });
      const id = await own.queue({ prompt: 'an owl' });
      await own.until(id, isRunning);
      api.key = 'another';
      const queue = () =>
        own.ask('POST', '/run/deployment/queue', { deployment_id: own.deployment, inputs: {} });
      const isPaused = async (): Promise<boolean> => {
        const { status, json } = await queue();
        return status === 403 && JSON.stringify(json).includes('401 unauthorized');
      };
      await until(isPaused, 'the batch is held up');
      expect((await own.run(id)).ended_at).toBe(null);
      api.key = undefined;
      const waking = setInterval(() => gpu.wake(), 50);
      expect(await drawn(own, await own.until(id).finally(() => clearInterval(waking)))).toBe(OWL);
      await until(async () => (await queue()).status === 200, 'it goes on');
    },
  );

  it('is said to all that come at the same time as the first, which waits alone', async () => {
    const { own, api } = await sceneOf('deployment');
    await own.close();
    await own.open();
    api.hosted.rules.state = 'stopped';
    const queue = () =>
      own.ask('POST', '/run/deployment/queue', { deployment_id: own.deployment, inputs: {} });
    await until(
      async () => (await own.ask('GET', `/deployment/${own.deployment}`)).status === 200,
      'it is there',
    );
    const answers = await Promise.all(Array.from({ length: 5 }, queue));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 403, 403, 403, 403]);
  });

  it('is asked about by one run, not by each that waits', async () => {
    const { own, api } = await sceneOf('deployment', 0, {}, 5);
    await own.until(await own.queue({}));
    api.hosted.rules.state = 'stopped';
    const ids = await Promise.all(['one', 'two'].map((prompt) => own.queue({ prompt })));
    await own.until(ids[0] ?? '', ({ live_status }) => live_status?.includes('deployment_stopped') === true);
    await own.until(ids[1] ?? '', ({ live_status }) => live_status === null);
    expect(api.asked).toHaveLength(2);
  });

  it('that ends by itself is waited for, and holds up the batch only after a while', async () => {
    const { own, api } = await sceneOf('deployment', 0, { startingMs: 2_500 });
    api.hosted.rules.state = 'not-ready';
    const id = await own.queue({ prompt: 'an owl' });
    await own.until(id, ({ live_status }) => live_status?.includes('deployment_not_ready') === true);
    const queue = () =>
      own.ask('POST', '/run/deployment/queue', { deployment_id: own.deployment, inputs: {} });
    expect((await queue()).status).toBe(200);
    await until(async () => (await queue()).status === 403, 'the batch is held up');
    api.hosted.rules.state = 'ready';
    expect(await drawn(own, await own.until(id))).toBe(OWL);
    expect((await queue()).status).toBe(200);
  });

  it('of files fails no row either', async () => {
    const { own, api } = await sceneOf('deployment', 0, { blockedMs: 20 });
    const picture = await own.picture(await own.until(await own.queue({ prompt: 'an owl' })));
    await own.add([], COPIER);
    const { body } = new Refused(401, 'unauthorized');
    api.answersInstead = ({ path }) => (path === '/api/v2/assets' ? { status: 401, body } : undefined);
    const id = await own.queue({ photo: await own.upload(picture) });
    await until(
      () => api.requests.filter(({ path }) => path === '/api/v2/assets').length > 12,
      'it is tried',
    );
    expect((await own.run(id)).ended_at).toBe(null);
    api.answersInstead = () => undefined;
    expect(await drawn(own, await own.until(id))).toBe(OWL);
  });

  it('at the start is said, and the server is not kept', async () => {
    const { own, api } = await sceneOf('deployment');
    api.key = 'another';
    const fresh = await OwnService.of([], portrait());
    await expect(fresh.add([{ url: api.url, kind: 'comfy-api' }], portrait())).rejects.toThrow(
      /401 unauthorized/,
    );
    expect(own.deployment).not.toBe('');
  });
});

describe('a limit', () => {
  it('of questions is kept, and no run is lost by it', async () => {
    const { own, api, gpu } = await sceneOf('cloud', 3_600);
    const id = await own.queue({ prompt: 'an owl' });
    await own.until(id, isRunning);
    const { body } = new Refused(429, 'rate_limited');
    const times: number[] = [];
    api.answersInstead = (request) => {
      if (!isLook(request) || times.length >= 3) return undefined;
      times.push(Date.now());
      return { status: 429, body, headers: { 'retry-after': '1' } };
    };
    await until(() => times.length === 3, 'it is limited');
    const [first = 0, second = 0, third = 0] = times;
    expect(Math.min(second - first, third - second)).toBeGreaterThan(950);
    gpu.wake();
    expect(await drawn(own, await own.until(id))).toBe(OWL);
  });

  it('of jobs at a time is what the deployment takes', async () => {
    const { own, api, gpus } = await sceneOf('deployment', 3_600, {}, 10);
    const ids = await Promise.all(Array.from({ length: 30 }, (_, at) => own.queue({ '3.seed': at })));
    await until(() => api.hosted.running === 10, 'ten are executed at the same time');
    const waking = setInterval(() => gpus.map((gpu) => gpu.wake()), 50);
    for (const id of ids) expect((await own.until(id)).status).toBe('success');
    clearInterval(waking);
    expect(api.executions).toHaveLength(30);
  });

  it('of jobs at a time is what the user says, also after a restart and with another number', async () => {
    const { own, api, gpus } = await sceneOf('deployment', 3_600, {}, 10);
    const graph = portrait({ seconds: 3_600 });
    const addWithSeats = (seats: number) => own.add([{ url: api.url, kind: 'comfy-api', seats }], graph);
    await addWithSeats(3);
    const ids = await Promise.all(Array.from({ length: 12 }, (_, at) => own.queue({ '3.seed': at })));
    await until(() => api.hosted.running === 3, 'three are executed');
    await own.close();
    await own.open();
    await own.until(ids[0] ?? '', isRunning);
    expect(api.executions).toHaveLength(3);
    await addWithSeats(5);
    await until(() => api.hosted.running === 5, 'five are executed');
    const { json } = await own.ask('GET', `/deployment/${own.deployment}`);
    expect(json).toMatchObject({ concurrency_limit: 5 });
    const waking = setInterval(() => gpus.map((gpu) => gpu.wake()), 50);
    for (const id of ids) expect((await own.until(id)).status).toBe('success');
    clearInterval(waking);
    expect(api.executions).toHaveLength(12);
  });

  it('of jobs that wait stops the growth, and each is executed once', async () => {
    const { own, api } = await sceneOf('deployment', 0.2, {}, 3);
    api.hosted.rules.depth = 2;
    const ids = await Promise.all(Array.from({ length: 20 }, (_, at) => own.queue({ '3.seed': at })));
    for (const id of ids) expect((await own.until(id)).status).toBe('success');
    expect(api.executions).toHaveLength(20);
    expect(new Set(api.asked).size).toBe(20);
  });
});

it('a database holds whole numbers only', async () => {
  const { own, api } = await sceneOf('deployment');
  api.alters = (job) => ({ ...job, metrics: { execution_ms: 1.5 }, started_at: null });
  await own.until(await own.queue({}));
  await own.close();
  const database = new DatabaseSync(own.files.replace(/\.files$/, ''));
  const [row] = database.prepare('SELECT startedMs, endedMs FROM run').all();
  database.close();
  expect(Object.values(row ?? {}).every(Number.isSafeInteger)).toBe(true);
});
