// A server that accepts connections and says nothing, such as one whose machine hangs: a refused connection is quicker.

import { expect, it } from 'vitest';
import { TIMING } from '../../src/run-service/executors/driving/server-deps.ts';
import { openOwn, portrait } from './own-service.ts';
import { reasonOf } from './reasons.ts';

it('a run for a ComfyUI that says nothing names it and the time without an answer', async () => {
  const { gpu, own } = await openOwn(portrait(), TIMING);
  gpu.freeze();
  const reason = await reasonOf(own, await own.queue({}), /timeout|no answer|aborted/);
  expect(reason).toContain(new URL(gpu.url).host);
});
