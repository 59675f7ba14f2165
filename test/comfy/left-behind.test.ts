// Runs that are over or went elsewhere and that a server still holds, and the things that its silence does not prove.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serve } from '../stage/serve.ts';
import { until } from '../stage/stage.ts';
import { openStandIn, OwnService, portrait, queueAt, isRunning, timesOf, openOwn } from './own-service.ts';

const FIRST = 'cuda:0 First : cudaMallocAsync';
const sleeping = portrait({ seconds: 3_600 });

const soon = (isSo: () => boolean | Promise<boolean>, what: string): Promise<void> =>
  until(isSo, what, 10_000);

describe('a run that is over', () => {
  it('leaves its server, also if the service was restarted before it could say so', async () => {
    const { gpu, own } = await openOwn(sleeping);
    const [runs, waits] = [await own.queue({ prompt: 'one' }), await own.queue({ prompt: 'two' })];
    await own.until(runs, isRunning);
    await soon(async () => (await queueAt(gpu)).includes(waits), 'the second run waits there');
    gpu.freeze();
    await own.ask('POST', `/run/${waits}/cancel`);
    await own.close();
    gpu.thaw();
    await own.open();
    await soon(async () => !(await queueAt(gpu)).includes(waits), 'the second run is gone');
    gpu.wake();
    expect((await own.until(runs)).status).toBe('success');
    expect([timesOf([gpu], runs), timesOf([gpu], waits)]).toEqual([1, 0]);
  });
});

describe('a run of a server that does not answer for long', () => {
  type Scene = Awaited<ReturnType<typeof scene>>;

  /** Two servers, of which the first can be cut off. */
  async function scene(graph = sleeping) {
    const [first, second] = [await openStandIn({ device: FIRST }), await openStandIn()];
    const way = await openWay(() => Number(new URL(first.url).port));
    const own = await OwnService.of([way, second], graph);
    const wake = (): void => {
      const waking = setInterval(() => (first.wake(), second.wake()), 20);
      onTestFinished(() => clearInterval(waking));
    };
    return { first, second, way, own, wake };
  }

  /** The first server executes a run and has another one; then it is cut off, and both go to the second one. */
  async function moved({ first, second, way, own }: Scene): Promise<readonly [string, string]> {
    for (const prompt of ['one', 'two', 'three', 'four']) await own.queue({ prompt });
    await soon(
      async () => (await queueAt(first)).length + (await queueAt(second)).length === 4,
      'all are sent',
    );
    const [runs = '', waits = ''] = await queueAt(first);
    await own.until(runs, isRunning);
    way.cut();
    await soon(async () => (await own.log(waits)).includes('goes to another server'), 'they are moved');
    return [runs, waits];
  }

  it('is not executed there afterwards, also if the service was restarted meanwhile', async () => {
    const at = await scene();
    const { first, second, way, own } = at;
    const [runs, waits] = await moved(at);
    await own.close();
    await own.open();
    way.join();
    await soon(async () => !(await queueAt(first)).includes(waits), 'it is gone');
    at.wake();
    const ends = await Promise.all([runs, waits].map((id) => own.until(id)));
    expect(ends.map(({ status }) => status)).toEqual(['success', 'success']);
    expect(timesOf([first, second], waits)).toBe(1);
    expect(await own.log(waits)).toContain('goes to another server');
  });

  it('stays there if it calls a paid service', async () => {
    const at = await scene(portrait({ draw: 'PaidDraw', seconds: 3_600 }));
    const { first, second, way, own } = at;
    const ids = [await own.queue({ prompt: 'one' }), await own.queue({ prompt: 'two' })];
    const runs = await Promise.all(ids.map((id) => own.until(id, isRunning)));
    const runOnFirst = runs.find(({ gpu }) => gpu === 'First')?.id ?? '';
    way.cut();
    await own.until(runOnFirst, (run) => run.live_status?.includes('has not answered since') === true);
    const later = await own.queue({ prompt: 'three' });
    at.wake();
    await own.until(later);
    way.join();
    expect(await own.until(runOnFirst)).toMatchObject({ status: 'success', gpu: 'First' });
    expect(timesOf([first, second], runOnFirst)).toBe(1);
  });

  it('is executed elsewhere if its files can never be copied', async () => {
    const at = await scene();
    const { first, way, own } = at;
    const ids = [await own.queue({ prompt: 'one' }), await own.queue({ prompt: 'two' })];
    const runs = await Promise.all(ids.map((id) => own.until(id, isRunning)));
    const runOnFirst = runs.find(({ gpu }) => gpu === 'First')?.id ?? '';
    for (let nth = 0; nth < 50; nth++) first.answerNext('/view', { done: false, with: 500 });
    first.wake();
    await own.until(runOnFirst, (run) => run.live_status?.includes('cannot be copied') === true);
    way.cut();
    at.wake();
    expect(await own.until(runOnFirst)).toMatchObject({ status: 'success', gpu: 'CPU' });
  });
});

