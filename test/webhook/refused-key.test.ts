import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { problem } from '../../src/errors/error.ts';
import { openLog } from '../../src/host/log.ts';
import { OwnRuns } from '../../src/webhook/own-runs.ts';
import { openReceiver } from '../../src/webhook/receiver.ts';
import { ReportedRuns } from '../../src/webhook/handler.ts';
import { webhookUrl } from '../../src/webhook/token.ts';

it('while the service refuses the key, the log has one warning, not one for each webhook', async () => {
  const lines: string[] = [];
  const receiver = await openReceiver(
    {
      secret: 'a secret',
      getRun: async () => {
        throw problem('E301', { status: 401, detail: 'Unauthorized', keyFrom: 'the test', lastFour: '1234' });
      },
      runEnded: async () => 'taken',
      runSeen: async () => 'taken',
      reported: new ReportedRuns(),
      ownRuns: new OwnRuns(),
      log: openLog('warn', 'worker', { write: (line: string) => void lines.push(line) }),
    },
    { host: '127.0.0.1', port: 0 },
  );
  const statuses = await Promise.all(
    Array.from({ length: 21 }, async (_, at) => {
      const name = { batch: 'b', mark: '0123456789abcdef', place: at, attempt: 1 };
      const body = JSON.stringify({ run_id: randomUUID(), status: 'success' });
      const url = webhookUrl(name, 'a secret', receiver.url);
      return (await fetch(url, { method: 'POST', body })).status;
    }),
  );
  expect(new Set(statuses)).toEqual(new Set([503]));
  expect(lines.map((line) => (JSON.parse(line) as { reason: string }).reason)).toEqual([
    'the run service answered 401: Unauthorized (E301)',
  ]);
  await receiver.close();
});
