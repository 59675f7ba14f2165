// The run service in front of stand-ins for Cog containers: breaks of the connection, containers that start, fail or are busy, and
// several of them.

import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { COG } from '../../src/run-service/executors/vendors/cog.ts';
import { OwnService } from '../comfy/own-service.ts';
import { until } from '../stage/stage.ts';
import { openCog, type Cog } from './cog.ts';

const TIMING = { pollOnlyMs: 20, lateMs: 60, settledMs: 60, moveAfterMs: 400, startingMs: 100 };
const LONGER_MS = 800;

beforeAll(() => void Object.assign(COG, { idleMs: 500 }));

const placed = (cog: Cog): object => ({
  servers: [{ url: cog.url, kind: 'cog' }],
  models: [{ vendor: 'cog', model: cog.url, name: 'painter' }],
});

async function driven() {
  const cog = await openCog();
  const own = await OwnService.of([], undefined, TIMING);
  await own.addAny(placed(cog));
  return { cog, own };
}

const running = (own: OwnService, id: string): Promise<void> =>
  until(async () => (await own.run(id)).status === 'running', 'it is seen to execute');

const statesOf = (cog: Cog): readonly string[] => cog.executions().map(({ state }) => state);

it('a run whose connection breaks is cancelled there, executed again, and its row says so', async () => {
  const { cog, own } = await driven();
  cog.setDuration(2_000);
  const id = await own.queue({ prompt: 'fox', seed: 7 });
  await running(own, id);
  cog.break();
  expect(await own.until(id)).toMatchObject({ status: 'success', lost_executions: 1 });
  expect([cog.posts(), statesOf(cog)]).toEqual([2, ['cancelled', 'succeeded']]);
  expect(await own.log(id)).toContain('stopped while it executed this run: it is executed again');
});

it('a run whose connection breaks twice fails', async () => {
  const { cog, own } = await driven();
  cog.setDuration(60_000);
  const id = await own.queue({ prompt: 'fox', seed: 7 });
  for (const times of [1, 2]) {
    await until(() => cog.executions().length === times, 'it executes there');
    await running(own, id);
    cog.break();
  }
  expect((await own.until(id)).status).toBe('failed');
  expect(statesOf(cog)).toEqual(['cancelled', 'cancelled']);
  expect(await own.log(id)).toContain('stopped twice while it executed this run');
});

it('a run is executed again once after the service was restarted', async () => {
  const { cog, own } = await driven();
  cog.setDuration(3_000);
  const id = await own.queue({ prompt: 'fox', seed: 7 });
  await running(own, id);
  await own.close();
  await own.open();
  expect(await own.until(id)).toMatchObject({ status: 'success', lost_executions: 1 });
  expect(statesOf(cog)).toEqual(['cancelled', 'succeeded']);
});

it('a prediction that goes on after its connection broke is never executed twice at the same time', async () => {
  const { cog, own } = await driven();
  cog.setParallel(2);
  cog.setDuration(3_000);
  cog.isDeaf = true;
  const id = await own.queue({ prompt: 'fox', seed: 7 });
  await running(own, id);
  cog.break();
  await until(() => cog.posts() > 1, 'it is asked for again');
  expect(cog.executions()).toHaveLength(1);
  expect((await own.until(id)).status).toBe('success');
  const [first, second] = cog.executions();
  expect(statesOf(cog)).toEqual(['cancelled', 'succeeded']);
  expect(second?.startedMs).toBeGreaterThanOrEqual(first?.endedMs ?? Infinity);
});

it('a run that is alone in a container with a free slot is not disturbed', async () => {
  const { cog, own } = await driven();
  cog.setParallel(2);
  cog.setDuration(2_000);
  const id = await own.queue({ prompt: 'fox', seed: 7 });
  expect((await own.until(id)).status).toBe('success');
  expect(statesOf(cog)).toEqual(['succeeded']);
  expect([cog.posts(), cog.questions > 0]).toEqual([1, true]);
});

it('a run whose answer is on its way for long is not executed again', async () => {
  const { cog, own } = await driven();
  cog.setParallel(2);
  cog.setDuration(100);
  cog.lateMs = 1_500;
  const id = await own.queue({ prompt: 'fox', seed: 7 });
  const run = await own.until(id);
  expect([run.status, statesOf(cog), run]).toEqual([
    'success',
    ['succeeded'],
    expect.not.objectContaining({ lost_executions: 1 }),
  ]);
  // Meanwhile, the service has asked whether the run still executes.
  expect([cog.posts(), cog.questions > 0]).toEqual([1, true]);
});

it('a run waits for a container that starts, and the reason is shown', async () => {
  const { cog, own } = await driven();
  cog.health = 'STARTING';
  const id = await own.queue({ prompt: 'fox', seed: 7 });
  await until(async () => (await own.run(id)).live_status?.includes('setup()') === true, 'it is said');
  cog.health = 'READY';
  expect((await own.until(id)).status).toBe('success');
  expect(cog.posts()).toBe(1);
});