it('fails with the reason if its files can never be copied, and is asked for them less and less often', async () => {
  const { gpu, own } = await openOwn(portrait(), { pollMs: 2, moveAfterMs: 3_600_000 });
  const viewTimes: number[] = [];
  gpu.on('faulty', (path) => path === '/view' && viewTimes.push(performance.now()));
  for (let nth = 0; nth < 100; nth++) gpu.answerNext('/view', { done: false, with: 500 });
  const id = await own.queue({});
  expect((await own.until(id)).status).toBe('failed');
  expect(await own.log(id)).toMatch(/its files could not be copied from \S+ in 10 attempts: .*500/);
  expect(viewTimes).toHaveLength(10);
  expect((viewTimes[9] ?? 0) - (viewTimes[8] ?? 0)).toBeGreaterThan(16 * 2);
  expect(gpu.executions).toHaveLength(1);
});

describe('a paid run', () => {
  it('has an unknown end if it was sent, and its server was restarted while the service was closed', async () => {
    const { gpu, own } = await openOwn(portrait({ draw: 'PaidDraw', seconds: 3_600 }));
    const first = await own.queue({ prompt: 'one' });
    await own.until(first, isRunning);
    const id = await own.queue({ prompt: 'two' });
    await soon(async () => (await queueAt(gpu)).includes(id), 'it is sent');
    await own.close();
    const ended = once(gpu, 'ended');
    const began = once(gpu, 'began');
    gpu.wake();
    await ended;
    await began;
    await gpu.kill();
    await gpu.start();
    await own.open();
    const run = await own.until(id, ({ status }) => status === 'timeout');
    expect([run.ended_at, timesOf([gpu], id)]).toEqual([null, 1]);
  });
});

describe('silence is no end', () => {
  it('a request without an answer delays neither the ends of other runs nor cancels', async () => {
    const { gpu, own } = await openOwn(sleeping);
    const runs = await own.queue({ prompt: 'one' });
    await own.until(runs, isRunning);
    gpu.answerNext('/prompt', { done: true, with: 'silence' });
    const faulty = once(gpu, 'faulty');
    const waits = await own.queue({ prompt: 'two' });
    await faulty;
    await own.ask('POST', `/run/${waits}/cancel`);
    await soon(async () => !(await queueAt(gpu)).includes(waits), 'it is removed');
    gpu.wake();
    expect((await own.until(runs)).status).toBe('success');
    expect(timesOf([gpu], waits)).toBe(0);
  });

  it('files that are not sent do not keep the server from being looked at', async () => {
    const { gpu, own } = await openOwn();
    for (let nth = 0; nth < 12; nth++) gpu.answerNext('/view', { done: false, with: 'silence' });
    const ids: string[] = [];
    for (let nth = 0; nth < 12; nth++) ids.push(await own.queue({ prompt: `${nth}` }));
    await soon(() => gpu.executions.filter(({ end }) => end === 'success').length === 12, 'all are executed');
    const probe = await own.queue({ prompt: 'the last' });
    await soon(() => timesOf([gpu], probe) === 1, 'another one is executed');
    expect((await own.run(ids[0] ?? '')).status).toBe('running');
  });

  it('a connection that nobody closed proves nothing once its machine is gone', async () => {
    const gpu = await openStandIn();
    const way = await openWay(() => Number(new URL(gpu.url).port));
    const own = await OwnService.of([way], sleeping);
    const id = await own.queue({ prompt: 'one' });
    await own.until(id, isRunning);
    way.lose();
    await gpu.kill();
    const begun = once(gpu, 'began');
    await gpu.start();
    await begun;
    gpu.wake();
    expect((await own.until(id)).status).toBe('success');
    expect(await own.log(id)).toContain('it is executed again');
  });
});

type Way = {
  readonly url: string;
  /** The websockets of now are lost without a word. */
  lose(): void;
  /** The connections end, and there are no new ones until `join`. */
  cut(): void;
  join(): void;
};

async function openWay(port: () => number): Promise<Way> {
  const open = new Map<Socket, Socket>();
  const [sockets, lost] = [new Set<Socket>(), new Set<Socket>()];
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(port(), '127.0.0.1');
    open.set(near, far);
    near.once('data', (bytes) => /^upgrade:/im.test(String(bytes)) && sockets.add(near));
    near.on('data', (bytes) => void far.write(bytes)).on('error', () => far.destroy());
    near.on('close', () => far.destroy());
    far.on('data', (bytes) => void near.write(bytes)).on('error', () => undefined);
    far.on('close', () => lost.has(near) || near.destroy());
  });
  const { url, close } = await serve(server);
  onTestFinished(close);
  return {
    url,
    lose: () => sockets.forEach((near) => lost.add(near)),
    cut: () => {
      isCut = true;
      for (const near of open.keys()) near.destroy();
    },
    join: () => (isCut = false),
  };
}
