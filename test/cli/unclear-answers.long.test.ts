// A service, or something before it, that answers each request for a run in a way that does not say whether it has started one.

import { afterAll, describe, expect, it } from 'vitest';
import { readToken } from '../../src/webhook/webhook-token.ts';
import { openRelay, type Answer, type Asked } from '../stage/relay.ts';
import { finished } from '../stage/outage.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import { deploymentsOf, type Ended } from '../stage/stage.ts';
import { expectOneRunPerRow, runsOf } from '../stage/truth.ts';

const PAGE = '<!doctype html><html><head><title>Sign in to Example</title></head><body>…</body></html>';
const said = (status: number, body: string, type = 'application/json'): Answer => ({
  status,
  body,
  headers: { 'content-type': type },
});

/** How each batch is answered, by its name, and the reason that its pause shows. */
const ANSWERS: Readonly<Record<string, readonly [Answer, string]>> = {
  error: [said(500, 'Internal Server Error', 'text/plain'), 'answered 500: Internal Server Error'],
  gateway: [
    said(502, '<html><h1>502</h1>Bad Gateway</html>', 'text/html'),
    'answered 502: a web page "502 Bad Gateway"',
  ],
  page: [said(200, PAGE, 'text/html'), 'answered 200 without a run id: a web page "Sign in to Example"'],
  nameless: [said(200, '{"ok":true}'), 'answered 200 without a run id: {"ok":true}'],
};

/** Four groups: fewer would all be sent, and hold each slot, before the first answer is seen. */
const ROWS = 120;

/** The attempts of each batch that were sent, by batch and row. */
const sent = new Map<string, Map<number, number>>();
const broken = new Set([...Object.keys(ANSWERS), 'passing']);

const webhookIn = ({ body }: Asked): string | undefined =>
  (JSON.parse(String(body)) as { readonly webhook?: string }).webhook;

const stage = sharedStage(async (newStage) => {
  await newStage.temporal();
  const deployments = deploymentsOf({ concurrencyLimit: 120, runSeconds: 0.3 });
  const { base } = await newStage.service(['--deployments', newStage.write('deployments.json', deployments)]);
  const relay = await openRelay(base, async (request, pass) => {
    const isPost = request.method === 'POST' && request.url.endsWith('/queue');
    const token = isPost ? readToken(webhookIn(request)) : undefined;
    if (token === undefined) return pass();
    const rows = sent.get(token.batch) ?? new Map<number, number>();
    sent.set(token.batch, rows.set(token.place, (rows.get(token.place) ?? 0) + 1));
    return broken.has(token.batch) ? (ANSWERS[token.batch] ?? ANSWERS['error'])?.[0] : pass();
  });
  afterAll(relay.close);
  newStage.environment = { ...newStage.environment, RUNSHEET_API_URL: relay.base };
  await newStage.worker();
});
const run = (...args: readonly string[]): Promise<Ended> => stage.run(args);
const mostSent = (batch: string): number => Math.max(...(sent.get(batch)?.values() ?? []));

describe('a service that answers each POST with', () => {
  it.concurrent.each(Object.keys(ANSWERS))(
    '%s pauses the batch with that answer before any row is sent again, and the printed command loses no row',
    async (batch) => {
      const sheet = stage.sheet(ROWS, `${batch}.csv`);
      const startedAt = Date.now();
      const ended = await run('run', sheet, '-d', 'portraits', '-c', `${ROWS}`, '--name', batch, '--again');
      expect(Date.now() - startedAt).toBeLessThan(120_000);
      expect([ended.code, ended.stderr]).toEqual([8, expect.stringContaining(ANSWERS[batch]?.[1] ?? '?')]);
      expect(mostSent(batch)).toBe(1);
      broken.delete(batch);
      const [, command = ''] = /: runsheet (resume [\w-]+)/.exec(ended.stderr) ?? [];
      // On a busy machine no worker may take it in time, and the attempts may be late to be resolved, which is a pause as well.
      expect([0, 7]).toContain((await run(...command.split(' '))).code);
      expect((await finished(stage, batch)).code).toBe(0);
      expectOneRunPerRow(runsOf(await stage.truth(), stage.batchFile(stage.path('batches', batch))), ROWS);
    },
  );

  it.concurrent('an error pauses the batch only as long as that lasts', async () => {
    const args = ['-d', 'portraits', '-c', '20', '--name', 'passing', '--again'];
    const ended = await run('run', stage.sheet(30, 'passing.csv'), ...args);
    expect([ended.code, mostSent('passing')]).toEqual([8, 1]);
    broken.delete('passing');
    expect((await finished(stage, 'passing')).code).toBe(0);
    expectOneRunPerRow(runsOf(await stage.truth(), stage.batchFile(stage.path('batches', 'passing'))), 30);
  });
});
