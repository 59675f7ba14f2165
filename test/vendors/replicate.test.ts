// Replicate's own client against our stand-in: it believes what the contract says, and so checks the stand-in.

import { once } from 'node:events';
import ReplicateClient, { validateWebhook, type Prediction } from 'replicate';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serveForTest } from '../stage/serve.ts';
import { until } from '../stage/stage.ts';
import { openReplicate } from './replicate.ts';

const PROMPT = { prompt: 'an owl' };
const HOUR_MS = 3_600_000;

async function openBoth() {
  const vendor = await openReplicate();
  onTestFinished(() => vendor.close());
  const client = new ReplicateClient({ auth: vendor.key, baseUrl: `${vendor.url}/v1`, useFileOutput: false });
  const create = (input: object = PROMPT, more: object = {}): Promise<Prediction> =>
    client.predictions.create({ model: vendor.model, input, ...more });
  const ended = async (prediction: Prediction): Promise<Prediction> =>
    client.wait(prediction, { interval: 5 });
  return { vendor, client, create, ended };
}

describe("Replicate's client", () => {
  it('runs a model to its picture', async () => {
    const { vendor, client } = await openBoth();
    const output = await client.run('someone/painter', { input: PROMPT });
    expect(output).toEqual([expect.stringMatching(/\/files\/.+\.png$/)]);
    const picture = await fetch((output as [string])[0]);
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(vendor.executions()).toMatchObject([{ input: PROMPT, state: 'succeeded' }]);
    expect(vendor.posts()).toBe(1);
  });

  it('polls a prediction from starting to its end, with its times and metrics', async () => {
    const { vendor, create, ended } = await openBoth();
    vendor.setParallel(0);
    const prediction = await create();
    expect(prediction).toMatchObject({ status: 'starting', input: PROMPT, output: null, source: 'api' });
    vendor.setParallel(1);
    expect(await ended(prediction)).toMatchObject({
      id: prediction.id,
      status: 'succeeded',
      metrics: { predict_time: expect.any(Number), total_time: expect.any(Number) },
      data_removed: false,
    });
  });

  it('reads the reason of a failure', async () => {
    const { vendor, client, create } = await openBoth();
    vendor.failNext(2, 'CUDA out of memory');
    const { id } = await create();
    await until(async () => (await client.predictions.get(id)).status === 'failed', 'it fails');
    expect(await client.predictions.get(id)).toMatchObject({ error: 'CUDA out of memory', output: null });
    await expect(client.run('someone/painter', { input: PROMPT })).rejects.toThrow(
      'Prediction failed: CUDA out of memory',
    );
  });

  it('cancels a prediction that runs, and one that waits', async () => {
    const { vendor, client, create } = await openBoth();
    vendor.setDuration(60_000);
    vendor.setParallel(1);
    const [running, waiting] = [await create(), await create()];
    expect(await client.predictions.cancel(running.id)).toMatchObject({ status: 'canceled' });
    vendor.setParallel(0);
    expect(await client.predictions.cancel(waiting.id)).toMatchObject({ status: 'canceled' });
  });

  it('lists all predictions, the newest first, 100 a page, with their inputs and webhooks', async () => {
    const { vendor, client, create } = await openBoth();
    vendor.setParallel(0);
    for (let seed = 0; seed < 101; seed += 1)
      await create({ ...PROMPT, seed }, { webhook: `http://127.0.0.1:9/${seed}` });
    const pages: Prediction[][] = [];
    for await (const page of client.paginate(client.predictions.list)) pages.push(page);
    expect(pages.map((page) => page.length)).toEqual([100, 1]);
    expect(pages.flat().map(({ input }) => (input as { seed: number }).seed)).toEqual(
      Array.from({ length: 101 }, (_, at) => 100 - at),
    );
    expect(pages[0]?.[0]?.webhook).toBe('http://127.0.0.1:9/100');
  });

  it('says which inputs are wrong, and lets no run begin', async () => {
    const { vendor, create } = await openBoth();
    await expect(create({ steps: 99 })).rejects.toThrow(
      '"detail":"- input: prompt is required\\n- input.steps: Must be less than or equal to 50\\n"',
    );
    expect(vendor.executions()).toEqual([]);
  });

  it('describes a model by the schema of its inputs', async () => {
    const { client } = await openBoth();
    const model = await client.models.get('someone', 'painter');
    const Input = { required: ['prompt'], properties: { steps: { maximum: 50 } } };
    expect(model.latest_version).toMatchObject({ openapi_schema: { components: { schemas: { Input } } } });
  });

  it('uploads a file', async () => {
    const { vendor, client } = await openBoth();
    const { urls } = await client.files.create(Buffer.from('a picture'));
    expect(urls.get).toContain('/v1/files/');
    expect(vendor.uploads().map(String)).toEqual(['a picture']);
  });

  it('gets webhooks whose signature holds, and no webhook that was changed', async () => {
    const { vendor, client, create } = await openBoth();
    const bodies: string[] = [];
    const valid: boolean[] = [];
    const { key: secret } = await client.webhooks.default.secret.get();
    const receiver = await serveForTest(async (incoming, response) => {
      let body = '';
      for await (const chunk of incoming) body += String(chunk);
      const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) =>
        String(incoming.headers[`webhook-${name}`]),
      );
      if (id === undefined || timestamp === undefined || signature === undefined) return;
      valid.push(await validateWebhook({ id, timestamp, signature, body, secret }));
      valid.push(await validateWebhook({ id, timestamp, signature, body: `${body} `, secret }));
      bodies.push(body);
      // The first try is refused: the webhook comes again.
      response.writeHead(bodies.length === 1 ? 500 : 200).end();
    });
    const { id } = await create(PROMPT, { webhook: receiver.url, webhook_events_filter: ['completed'] });
    await until(() => bodies.length === 2, 'the webhook came twice');
    expect(bodies.map((body) => (JSON.parse(body) as Prediction).id)).toEqual([id, id]);
    expect(JSON.parse(bodies[1] ?? '')).toMatchObject({ status: 'succeeded' });
    expect(valid).toEqual([true, false, true, false]);
    expect(vendor.posts()).toBe(1);
  });
});

