// Notifications that a real worker sends to the targets of a schedule whose sheet is broken.

import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { scheduleNoticeSchema, type ScheduleNoticeBody } from '../../src/notices/notice-body.ts';
import { receiver, type Request } from '../notices/receiver.ts';
import { deploymentsOf, Stage, until } from '../stage/stage.ts';

const SECRET = 'the secret of the receiver';
const DEPLOYMENTS = deploymentsOf({ name: 'quick', concurrencyLimit: 100, runSeconds: 0.1, runSpread: 0 });

const isSigned = ({ body, headers }: Request): boolean => {
  const [, t = '', v1] = /^t=(\d+),v1=(\w+)$/.exec(String(headers['runsheet-signature'])) ?? [];
  return v1 === createHmac('sha256', SECRET).update(`${t}.${body}`).digest('hex');
};
const news = (requests: readonly Request[], event: string): readonly ScheduleNoticeBody[] =>
  requests
    .filter((request) => isSigned(request) && request.body.includes(`"event":"${event}"`))
    .map(({ body }) => scheduleNoticeSchema.strict().parse(JSON.parse(body)));

describe('the targets of a schedule', () => {
  let stage = new Stage();
  beforeEach(() => {
    stage = new Stage();
    stage.environment = { RUNSHEET_NOTIFY_SECRET: SECRET };
  });
  afterEach(() => stage.close());

  const create = (...flags: readonly string[]) =>
    stage.run(
      ['schedule', 'create', 'nightly', stage.sheet(3), '-d', 'quick'].concat(
        ['--cron', '0 2 29 2 *', '--tz', 'UTC'],
        flags,
      ),
    );

  it('are notified once, signed, that its sheet has become bad, and nothing is bought', async () => {
    await stage.startAll(DEPLOYMENTS);
    const { url, requests } = await receiver(500, 200);
    expect(await create('--notify', url)).toMatchObject({ code: 0 });
    writeFileSync(stage.path('sheet.csv'), 'number,prompt,seed\n1,"a portrait that never ends,3\n');
    const batch = (await stage.run(['schedule', 'trigger', 'nightly'])).stdout.trim();
    await until(() => requests.length === 2, 'the receiver is notified again after it was busy');
    const [told] = news(requests.slice(1), 'firing-failed');
    expect(told).toMatchObject({ schedule: 'nightly', sheet: 'sheet.csv', deployment: 'quick' });
    expect(told?.errors?.[0]?.code).toMatch(/^E1\d\d$/);
    expect(`nightly-${told?.nominalTime.replaceAll(/[-:]|\.\d+/g, '')}`).toBe(batch);
    expect(await stage.truth()).toEqual([]);
    expect(requests).toHaveLength(2);
  });
});
