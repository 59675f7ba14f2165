import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { openService, TOKEN, type Asking } from './asking.ts';
import { dashboardOf } from './live-page.ts';
import { openReceiver } from './receiver.ts';

const tokens = ['ann:token-of-ann', 'ben:token-of-ben'];
const as = (name: string) => ({ headers: { authorization: `Bearer token-of-${name}` } });

async function queuedBy(name: string, { ask, deploymentId }: Asking): Promise<string> {
  const body = JSON.stringify({ deployment_id: deploymentId });
  const answer = await ask('POST', '/api/run/deployment/queue', { body, ...as(name) });
  return String(answer.json['run_id']);
}

it('only the owner of the token that queued a run reads, cancels or lists it', async () => {
  const opened = await openService({}, { tokens });
  const { ask, deploymentId } = opened;
  const own = await queuedBy('ann', opened);
  const foreignRun = await queuedBy('ben', opened);
  expect((await ask('GET', `/api/run/${own}`, as('ann'))).json['user_id']).toBe('user_ann');
  for (const [method, path] of [
    ['GET', `/api/run/${own}`],
    ['GET', `/api/v2/stream-logs?run_id=${own}`],
    ['POST', `/api/run/${own}/cancel`],
  ] as const) {
    const answer = await ask(method, path, as('ben'));
    expect([answer.status, answer.json]).toEqual([
      403,
      { detail: 'You are not authorized to access this resource' },
    ]);
  }
  expect((await ask('GET', `/api/v2/clickhouse-run-logs/${own}`, as('ben'))).json).toEqual([]);
  expect((await ask('GET', `/v1/api/run?run_id=${own}`, as('ben'))).status).toBe(400);
  const list = (await ask('GET', `/api/deployment/${deploymentId}/runs`, as('ben'))).json as {
    data: { id: string }[];
    meta: { total: number };
  };
  expect([list.data.map(({ id }) => id), list.meta.total]).toEqual([[foreignRun], 1]);
});

it('one run of an owner does not wait for all runs of another, and the page shows who comes next', async () => {
  const opened = await openService({ runSeconds: 3000, concurrencyLimit: 1 }, { tokens });
  const anns: string[] = [];
  for (let row = 0; row < 8; row += 1) anns.push(await queuedBy('ann', opened));
  const ben = await queuedBy('ben', opened);
  const before = await dashboardOf(opened);
  expect(before.pools).toMatchObject([{ busy: 1, waiting: 8 }]);
  expect(before.next.map(({ id }) => id)).toEqual([ben, anns[1], anns[2], anns[3]]);
  await opened.ask('POST', `/api/run/${anns[0]}/cancel`, as('ann'));
  const { atWork, pools } = await dashboardOf(opened);
  expect([atWork.map(({ id }) => id), pools]).toMatchObject([[ben], [{ busy: 1, waiting: 7 }]]);
  await opened.ask('POST', `/api/run/${ben}/cancel`, as('ben'));
  const after = await dashboardOf(opened);
  expect([after.atWork, after.ended].map((runs) => runs.map(({ id }) => id))).toEqual([
    [anns[1]],
    [ben, anns[0]],
  ]);
});

it('a revoked token is refused from then on, and no other', async () => {
  const opened = await openService({}, { tokens: ['ann:token-of-ann', 'ann:another'] });
  const { ask } = opened;
  const otherUser = { headers: { authorization: 'Bearer another' } };
  const id = await queuedBy('ann', opened);
  expect((await ask('POST', '/control/tokens/token-of-ann/revoke', otherUser)).status).toBe(200);
  const refused = await ask('GET', `/api/run/${id}`, as('ann'));
  expect([refused.status, refused.json]).toEqual([401, { detail: 'Revoked token' }]);
  expect((await ask('GET', `/api/run/${id}`, otherUser)).status).toBe(200);
  expect((await ask('POST', '/control/tokens/nobodys/revoke', otherUser)).status).toBe(404);
});

