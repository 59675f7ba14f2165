// fal's own client against our stand-in: it believes what the pages say, and so checks the stand-in.

import { createHash, createPublicKey, verify, type JsonWebKey } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { ApiError, createFalClient } from '@fal-ai/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serveForTest } from '../stage/serve.ts';
import { until } from '../stage/stage.ts';
import { openFal } from './fal.ts';

const INPUT = { prompt: 'an owl' };
const MODEL = 'fal-ai/painter';
const MINUTE_MS = 60_000;

async function openBoth() {
  const vendor = await openFal();
  onTestFinished(() => vendor.close());
  const { queue } = createFalClient({
    credentials: vendor.key,
    requestMiddleware: async (request) => ({
      ...request,
      url: request.url.replace(/^https:\/\/(queue\.)?fal\.run/, vendor.url),
    }),
  });
  const submit = async (
    more: { headers?: Record<string, string>; input?: object; webhookUrl?: string } = {},
  ): Promise<string> => (await queue.submit(MODEL, { input: INPUT, ...more })).request_id;
  const ended = async (requestId: string): Promise<object> =>
    queue.subscribeToStatus(MODEL, { requestId, mode: 'polling', pollInterval: 5 });
  const result = async (requestId: string): Promise<unknown> =>
    queue.result(MODEL, { requestId }).then(
      ({ data }) => data as object,
      (error: unknown) =>
        error instanceof ApiError ? { status: error.status, body: error.body as object } : String(error),
    );
  const get = async (path: string): Promise<Record<string, unknown>> => {
    const response = await fetch(`${vendor.url}${path}`, { headers: { authorization: `Key ${vendor.key}` } });
    return (await response.json()) as Record<string, unknown>;
  };
  return { vendor, queue, submit, ended, result, get };
}

describe("fal's client", () => {
  it('runs a request to its picture', async () => {
    const { vendor, queue, submit, ended, result } = await openBoth();
    vendor.setParallel(0);
    const [first, second] = [await submit(), await submit()];
    expect(await queue.status(MODEL, { requestId: second })).toMatchObject({
      status: 'IN_QUEUE',
      queue_position: 1,
    });
    vendor.setParallel(9);
    expect(await ended(first)).toMatchObject({
      status: 'COMPLETED',
      metrics: { inference_time: expect.any(Number) },
    });
    const { images } = (await result(first)) as { images: [{ url: string }] };
    const picture = await fetch(images[0].url);
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
    await ended(second);
    expect([vendor.posts(), vendor.executions().length]).toEqual([2, 2]);
  });

  it('submits to a path below the application, and asks for it without the path', async () => {
    const { queue, vendor } = await openBoth();
    const { request_id: requestId, status_url } = await queue.submit(`${MODEL}/fast`, { input: INPUT });
    expect(status_url).toBe(`${vendor.url}/${MODEL}/requests/${requestId}/status`);
    await queue.subscribeToStatus(`${MODEL}/fast`, { requestId, mode: 'polling', pollInterval: 5 });
    expect(vendor.find(requestId)?.state).toBe('succeeded');
  });

  it('reads a failure of the model, and which inputs are wrong', async () => {
    const { vendor, submit, ended, result } = await openBoth();
    vendor.failNext(1, 'CUDA out of memory');
    const failed = await submit();
    expect(await ended(failed)).toMatchObject({ status: 'COMPLETED', error: 'CUDA out of memory' });
    expect(await result(failed)).toEqual({ status: 500, body: { detail: 'CUDA out of memory' } });
    const wrong = await submit({ input: {} });
    await ended(wrong);
    expect(await result(wrong)).toEqual({
      status: 422,
      body: { detail: [{ loc: ['body', 'prompt'], msg: 'Field required', type: 'missing' }] },
    });
  });

  it('cancels a request that waits, and one that runs, and none that has ended', async () => {
    const { vendor, queue, submit, ended } = await openBoth();
    vendor.setDuration(MINUTE_MS);
    vendor.setParallel(1);
    const [running, waiting] = [await submit(), await submit()];
    await until(() => vendor.executions().length === 1, 'one runs');
    await queue.cancel(MODEL, { requestId: waiting });
    await queue.cancel(MODEL, { requestId: running });
    for (const id of [running, waiting])
      expect(await ended(id)).toMatchObject({ status: 'COMPLETED', error: 'Request was cancelled' });
    expect(vendor.executions()).toHaveLength(1);
    await expect(queue.cancel(MODEL, { requestId: running })).rejects.toMatchObject({
      status: 400,
      body: { status: 'ALREADY_COMPLETED' },
    });
  });

  it('is refused with another key, and without credits', async () => {
    const { vendor, submit } = await openBoth();
    vendor.setCredits(false);
    await expect(submit()).rejects.toMatchObject({ status: 403 });
    expect((await fetch(`${vendor.url}/${MODEL}`, { method: 'POST', body: '{}' })).status).toBe(401);
    expect(vendor.runs).toEqual([]);
  });
});

