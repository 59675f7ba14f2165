// The notifications that the targets of a schedule receive, on a real HTTP server.

import { createHmac } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { createWork } from '../../activities/index.ts';
import type { ScheduleNotice } from '../../src/batch/notices/schedule-notice.ts';
import { loadConfig } from '../../src/host/settings/config.ts';
import { scheduleNoticeSchema } from '../../src/notices/notice-body.ts';
import { definitionOf } from '../schedule/definition.ts';
import { depsOf } from './deps.ts';
import { receiver, type Request } from '../notices/receiver.ts';
import { SETTINGS } from '../notices/notice.ts';

const NOMINAL = Date.parse('2026-11-23T01:00:00Z');
const DEFINITION = definitionOf({ sheet: '/data/{{date}}.csv' });
const makerAt = (apiUrl: string) => ({
  config: loadConfig({
    RUNSHEET_API_URL: apiUrl,
    RUNSHEET_API_KEY: 'the-key-of-a-user',
    RUNSHEET_OUT: '/nowhere',
  }),
  isEmbedded: false,
});

const tell = (
  notice: ScheduleNotice,
  { definition = DEFINITION, nominalTime = NOMINAL, secret = 'the secret of the receiver' } = {},
  apiUrl = 'http://127.0.0.1:1/api',
): Promise<void> => {
  const deps = depsOf({ notices: { ...SETTINGS, secret }, maker: makerAt(apiUrl) as never });
  const { notifyFiring } = createWork(deps);
  return new MockActivityEnvironment().run(notifyFiring, { definition, nominalTime, notice });
};
const at = NOMINAL + 5_000;

describe('a firing that made no batch', () => {
  const failed = (to: string): ScheduleNotice => ({
    to,
    at,
    errors: [
      { code: 'E100', message: '1 error in 2026-11-23.csv', hint: 'correct it' },
      { code: 'E104', message: 'no prompt', place: { file: '2026-11-23.csv', line: 3, column: 2 } },
    ],
  });

  it('is notified with its time, its errors and the command that repeats it, signed', async () => {
    const { url, requests } = await receiver(200);
    await tell(failed(url));
    const { body, headers } = requests[0] as Request;
    const parsed = scheduleNoticeSchema.strict().parse(JSON.parse(body));
    expect(parsed).toEqual(JSON.parse(body));
    const again =
      'runsheet schedule trigger nightly --from 2026-11-23T01:00:00.000Z --to 2026-11-23T01:00:00.000Z';
    expect(parsed).toMatchObject({
      event: 'firing-failed',
      schedule: 'nightly',
      sheet: '2026-11-23.csv',
      nominalTime: '2026-11-23T01:00:00.000Z',
      errors: [{ code: 'E100' }, { code: 'E104', place: { line: 3, column: 2 } }],
      help: `correct it, then: ${again}`,
    });
    expect(parsed.text).toMatch(/^nightly made no batch at 2026-11-23 02:00: E100: 1 error in /);
    expect(headers['runsheet-notification']).toBe(parsed.id);
    expect(parsed.id).toMatch(/^nightly-20261123T010000Z-[\w-]+-firing-failed$/);
    const [, t = '', v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['runsheet-signature'])) ?? [];
    expect(v1).toBe(createHmac('sha256', 'the secret of the receiver').update(`${t}.${body}`).digest('hex'));
  });

  it('off the rule is repeated without times', async () => {
    const { url, requests } = await receiver(200);
    await tell(failed(url), { nominalTime: NOMINAL + 17_000 });
    expect(requests[0]?.body).toContain('correct it, then: runsheet schedule trigger nightly"');
  });

  it('is notified again if the receiver is busy, and only in networks of the worker, whatever the schedule names', async () => {
    const { url } = await receiver(503);
    await expect(tell(failed(url))).rejects.toMatchObject({ nonRetryable: false });
    const { url: secondUrl, requests } = await receiver(200);
    const request = {
      ...DEFINITION.request,
      service: { base: 'http://127.0.0.1:9/api', api: 'v2' },
    } as const;
    const refused = tell(
      failed(secondUrl),
      { definition: { ...DEFINITION, request } },
      'http://192.0.2.1/api',
    );
    await expect(refused).rejects.toMatchObject({ nonRetryable: true });
    expect(requests).toEqual([]);
  });
});
