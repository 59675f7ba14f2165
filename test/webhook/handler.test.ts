import pino from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { WebhookHandler, ReportedRuns } from '../../src/webhook/handler.ts';
import { OwnRuns } from '../../src/webhook/own-runs.ts';

const TOKEN = { batch: 'b', mark: '0123456789abcdef', place: 7, attempt: 1 };

it('remembers a bounded number of runs to signal later', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const handler = new WebhookHandler({
    getRun: async () => undefined,
    runEnded: async () => 'taken',
    runSeen: async () => 'taken',
    reported: new ReportedRuns(),
    ownRuns: new OwnRuns(),
    log: pino({ level: 'silent' }),
  });
  for (let n = 0; n < 30_000; n += 1) await handler.handle(TOKEN, { runId: `${n}`, status: 'running' });
  expect(vi.getTimerCount()).toBeLessThanOrEqual(20_000);
  await handler.close();
  expect(vi.getTimerCount()).toBe(0);
});
