// Comfy Router's stand-in by plain requests, for answers that comfy-sdk hides; comfy-sdk itself is in clients.long.test.ts.

import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../stage/stage.ts';
import { openRouter } from './router.ts';

const INPUT = { prompt: 'an owl' };
const HOUR_MS = 3_600_000;

type Seen = { readonly status: number; readonly headers: Headers; readonly body: Record<string, unknown> };

async function openBoth() {
  const vendor = await openRouter();
  onTestFinished(() => vendor.close());
  const call = async (method: string, path: string, key?: string, input?: object): Promise<Seen> => {
    const response = await fetch(`${vendor.url}/v2/models/${vendor.model}${path}`, {
      method,
      headers: { 'x-api-key': vendor.key, ...(key === undefined ? {} : { 'idempotency-key': key }) },
      ...(input === undefined ? {} : { body: JSON.stringify(input) }),
    });
    const text = await response.text();
    const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
    return { status: response.status, headers: response.headers, body };
  };
  const run = (key?: string, input: object = INPUT): Promise<Seen> => call('POST', '', key, input);
  const submit = (key?: string, input: object = INPUT): Promise<Seen> =>
    call('POST', '/requests', key, input);
  return { vendor, call, run, submit };
}

const bucketOf = ({ status, headers }: Seen): string => `${status} ${headers.get('x-comfy-error-type')}`;

describe("Comfy Router's stand-in", () => {
  it('replays a key for 24 hours from its first use, without a price, and runs it anew afterwards', async () => {
    const { vendor, run } = await openBoth();
    const first = await run('a');
    expect([first.status, first.headers.get('x-litellm-response-cost')]).toEqual([200, '0.04']);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    vendor.age(23 * HOUR_MS);
    const replayed = await run('a');
    expect(replayed.body).toEqual(first.body);
    expect(replayed.headers.get('idempotent-replayed')).toBe('true');
    expect(replayed.headers.get('x-litellm-response-cost')).toBeNull();
    vendor.age(HOUR_MS);
    expect((await run('a')).headers.get('idempotent-replayed')).toBeNull();
    expect([vendor.posts(), vendor.executions().length]).toEqual([3, 2]);
  });

  it('is still running at the same key, and collects after its deadline', async () => {
    const { vendor, run } = await openBoth();
    vendor.setDuration(300);
    vendor.deadlineMs = 50;
    const [cut, concurrent] = await Promise.all([
      run('a'),
      until(() => vendor.runs.length > 0, 'it is taken').then(() => run('a')),
    ]);
    expect([bucketOf(cut), cut.headers.get('retry-after')]).toEqual(['504 deadline_exceeded', '1']);
    expect([bucketOf(concurrent), concurrent.headers.get('retry-after')]).toEqual([
      '409 concurrency_limit_exceeded',
      '1',
    ]);
    await until(() => vendor.executions()[0]?.endedMs !== undefined, 'it ends');
    expect((await run('a')).status).toBe(200);
    expect(vendor.executions()).toHaveLength(1);
  });

  it('refuses a key for other inputs, and one whose response cannot be replayed', async () => {
    const { vendor, run } = await openBoth();
    await run('a');
    expect(bucketOf(await run('a', { prompt: 'a fox' }))).toBe('409 invalid_input');
    vendor.consume('a');
    expect(bucketOf(await run('a'))).toBe('409 invalid_input');
    expect(vendor.executions()).toHaveLength(1);
  });

  it('releases a key whose request was refused before a provider was called, or whose provider failed', async () => {
    const { vendor, run } = await openBoth();
    vendor.setCredits(false);
    expect(bucketOf(await run('a'))).toBe('402 insufficient_credits');
    vendor.setCredits(true);
    vendor.failNext(1, 'no GPU');
    const failed = await run('a');
    expect([bucketOf(failed), failed.body]).toEqual([
      '502 provider_error',
      { detail: 'no GPU', error_type: 'provider_error' },
    ]);
    expect((await run('a')).status).toBe(200);
  });

  it('makes a run for each POST without a key, and one for all with the same key, although answers are lost', async () => {
    const { vendor, submit } = await openBoth();
    for (const key of [undefined, 'a'] as const) {
      vendor.lose('closed', 2);
      for (let nth = 0; nth < 2; nth += 1) await expect(submit(key)).rejects.toThrow('fetch failed');
    }
    const { status, headers, body } = await submit('a');
    expect([status, headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    await until(() => vendor.executions().length === 3, 'all begin');
    expect([vendor.posts(), vendor.runs.length]).toEqual([5, 3]);
    expect(body['request_id']).toBe(vendor.runs[2]?.id);
  });

  it('shows a queued request to its result, which has a price, for a day', async () => {
    const { vendor, call, submit } = await openBoth();
    vendor.setParallel(0);
    const { body } = await submit();
    const path = `/requests/${String(body['request_id'])}`;
    expect(body).toMatchObject({
      status: 'IN_QUEUE',
      status_url: `${vendor.url}/v2/models/${vendor.model}${path}/status`,
    });
    expect((await call('GET', `${path}/status`)).body).toMatchObject({
      status: 'IN_QUEUE',
      queue_position: 0,
    });
    expect((await call('GET', path)).status).toBe(400);
    vendor.setParallel(1);
    await until(
      async () => (await call('GET', `${path}/status`)).body['status'] === 'COMPLETED',
      'it completes',
    );
    const result = await call('GET', path);
    expect([result.status, result.headers.get('x-litellm-response-cost')]).toEqual([200, '0.04']);
    expect(
      (await fetch((result.body['result'] as { sample: string }).sample)).headers.get('content-type'),
    ).toBe('image/png');
    vendor.age(24 * HOUR_MS);
    expect((await call('GET', path)).status).toBe(410);
  });

  it('bounds what waits in the queue, what runs, and what is committed', async () => {
    const { vendor, run, submit } = await openBoth();
    vendor.setParallel(0);
    vendor.setLimit(1);
    await submit();
    expect(bucketOf(await submit())).toBe('429 queue_backlog_full');
    expect(bucketOf(await run())).toBe('429 concurrency_limit_exceeded');
    vendor.setLimit(undefined);
    vendor.mostCommittedUsd = 0.05;
    const refused = await run();
    expect(bucketOf(refused)).toBe('429 concurrency_limit_exceeded');
    expect(
      ['limit', 'current', 'remaining'].map((name) => refused.headers.get(`x-committed-spend-${name}`)),
    ).toEqual(['5', '4', '1']);
    vendor.hasQueue = false;
    expect(bucketOf(await submit())).toBe('403 not_enabled');
  });

  it('describes a model by an OpenAPI document that is revalidated', async () => {
    const { vendor, call } = await openBoth();
    const { headers, body } = await call('GET', '/openapi.json');
    expect(body).toMatchObject({
      paths: { [`/v2/models/${vendor.model}`]: { post: { requestBody: { required: true } } } },
    });
    const response = await fetch(`${vendor.url}/v2/models/${vendor.model}/openapi.json`, {
      headers: { 'x-api-key': vendor.key, 'if-none-match': headers.get('etag') ?? '' },
    });
    expect(response.status).toBe(304);
  });
});
