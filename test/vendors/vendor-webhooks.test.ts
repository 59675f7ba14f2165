// A vendor that shows no list tells at a public address which run came of a request whose answer was lost. Nobody else
// can tell anything there.

import pino from 'pino';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { SUBMIT } from '../../src/run-service/executors/vendors/vendor-answers.ts';
import { OwnRuns } from '../../src/webhook/own-runs.ts';
import { openReceiver } from '../../src/webhook/receiver.ts';
import { ReportedRuns } from '../../src/webhook/reported-runs.ts';
import { isDoubtful, OwnService } from '../comfy/own-service.ts';
import { until } from '../stage/stage.ts';
import { openFal } from './fal.ts';
import { openRunpod } from './runpod.ts';
import type { LostAnswer } from './vendor-stand-in.ts';

const DOUBT = /has not said yet whether it has this run; known by \S+Z at the latest$/;
const LOSSES: readonly LostAnswer[] = ['closed', '502', 'timeout'];
const TIMING = { pollOnlyMs: 20, lateMs: 60, settledMs: 60, moveAfterMs: 400, blockedMs: 50 };
const OPEN = { runpod: openRunpod, fal: openFal };
type Telling = keyof typeof OPEN;

beforeAll(() => void Object.assign(SUBMIT, { waitMs: 2_000, slackMs: 0, queueMs: 300 }));

/** The vendor in front of a receiver, in front of the service. */
async function driven(vendor: Telling) {
  const standIn = await OPEN[vendor]();
  let own: OwnService | undefined;
  const nothing = (): Promise<never> => Promise.reject(new Error('no batch is here'));
  const receiver = await openReceiver(
    {
      secret: 'of-batches',
      getRun: nothing,
      runEnded: nothing,
      runSeen: nothing,
      reported: new ReportedRuns(),
      ownRuns: new OwnRuns(() => 0),
      log: pino({ level: 'silent' }),
      serviceOrigins: () => (own === undefined ? [] : [own.service.url]),
    },
    { host: '127.0.0.1', port: 0 },
  );
  onTestFinished(() => receiver.close());
  own = await OwnService.of([], undefined, TIMING, {
    webhookAddresses: { url: receiver.url, secret: 'of-the-webhookAddresses' },
  });
  const service = own;
  const add = (): Promise<string> =>
    service.addAny({
      servers: [{ url: standIn.url, kind: vendor, key: standIn.key }],
      models: [{ vendor, model: standIn.model, name: 'painter' }],
    });
  await add();
  const restart = async (): Promise<void> => {
    await service.close();
    await service.open();
    await add();
  };
  const queue = (seed = 7): Promise<string> => service.queue({ prompt: 'fox', seed }, { run_timeout: 1 });
  return { standIn, own: service, receiver, restart, queue };
}

const post = async (url: string, body: string, headers = {}): Promise<number> =>
  (await fetch(url, { method: 'POST', body, headers })).status;

