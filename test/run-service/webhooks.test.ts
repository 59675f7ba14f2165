import { describe, expect, it } from 'vitest';
import { targetOf } from '../../src/run-service/webhooks/webhooks.ts';
import { openService } from './asking.ts';
import { openReceiver } from './receiver.ts';

describe('a webhook that is not accepted', () => {
  it('is not retried after a GET was accepted', async () => {
    const receiver = await openReceiver((_nth, { method }) => (method === 'GET' ? 200 : 500));
    const { queue, ended } = await openService();
    await ended(await queue({ webhook: receiver.url }));
    const received = await receiver.until((webhooks) => webhooks.length === 8);
    expect(received.filter((webhook) => webhook.method === 'GET').length).toBe(4);
  });

  it('affects nothing if the connection is refused', async () => {
    const events: string[] = [];
    const { queue, ended } = await openService({}, { log: (event) => events.push(event) });
    const run = await ended(await queue({ webhook: 'http://127.0.0.1:1/closed' }));
    expect(run).toMatchObject({ status: 'success', webhook: 'http://127.0.0.1:1/closed' });
    expect(events).toContain('run-accepted');
  });
});

it('the name localhost means this machine', async () => {
  const receiver = await openReceiver();
  const { queue } = await openService();
  await queue({ webhook: receiver.url.replace('127.0.0.1', 'localhost') });
  expect(await receiver.until((webhooks) => webhooks.length === 4)).toHaveLength(4);
});

describe('an address', () => {
  it.each([
    ['http://127.0.0.1:8080/hook/1', true],
    ['http://LOCALHOST/', true],
    ['http://[::1]:3000/', true],
    ['http://127.1/', true],
    ['http://127.200.3.4/', true],
    ['http://runsheet.invalid/hook', false],
    ['http://127.0.0.1.example.com/', false],
    ['http://localhost.example.com/', false],
    ['http://10.0.0.1/', false],
    ['http://0.0.0.0/', false],
    ['http://[::ffff:10.0.0.1]/', false],
    ['http://user:secret@127.0.0.1/', true],
    ['ftp://127.0.0.1/', false],
    ['nonsense', false],
  ])('%s is called: %s', (webhook, called) => {
    expect(targetOf(webhook) instanceof URL).toBe(called);
  });

  it.each([
    ['listens for others', { host: '0.0.0.0' }],
    ['is behind a proxy', { publicUrl: 'https://runs.example' }],
  ])('of this machine is not called by a service that %s', async (_how, options) => {
    const { queue, ended, service } = await openService({}, options);
    await ended(await queue({ webhook: `${service.url}/interrupt` }));
    expect(service.stats().webhooks).toEqual({ delivered: 0, failed: 0, refused: 4 });
  });

  it('that is refused is kept on the run, counted, and logged once', async () => {
    const said: unknown[] = [];
    const log = (event: string, facts: object): void => {
      if (event === 'webhook-refused') said.push(facts);
    };
    const { queue, ended, service } = await openService({}, { log });
    const webhook = 'http://runsheet.invalid/hook/1/b/1/1/00112233445566778899aabbccddeeff';
    expect((await ended(await queue({ webhook }))).webhook).toBe(webhook);
    await ended(await queue({ webhook }));
    expect(service.stats().webhooks).toEqual({ delivered: 0, failed: 0, refused: 8 });
    expect(said).toEqual([{ reason: 'runsheet.invalid is not this machine' }]);
  });
});

it('a receiver that never answers does not delay others', async () => {
  const silent = await openReceiver(() => 100);
  const quick = await openReceiver();
  const { queue } = await openService({ concurrencyLimit: 40 });
  await Promise.all(Array.from({ length: 30 }, () => queue({ webhook: silent.url })));
  await queue({ webhook: quick.url });
  expect(await quick.until((webhooks) => webhooks.length === 4)).toHaveLength(4);
});
