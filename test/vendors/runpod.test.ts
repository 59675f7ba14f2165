// RunPod's own client against our stand-in: it believes what the reference says, and so checks the stand-in.

import { text } from 'node:stream/consumers';
import runpodSdk from 'runpod-sdk';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serveForTest } from '../stage/serve.ts';
import { until } from '../stage/stage.ts';
import { openRunpod } from './runpod.ts';

const PROMPT = { prompt: 'an owl' };
const MINUTE_MS = 60_000;

async function openBoth() {
  const vendor = await openRunpod();
  onTestFinished(() => vendor.close());
  const endpoint = runpodSdk(vendor.key, { baseUrl: `${vendor.url}/v2` }).endpoint(vendor.model);
  if (endpoint === null) throw new Error('no endpoint');
  const run = async (more: object = {}): Promise<string> =>
    (await endpoint.run({ input: PROMPT, ...more })).id;
  const ended = async (id: string): Promise<object> => {
    await until(
      async () => 'completed' in (await endpoint.status(id)) && vendor.find(id)?.endedMs !== undefined,
      'it ends',
    );
    return endpoint.status(id);
  };
  const failure = async (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => 'none',
      (error: unknown) => (error as { response?: { status: number } }).response?.status ?? String(error),
    );
  return { vendor, endpoint, run, ended, failure };
}

describe("RunPod's client", () => {
  it('runs a job to its picture', async () => {
    const { vendor, endpoint, run, ended } = await openBoth();
    vendor.setParallel(0);
    const id = await run();
    expect(await endpoint.status(id)).toMatchObject({ id, status: 'IN_QUEUE', completed: false });
    vendor.setParallel(1);
    const job = await ended(id);
    expect(job).toMatchObject({
      status: 'COMPLETED',
      completed: true,
      succeeded: true,
      delayTime: expect.any(Number),
      executionTime: expect.any(Number),
    });
    const [{ data }] = (job as { output: { images: [{ data: string }] } }).output.images;
    const picture = await fetch(data);
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect([vendor.posts(), vendor.executions().length]).toEqual([1, 1]);
  });

  it('waits for a synchronous job', async () => {
    const { endpoint } = await openBoth();
    expect(await endpoint.runSync({ input: PROMPT }, 5_000)).toMatchObject({
      status: 'COMPLETED',
      succeeded: true,
    });
  });

  it('reads why a job failed, by its handler or by its inputs', async () => {
    const { vendor, run, ended } = await openBoth();
    vendor.failNext(1, 'CUDA out of memory');
    expect(await ended(await run())).toMatchObject({ status: 'FAILED', error: 'CUDA out of memory' });
    expect(await ended(await run({ input: { prompt: 7 } }))).toMatchObject({
      status: 'FAILED',
      error: 'prompt: type',
    });
  });

  it('cancels a job, and reads what waits and runs', async () => {
    const { vendor, endpoint, run } = await openBoth();
    vendor.setDuration(MINUTE_MS);
    vendor.setParallel(1);
    const [first] = [await run(), await run()];
    expect(await endpoint.health()).toMatchObject({ jobs: { inProgress: 1, inQueue: 1 } });
    expect(await endpoint.cancel(first)).toMatchObject({ id: first, status: 'CANCELLED' });
    expect(await endpoint.status(first)).toMatchObject({
      status: 'CANCELLED',
      completed: true,
      succeeded: false,
    });
  });

  it('purges the queue, and no job that runs', async () => {
    const { vendor, endpoint, run, failure } = await openBoth();
    vendor.setDuration(MINUTE_MS);
    vendor.setParallel(1);
    const [running, waiting] = [await run(), await run()];
    expect(await endpoint.purgeQueue()).toEqual({ removed: 1, status: 'completed' });
    expect(await endpoint.status(running)).toMatchObject({ status: 'IN_PROGRESS' });
    expect(await failure(endpoint.status(waiting))).toBe(404);
  });
});

