// Runs that wait: for a server, or in the queue of one.

import { expect, it } from 'vitest';
import { until } from '../stage/stage.ts';
import { openStandIn, OwnService, portrait, queueAt, type Run } from './own-service.ts';

const sleeping = portrait({ seconds: 3_600 });
const isRunning = ({ status }: Run): boolean => status === 'running';

it('are in no machine while they wait in the queue of a ComfyUI, and had no cold start', async () => {
  await using gpu = await openStandIn();
  await using own = await OwnService.of([gpu], sleeping);
  const first = await own.queue({ prompt: 'one' });
  await own.until(first, isRunning);
  const [cancelled, second] = [await own.queue({ prompt: 'two' }), await own.queue({ prompt: 'three' })];
  await until(async () => (await queueAt(gpu)).includes(cancelled), 'it waits there');
  expect(await own.run(cancelled)).toMatchObject({ status: 'queued', queued_at: null });
  await own.ask('POST', `/run/${cancelled}/cancel`);
  await until(async () => (await queueAt(gpu)).includes(second), 'another one waits there');
  gpu.wake();
  expect(await own.until(second, isRunning)).toMatchObject({ cold_start_duration: 0 });
  gpu.wake();
  expect(await own.until(second)).toMatchObject({ cold_start_duration: 0 });
  expect(await own.run(cancelled)).toMatchObject({ queued_at: null, cold_start_duration: null });
});