describe('a service on loopback whose keys belong to several people', () => {
  it.each([
    ['PUT', '/control/faults', '{"fail": 1}'],
    ['GET', '/control/faults', undefined],
    ['GET', '/control/ledger', undefined],
    ['POST', '/control/tokens/token-of-ann/revoke', undefined],
    ['POST', '/control/gpus', '{"servers": [{"url": "http://127.0.0.1:1", "headersFile": "/nowhere"}]}'],
  ])('is controlled by no key: %s %s', async (method, path, body) => {
    const { ask } = await openService({}, { tokens });
    const { status } = await ask(method, path, { ...as('ben'), ...(body !== undefined && { body }) });
    expect([status, (await ask('GET', '/api/deployments', as('ann'))).status]).toEqual([404, 200]);
  });

  it('calls no webhook on this machine', async () => {
    const receiver = await openReceiver();
    const { ask, deploymentId, service } = await openService({ runSeconds: 0.1 }, { tokens });
    const body = JSON.stringify({ deployment_id: deploymentId, webhook: receiver.url });
    const { json } = await ask('POST', '/api/run/deployment/queue', { body, ...as('ben') });
    const path = `/api/run/${String(json['run_id'])}`;
    await expect.poll(async () => (await ask('GET', path, as('ben'))).json['status']).toBe('success');
    await expect.poll(() => service.stats().webhooks.refused).toBe(4);
    expect(service.stats().webhooks).toMatchObject({ delivered: 0, failed: 0 });
  });
});

it.each([
  [{ 'x-forwarded-for': '203.0.113.7' }],
  [{ 'x-forwarded-proto': 'https' }],
  [{ forwarded: 'for=203.0.113.7' }],
  [{ 'x-real-ip': '203.0.113.7' }],
  [{ via: '1.1 proxy' }],
  [{ 'cf-connecting-ip': '203.0.113.7' }],
])('a service on loopback answers no request that a proxy has forwarded: %j', async (headers) => {
  const { ask } = await openService();
  for (const path of ['/api/deployments', '/control/ledger', '/', '/files/uploads/a/b']) {
    const answer = await ask('GET', path, { headers });
    expect([path, answer.status, answer.text]).toEqual([
      path,
      403,
      expect.stringMatching(/a proxy has forwarded this request: start the service with --public-url/),
    ]);
  }
});

it('a service on loopback answers no request of HTTP 1.0, which nginx forwards without a header', async () => {
  const { service } = await openService();
  const { host, port } = new URL(service.url);
  const socket = connect(Number(port), '127.0.0.1', () =>
    socket.end(`GET /api/deployments HTTP/1.0\r\nhost: ${host}\r\nauthorization: Bearer ${TOKEN}\r\n\r\n`),
  );
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 403/);
});

it('a service with a public address answers requests that a proxy has forwarded', async () => {
  const { ask } = await openService({}, { publicUrl: 'https://runs.example' });
  const headers = { 'x-forwarded-for': '203.0.113.7' };
  expect((await ask('GET', '/api/deployments', { headers })).status).toBe(200);
});

it('a service does not start if two people have the same key', async () => {
  const shared = { tokens: ['ann:one', 'ben:two', 'cleo:one'] };
  await expect(openService({}, shared)).rejects.toMatchObject({
    code: 'E602',
    message: 'ann and cleo have the same key',
  });
  await expect(openService({}, { tokens: ['one', 'ann:one'] })).rejects.toThrow(
    'ann has a key that is also given without an owner',
  );
  await openService({}, { tokens: ['ann:one', 'ann:one'] });
});

it('faults can be changed while the service runs, and are counted', async () => {
  const { ask, queue, ended } = await openService({ runSeconds: 0.1 });
  expect((await ended(await queue())).status).toBe('success');
  const set = await ask('PUT', '/control/faults', { body: '{"fail": 1}' });
  expect(set.json['rates']).toEqual({ fail: 1 });
  expect((await ended(await queue())).status).toBe('failed');
  await ask('PUT', '/control/faults', { body: '{"fail": 0}' });
  expect((await ended(await queue())).status).toBe('success');
  const wrong = await ask('PUT', '/control/faults', { body: '{"fial": 1}' });
  expect([wrong.status, wrong.json]).toEqual([422, { detail: 'there is no fault "fial"' }]);
  expect((await ask('GET', '/control/faults')).json['struck']).toEqual({ fail: 1 });
});

it('the ledger contains all runs and the billed GPU time', async () => {
  const { ask, queue, ended } = await openService({ runSeconds: 5, coldStartSeconds: 0 });
  const ids = [await queue({ gpu: 'L4' }), await queue({ gpu: 'H100' })];
  for (const id of ids) await ended(id);
  const ledger = (await ask('GET', '/control/ledger')).json as {
    runs: Record<string, number>;
    sold: Record<string, number>;
  };
  expect(ledger.runs).toEqual({ success: 2 });
  expect(Object.keys(ledger.sold).sort()).toEqual(['H100', 'L4']);
  for (const seconds of Object.values(ledger.sold)) expect(seconds).toBeCloseTo(0.05, 1);
});