describe.each(['runpod', 'fal'] as const)('%s', (vendor) => {
  it.each(LOSSES)('reveals the run of a request whose answer was lost (%s)', async (loss) => {
    const { standIn, own, queue } = await driven(vendor);
    standIn.lose(loss, 1);
    const run = await own.until(await queue());
    expect([run.status, standIn.posts(), standIn.executions().length]).toEqual(['success', 1, 1]);
    expect(run.outputs).toHaveLength(1);
  });

  it('reveals it to a service that was restarted meanwhile', async () => {
    const { standIn, own, queue, restart } = await driven(vendor);
    standIn.setDuration(800);
    standIn.lose('closed', 1);
    const id = await queue();
    await until(() => standIn.executions().length === 1, 'it executes');
    await restart();
    expect((await own.until(id)).status).toBe('success');
    expect([standIn.posts(), standIn.executions().length]).toEqual([1, 1]);
  });

  it('turns an unknown end into the known one, also after a restart', async () => {
    const { standIn, own, queue, restart } = await driven(vendor);
    standIn.setDuration(4_000);
    standIn.lose('closed', 1);
    const id = await queue();
    await own.until(id, ({ live_status: text }) => DOUBT.test(text ?? ''));
    await own.until(id, isDoubtful);
    await restart();
    expect(isDoubtful(await own.run(id))).toBe(true);
    const run = await own.until(id);
    expect([run.status, standIn.posts(), standIn.executions().length]).toEqual(['success', 1, 1]);
    expect(await own.log(id)).toContain('reports that it has this run');
  });

  it('takes nothing from anybody else', async () => {
    const { standIn, own, receiver, queue } = await driven(vendor);
    const ids = [await queue(1), await queue(2)];
    for (const id of ids) await own.until(id);
    const [first = '', second = ''] = standIn.runs.map(({ webhook = '' }) => webhook);
    expect(first.startsWith(`${receiver.url}/told/${vendor}/${ids[0]}/1/`)).toBe(true);
    const macOf = (url: string): string => url.split('/').at(-1) ?? '';
    const body = JSON.stringify({ id: 'another-job', request_id: 'another-job' });
    const statusOf = (url: string): Promise<number> => post(url, body);
    expect(await statusOf(first.replace(macOf(first), '0'.repeat(32)))).toBe(404);
    expect(await statusOf(first.replace(macOf(first), macOf(second)))).toBe(404);
    expect(await statusOf(first.replace('/1/', '/2/'))).toBe(404);
    expect(await statusOf(first.replace(`/${vendor}/`, '/replicate/'))).toBe(404);
    expect(await statusOf(`${receiver.url}/told/../control/servers`)).toBe(404);
    expect(await statusOf(`${receiver.url}/told/${vendor}/%2e%2e/1/${macOf(first)}`)).toBe(404);
    expect((await fetch(first)).status).toBe(404);
    expect(await post(first, 'x'.repeat((1 << 20) + 1))).toBe(413);
    expect(await post(first, '{}')).toBe(403);
    expect(await post(first, 'no JSON')).toBe(403);
    for (const id of ids) expect((await own.run(id)).status).toBe('success');
    expect(standIn.posts()).toBe(2);
  });
});

it('a message of fal counts with its signature only, and may come twice', async () => {
  const { standIn, own, queue } = await driven('fal');
  const fal = standIn as Awaited<ReturnType<typeof openFal>>;
  const id = await queue();
  await own.until(id);
  const [run] = fal.runs;
  if (run?.webhook === undefined) throw new Error('it has no webhook');
  const text = JSON.stringify({ request_id: run.id, status: 'OK' });
  const { body, headers } = fal.signed(run.id, text);
  expect(await post(run.webhook, body)).toBe(403);
  expect(await post(run.webhook, `${body} `, headers)).toBe(403);
  expect(await post(run.webhook, body, { ...headers, 'x-fal-webhook-timestamp': '1' })).toBe(403);
  expect(await post(run.webhook, body, { ...headers, 'x-fal-webhook-signature': 'ab' })).toBe(403);
  expect([await post(run.webhook, body, headers), await post(run.webhook, body, headers)]).toEqual([
    200, 200,
  ]);
  expect([(await own.run(id)).status, fal.posts()]).toEqual(['success', 1]);
});

it('genuine messages of fal that arrive at once are taken, and none is refused while the keys cannot be read', async () => {
  const { standIn, own, queue } = await driven('fal');
  const fal = standIn as Awaited<ReturnType<typeof openFal>>;
  fal.setDuration(60_000);
  await queue();
  await until(() => fal.runs.length === 1, 'it is sent');
  const [run] = fal.runs;
  const { body, headers } = fal.signed(run?.id ?? '', JSON.stringify({ request_id: run?.id, status: 'OK' }));
  const told = (): Promise<number> => post(run?.webhook ?? '', body, headers);
  expect(await Promise.all([told(), told(), told()])).toEqual([200, 200, 200]);
  // The next service has read no keys yet.
  await own.close();
  await own.open();
  fal.readNext(/jwks/, [{ status: 502 }]);
  expect([await told(), await told()]).toEqual([503, 503]);
});

it('a run that was cancelled before its id was known is cancelled at the vendor once it is told', async () => {
  const { standIn, own, queue } = await driven('runpod');
  standIn.setDuration(60_000);
  standIn.lose('closed', 1);
  const id = await queue();
  await until(() => standIn.executions().length === 1, 'it executes');
  await own.ask('POST', `/run/${id}/cancel`);
  const [run] = standIn.runs;
  expect(await post(run?.webhook ?? '', JSON.stringify({ id: run?.id, status: 'IN_PROGRESS' }))).toBe(200);
  await until(() => standIn.executions()[0]?.state === 'cancelled', 'it is cancelled there');
});