describe("fal's stand-in", () => {
  it('executes a request again when its runner crashes, unless that is forbidden', async () => {
    const { vendor, submit, ended } = await openBoth();
    vendor.crashNext(2);
    expect(await ended(await submit())).not.toHaveProperty('error');
    expect(vendor.executions()).toHaveLength(3);
    vendor.crashNext(1);
    expect(await ended(await submit({ headers: { 'x-fal-no-retry': '1' } }))).toMatchObject({
      error: 'the runner crashed',
    });
    expect(vendor.executions()).toHaveLength(4);
  });

  it('gives up a request after ten more tries', async () => {
    const { vendor, submit, ended } = await openBoth();
    vendor.setDuration(1);
    vendor.crashNext(99);
    expect(await ended(await submit())).toMatchObject({ error: 'the runner crashed' });
    expect(vendor.executions()).toHaveLength(11);
  });

  it('keeps results 30 days; without storage an hour, and large ones six minutes', async () => {
    const { vendor, submit, ended, result } = await openBoth();
    const headers = { 'x-fal-store-io': '0' };
    const large = { prompt: 'owl '.repeat(3_000) };
    const [stored, small, big] = [
      await submit(),
      await submit({ headers }),
      await submit({ headers, input: large }),
    ];
    for (const id of [stored, small, big]) await ended(id);
    vendor.age(6 * MINUTE_MS);
    expect(Object.keys((await result(big)) as object)).toEqual(['status', 'body']);
    expect(await result(small)).toHaveProperty('images');
    vendor.age(54 * MINUTE_MS);
    expect(await result(small)).toMatchObject({ status: 404 });
    expect(await result(stored)).toHaveProperty('images');
  });

  it('ends a request that has not begun at its start timeout', async () => {
    const { vendor, submit, ended, result } = await openBoth();
    vendor.setParallel(0);
    const id = await submit({ headers: { 'x-fal-request-timeout': '60' } });
    vendor.age(MINUTE_MS);
    await ended(id);
    expect(await result(id)).toEqual({ status: 504, body: { detail: 'Request timed out' } });
    expect(vendor.executions()).toEqual([]);
  });

  it('posts the result to its webhook, signed by a key of its JWKS, until it is taken', async () => {
    const { vendor, submit, get } = await openBoth();
    const bodies: string[] = [];
    const receiver = await serveForTest(async (incoming, response) => {
      bodies.push(await text(incoming));
      response.writeHead(bodies.length === 1 ? 500 : 200).end();
    });
    vendor.failNext(0, '');
    const id = await submit({ webhookUrl: `${receiver.url}/told/1` });
    await until(() => bodies.length === 2, 'it came twice');
    expect(JSON.parse(bodies[1] ?? '')).toMatchObject({
      request_id: id,
      gateway_request_id: id,
      status: 'OK',
      payload: { images: [{}] },
    });
    const { keys } = (await get('/.well-known/jwks.json')) as { keys: [JsonWebKey] };
    const key = createPublicKey({ key: keys[0], format: 'jwk' });
    const signedParts = ['request-id', 'user-id', 'timestamp'].map((name) =>
      String(receiver.asked[1]?.headers[`x-fal-webhook-${name}`]),
    );
    const isValid = (body: string): boolean => {
      const digest = createHash('sha256').update(body).digest('hex');
      const signature = String(receiver.asked[1]?.headers['x-fal-webhook-signature']);
      return verify(
        null,
        Buffer.from([...signedParts, digest].join('\n')),
        key,
        Buffer.from(signature, 'hex'),
      );
    };
    expect([isValid(bodies[1] ?? ''), isValid(`${bodies[1]} `)]).toEqual([true, false]);
    expect(receiver.asked[1]?.url).toBe('/told/1');
  });

  it('lists ended requests by their endpoint, with inputs where they are stored', async () => {
    const { vendor, submit, ended, get } = await openBoth();
    const [stored, secret] = [await submit(), await submit({ headers: { 'x-fal-store-io': '0' } })];
    for (const id of [stored, secret]) await ended(id);
    vendor.setDuration(MINUTE_MS);
    await submit();
    const list = async (query: string) =>
      (await get(`/v1/models/requests/by-endpoint?endpoint_id=${MODEL}${query}`)) as {
        items: { request_id: string }[];
        next_cursor: string;
      };
    const { items } = await list('&expand=payloads');
    const byId = new Map(items.map((item) => [item.request_id, item]));
    expect([...byId.keys()].toSorted()).toEqual([stored, secret].toSorted());
    expect(byId.get(stored)).toMatchObject({ json_input: INPUT, status_code: 200, endpoint_id: MODEL });
    expect(byId.get(secret)).not.toHaveProperty('json_input');
    const first = await list('&limit=1');
    const second = await list(`&limit=1&cursor=${first.next_cursor}`);
    expect([...first.items, ...second.items].map((item) => item.request_id).toSorted()).toEqual(
      [stored, secret].toSorted(),
    );
  });

  it('describes a model by its OpenAPI document', async () => {
    const { get } = await openBoth();
    const { models } = await get(`/v1/models?endpoint_id=${MODEL}&expand=openapi-3.0`);
    expect(models).toMatchObject([
      {
        endpoint_id: MODEL,
        openapi: { components: { schemas: { PainterInput: { required: ['prompt'] } } } },
      },
    ]);
  });

  it('refuses a request for which the queue is too long', async () => {
    const { vendor, submit } = await openBoth();
    vendor.setParallel(0);
    await submit();
    const headers = { authorization: `Key ${vendor.key}` };
    const post = (most: number): Promise<Response> =>
      fetch(`${vendor.url}/${MODEL}?fal_max_queue_length=${most}`, {
        method: 'POST',
        body: JSON.stringify(INPUT),
        headers,
      });
    expect([(await post(1)).status, (await post(2)).status]).toEqual([429, 200]);
  });
});