it.each([
  ['SETUP_FAILED', 'its setup() failed; it said: no weights'],
  ['DEFUNCT', 'its model has stopped; it said: no weights'],
] as const)('a container that is %s refuses further runs with the reason', async (health, reason) => {
  const { cog, own } = await driven();
  cog.health = health;
  cog.setupLogs = 'loading\nno weights\n';
  await own.queue({ prompt: 'fox', seed: 1 });
  await until(async () => {
    const { status, json } = await own.ask('POST', '/run/deployment/queue', {
      deployment_id: own.deployment,
      inputs: { prompt: 'fox', seed: 2 },
    });
    return status === 403 && JSON.stringify(json).includes(reason);
  }, 'the next one is refused');
  expect(cog.posts()).toBe(0);
});

it.each([
  { earlyMs: 100, what: 'before it saw the run execute' },
  { earlyMs: 60_000, what: 'before the request counted as accepted' },
])('an execution in vain is said if the service stopped $what', async ({ earlyMs }) => {
  const before = { ...COG };
  onTestFinished(() => void Object.assign(COG, before));
  Object.assign(COG, { earlyMs });
  const cog = await openCog();
  const own = await OwnService.of([], undefined, { ...TIMING, pollOnlyMs: 60_000, closeMs: 10 });
  await own.addAny(placed(cog));
  cog.setDuration(60_000);
  const id = await own.queue({ prompt: 'fox', seed: 7 });
  await until(() => cog.executions().length === 1, 'it executes there');
  await own.close();
  cog.setDuration(20);
  Object.assign(COG, before);
  await own.open();
  expect(await own.until(id)).toMatchObject({ status: 'success', lost_executions: 1 });
  expect(statesOf(cog)).toEqual(['cancelled', 'succeeded']);
});

it('a run waits while somebody else uses the container, and begins once it is free', async () => {
  const { cog, own } = await driven();
  cog.setDuration(LONGER_MS);
  const body = JSON.stringify({ input: { prompt: 'an owl' } });
  const headers = { 'content-type': 'application/json', prefer: 'respond-async' };
  await fetch(`${cog.url}/predictions/theirs`, { method: 'PUT', body, headers });
  const id = await own.queue({ prompt: 'fox', seed: 7 });
  expect((await own.until(id)).status).toBe('success');
  expect(cog.executions().map(({ input }) => input['prompt'])).toEqual(['an owl', 'fox']);
});

it('a container that executes several predictions at the same time gets as many', async () => {
  const { cog, own } = await driven();
  cog.setParallel(3);
  cog.setDuration(LONGER_MS);
  const ids = await Promise.all(
    Array.from({ length: 12 }, (_, seed) => own.queue({ prompt: `fox ${seed}`, seed })),
  );
  for (const id of ids) expect((await own.until(id)).status).toBe('success');
  const at = cog.executions().map(({ startedMs = 0 }) => startedMs);
  const atOnce = at.map(
    (ms) =>
      cog.executions().filter(({ startedMs = 0, endedMs = 0 }) => startedMs <= ms && endedMs > ms).length,
  );
  expect([Math.max(...atOnce), cog.executions().length]).toEqual([3, 12]);
});

it('two containers execute the runs of their own model', async () => {
  const [first, second] = [await openCog(), await openCog()];
  const own = await OwnService.of([], undefined, TIMING);
  const deployments = [await own.addAny(placed(first)), await own.addAny(placed(second))];
  for (const [at, deployment] of deployments.entries()) {
    own.deployment = deployment;
    const ids = await Promise.all([1, 2].map((seed) => own.queue({ prompt: `fox ${at}`, seed })));
    for (const id of ids) expect((await own.until(id)).status).toBe('success');
  }
  const promptsAt = (cog: Cog): readonly unknown[] => cog.executions().map(({ input }) => input['prompt']);
  expect([promptsAt(first), promptsAt(second)]).toEqual([
    ['fox 0', 'fox 0'],
    ['fox 1', 'fox 1'],
  ]);
});

it('a file travels inside its input', async () => {
  const { cog, own } = await driven();
  const image = await own.upload(Buffer.from('\u0089PNG', 'latin1'));
  const id = await own.queue({ prompt: 'fox', image });
  expect((await own.until(id)).status).toBe('success');
  expect(cog.executions()[0]?.input['image']).toMatch(/^data:image\/png;base64,iVBORw==$/);
});

it('a run costs nothing', async () => {
  const { own } = await driven();
  const { json } = await own.ask('GET', `/platform/gpu-pricing?deployment_id=${own.deployment}`);
  expect(json).toMatchObject({ cog: 0 });
});

it('a container that does not answer, or still starts, is named when it is added', async () => {
  const cog = await openCog();
  const own = await OwnService.of([], undefined, TIMING);
  cog.health = 'STARTING';
  await expect(own.addAny(placed(cog))).rejects.toThrow('it still starts');
  cog.close();
  await expect(own.addAny(placed(cog))).rejects.toThrow(cog.url);
});
