import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { problem } from '../../src/errors/error.ts';
import { openLog } from '../../src/host/log.ts';
import { webhookUrl } from '../../src/webhook/webhook-token.ts';
import { NAME, opened, SECRET } from './opened.ts';

it('while the service refuses the key, the log has one warning, not one for each webhook', async () => {
  const lines: string[] = [];
  const receiver = await opened({
    getRun: async () => {
      throw problem('E301', { status: 401, detail: 'Unauthorized', keyFrom: 'the test', lastFour: '1234' });
    },
    log: openLog('warn', 'worker', { write: (line: string) => void lines.push(line) }),
  });
  const statuses = await Promise.all(
    Array.from({ length: 21 }, async (_, at) => {
      const body = JSON.stringify({ run_id: randomUUID(), status: 'success' });
      const url = webhookUrl({ ...NAME, place: at }, SECRET, receiver.url);
      return (await fetch(url, { method: 'POST', body })).status;
    }),
  );
  expect(new Set(statuses)).toEqual(new Set([503]));
  expect(lines.map((line) => (JSON.parse(line) as { reason: string }).reason)).toEqual([
    'the run service answered 401: Unauthorized (E301)',
  ]);
  await receiver.close();
});