describe("RunPod's stand-in", () => {
  it('forgets a job 30 minutes after its end', async () => {
    const { vendor, endpoint, run, ended, failure } = await openBoth();
    const id = await run();
    await ended(id);
    vendor.age(29 * MINUTE_MS);
    expect(await endpoint.status(id)).toMatchObject({ status: 'COMPLETED' });
    vendor.age(MINUTE_MS);
    expect(await failure(endpoint.status(id))).toBe(404);
  });

  it('deletes a job at its ttl, while it runs and while it waits, and sends no webhook', async () => {
    const { vendor, endpoint, run, failure } = await openBoth();
    const receiver = await serveForTest((_, response) => void response.end());
    vendor.setDuration(60 * MINUTE_MS);
    vendor.setParallel(1);
    const more = { policy: { ttl: 20_000 }, webhook: receiver.url };
    const ids = [await run(more), await run(more)];
    vendor.age(19_000);
    for (const id of ids) expect(await endpoint.status(id)).toMatchObject({ completed: false });
    vendor.age(1_000);
    for (const id of ids) expect(await failure(endpoint.status(id))).toBe(404);
    expect([vendor.executions().length, receiver.asked.length]).toEqual([1, 0]);
  });

  it('ends a job that executes too long as TIMED_OUT', async () => {
    const { vendor, endpoint, run } = await openBoth();
    vendor.setDuration(60 * MINUTE_MS);
    const id = await run({ policy: { executionTimeout: 5_000 } });
    await until(() => vendor.executions().length === 1, 'it begins');
    vendor.age(5_000);
    expect(await endpoint.status(id)).toMatchObject({ status: 'TIMED_OUT', completed: true });
  });

  it('posts the job to its webhook, three times until it is taken, although the answer was lost', async () => {
    const { vendor, run, failure } = await openBoth();
    const bodies: string[] = [];
    const receiver = await serveForTest(async (incoming, response) => {
      bodies.push(await text(incoming));
      response.writeHead(bodies.length < 3 ? 503 : 200).end();
    });
    vendor.lose('closed', 1);
    expect(await failure(run({ webhook: `${receiver.url}/told/1` }))).toMatch(/fetch failed/);
    await until(() => bodies.length === 3, 'it came three times');
    const [job] = bodies.map((body) => JSON.parse(body) as object);
    expect(job).toMatchObject({ id: vendor.runs[0]?.id, status: 'COMPLETED', input: PROMPT });
    expect(Object.keys(receiver.asked[0]?.headers ?? {})).not.toContain('webhook-signature');
    expect(vendor.posts()).toBe(1);
  });

  it('has pictures in the answer where the worker does', async () => {
    const { vendor, run, ended } = await openBoth();
    vendor.inlinesPictures = true;
    const { output } = (await ended(await run())) as { output: { images: [{ data: string; type: string }] } };
    expect(output.images[0].type).toBe('base64');
    expect(Buffer.from(output.images[0].data, 'base64').subarray(1, 4).toString()).toBe('PNG');
  });

  it('lists its jobs only where that is switched on', async () => {
    const { vendor, run } = await openBoth();
    const id = await run();
    const list = (): Promise<Response> =>
      fetch(`${vendor.url}/v2/${vendor.model}/requests`, {
        headers: { authorization: `Bearer ${vendor.key}` },
      });
    expect((await list()).status).toBe(404);
    vendor.listsRequests = true;
    expect(await (await list()).json()).toMatchObject({ requests: [{ id }] });
  });

  it('refuses other keys, jobs without inputs, and policies that are too short', async () => {
    const { vendor, run, failure } = await openBoth();
    const stranger = runpodSdk('another', { baseUrl: `${vendor.url}/v2` }).endpoint(vendor.model);
    expect(await failure(stranger?.run({ input: PROMPT }) ?? Promise.resolve())).toBe(401);
    expect(await failure(run({ input: undefined }))).toBe(400);
    expect(await failure(run({ policy: { ttl: 9_999 } }))).toBe(400);
    expect(vendor.runs).toEqual([]);
  });
});
