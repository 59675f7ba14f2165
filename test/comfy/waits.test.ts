// No wait without a reason (R30): within 30 s, a run that waits names its server and the last error there, or its place in the queue.

import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/run-service/database.ts';
import { TIMING } from '../../src/run-service/executors/driving/server-deps.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { makeAuthority, openFront } from '../stage/proxy.ts';
import { until } from '../stage/stage.ts';
import { reasonOf } from './reasons.ts';
import { isRunning, openOwn, openStandIn, OwnService, portrait, queueAt } from './own-service.ts';

const SLEEPS = portrait({ seconds: 3_600 });

describe('a run for a known ComfyUI', () => {
  it('that is switched off names it and the refused connection, also if the service starts in the meantime', async () => {
    const { gpu, own } = await openOwn(portrait(), TIMING);
    const { host } = new URL(gpu.url);
    await own.close();
    await gpu.kill();
    await own.open();
    const reason = await reasonOf(own, await own.queue({}), /ECONNREFUSED|refused/);
    expect(reason).toContain(host);
    await gpu.start();
  });

  it('that is switched off while it has the run names it and the refused connection', async () => {
    const { gpu, own } = await openOwn(SLEEPS, TIMING);
    const id = await own.queue({});
    await own.until(id, isRunning);
    await gpu.kill();
    const reason = await reasonOf(own, id, /ECONNREFUSED|refused/);
    expect(reason).toContain(new URL(gpu.url).host);
  });

  it('whose certificate is not trusted names it and the certificate', async () => {
    const { gpu, own } = await openOwn(portrait(), TIMING);
    const front = await openFront(makeAuthority(freshFolder(), 'gpu.test'), Number(new URL(gpu.url).port));
    const url = front.url.replace('http:', 'https:');
    await own.close();
    const database = openDatabase(own.files.replace(/\.files$/, ''));
    database.keepServer({ url, kind: 'comfyui', gpu: null, headersFile: null, seats: null });
    database.close();
    await gpu.kill();
    await own.open();
    const reason = await reasonOf(own, await own.queue({}), /certificate/);
    expect(reason).toContain(new URL(url).host);
    front.close();
  });
});

it('a run behind eight runs of another client names its place, and moves up as they end', async () => {
  const gpu = await openStandIn();
  for (let number = 1; number <= 8; number += 1) {
    const foreignGraph = portrait({ seconds: 3_600 });
    Object.assign(foreignGraph['3']?.inputs ?? {}, { text: `theirs ${number}` });
    await fetch(`${gpu.url}/prompt`, {
      method: 'POST',
      body: JSON.stringify({ prompt: foreignGraph, prompt_id: `theirs-${number}`, client_id: 'a browser' }),
    });
  }
  const own = await OwnService.of([gpu], SLEEPS);
  const { host } = new URL(gpu.url);
  const first = await own.queue({ prompt: 'one' });
  await until(async () => (await queueAt(gpu)).includes(first), 'it waits there');
  expect(await reasonOf(own, first, /behind/)).toBe(`it waits at ${host} behind 8 runs`);
  gpu.wake();
  expect(await reasonOf(own, first, /behind 7/)).toBe(`it waits at ${host} behind 7 runs`);
  const laterRuns = [
    await own.queue({ prompt: 'two' }),
    await own.queue({ prompt: 'three' }),
    await own.queue({ prompt: 'four' }),
  ];
  expect(await reasonOf(own, laterRuns[2] ?? '', /free server/)).toBe(
    'it is one of 2 runs that wait for a free server',
  );
});