describe("Replicate's stand-in", () => {
  it('removes inputs, outputs and files an hour after the end', async () => {
    const { vendor, client, create, ended } = await openBoth();
    const { id, output } = await ended(await create());
    vendor.age(HOUR_MS - 10_000);
    expect(await client.predictions.get(id)).toMatchObject({ input: PROMPT, output, data_removed: false });
    vendor.age(10_000);
    expect(await client.predictions.get(id)).toMatchObject({ input: {}, output: null, data_removed: true });
    expect((await fetch((output as [string])[0])).status).toBe(404);
  });

  it(
    'runs what it took although the answer is lost, and the client sends six times',
    { timeout: 60_000 },
    async () => {
      const { vendor, create } = await openBoth();
      vendor.lose('closed', 9);
      await expect(create()).rejects.toThrow('fetch failed');
      expect([vendor.posts(), vendor.executions().length]).toEqual([6, 6]);
    },
  );

  it('loses requests without making a run, too', async () => {
    const { vendor, create } = await openBoth();
    vendor.lose('502', 1, 'before');
    await expect(create()).rejects.toThrow('502 Bad Gateway');
    expect([vendor.posts(), vendor.runs.length]).toEqual([1, 0]);
    vendor.lose('502', 1);
    await expect(create()).rejects.toThrow('502 Bad Gateway');
    expect([vendor.posts(), vendor.runs.length]).toEqual([2, 1]);
  });

  it('never answers a lost POST, and takes its run', async () => {
    const { vendor, create } = await openBoth();
    vendor.lose('timeout', 1);
    const signal = AbortSignal.timeout(100);
    void create(PROMPT, { signal }).catch(() => undefined);
    await once(signal, 'abort');
    expect(vendor.executions()).toHaveLength(1);
  });

  it('lists only predictions made since a moment', async () => {
    const { vendor, create } = await openBoth();
    const early = await create();
    vendor.age(60_000);
    const late = await create();
    const list = async (query: string): Promise<readonly string[]> => {
      const headers = { authorization: `Bearer ${vendor.key}` };
      const response = await fetch(`${vendor.url}/v1/predictions?${query}`, { headers });
      return ((await response.json()) as { results: { id: string }[] }).results.map(({ id }) => id);
    };
    expect(await list('')).toEqual([late.id, early.id]);
    expect(await list(`created_after=${late.created_at}`)).toEqual([late.id]);
    expect(await list(`created_before=${late.created_at}`)).toEqual([early.id]);
  });

  it('refuses more than its limit a minute, accounts without credit, and other keys', async () => {
    const { vendor, create } = await openBoth();
    vendor.setLimit(1);
    await create();
    const post = (key = vendor.key): Promise<Response> =>
      fetch(`${vendor.url}/v1/models/${vendor.model}/predictions`, {
        method: 'POST',
        body: JSON.stringify({ input: PROMPT }),
        headers: { authorization: `Bearer ${key}` },
      });
    const throttled = await post();
    expect([throttled.status, await throttled.json()]).toEqual([
      429,
      { detail: 'Request was throttled. Your rate limit resets in ~1s.', status: 429, retry_after: 1 },
    ]);
    vendor.age(61_000);
    expect((await post()).status).toBe(202);
    vendor.setCredits(false);
    expect((await post()).status).toBe(402);
    expect((await post('another')).status).toBe(401);
  });

  it('shows webhooks in predictions unless that is switched off', async () => {
    const { vendor, client, create } = await openBoth();
    const { id } = await create(PROMPT, { webhook: 'http://127.0.0.1:9/told' });
    expect(await client.predictions.get(id)).toMatchObject({ webhook: 'http://127.0.0.1:9/told' });
    vendor.showsWebhooks = false;
    expect(await client.predictions.get(id)).not.toHaveProperty('webhook');
  });

  it('ends a prediction at its Cancel-After: aborted if it has not begun', async () => {
    const { vendor, client } = await openBoth();
    vendor.setParallel(0);
    const response = await client.request(`/models/${vendor.model}/predictions`, {
      method: 'POST',
      data: { input: PROMPT },
      headers: { 'Cancel-After': '1m30s' },
    });
    const { id } = (await response.json()) as Prediction;
    vendor.age(89_000);
    expect(await client.predictions.get(id)).toMatchObject({ status: 'starting' });
    vendor.age(1_000);
    expect(await client.predictions.get(id)).toMatchObject({ status: 'aborted' });
  });
});
