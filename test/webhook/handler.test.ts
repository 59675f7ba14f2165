import { expect, it, onTestFinished, vi } from 'vitest';
import { WebhookHandler } from '../../src/webhook/handler.ts';
import { handling, NAME } from './opened.ts';

it('remembers a bounded number of runs to signal later', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const handler = new WebhookHandler(handling());
  for (let n = 0; n < 30_000; n += 1) await handler.handle(NAME, { runId: `${n}`, status: 'running' });
  expect(vi.getTimerCount()).toBeLessThanOrEqual(20_000);
  await handler.close();
  expect(vi.getTimerCount()).toBe(0);
});
