// Schedules on a real Temporal server: what our reading of a rule says is what the server does.

import { beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '@temporalio/client';
import { loadConfig } from '../../src/host/settings/config.ts';
import { shown, timesOf, zoneOf } from '../../src/schedule/cron.ts';
import type { ScheduleDefinition } from '../../src/schedule/schedule-definition.ts';
import { connectClient } from '../../src/temporal/connect.ts';
import { clientConverter } from '../../src/temporal/encryption/converter.ts';
import { payloadKeys } from '../../src/temporal/encryption/payload-keys.ts';
import { matchingTimes, openSchedules, type Schedules } from '../../src/temporal/temporal-schedules.ts';
import { definitionOf } from './definition.ts';
import { sharedStage } from '../stage/shared-stage.ts';

const MINUTE = 60_000;
const NEAR_MS = 3 * 60 * MINUTE;
const stage = sharedStage();
let client: Client;
let schedules: Schedules;

beforeAll(async () => {
  await stage.temporal();
  const { TEMPORAL_ADDRESS: address = '', TEMPORAL_NAMESPACE: namespace = '' } = stage.environment;
  const converter = clientConverter(payloadKeys(loadConfig({}), 'cluster'));
  ({ client } = await connectClient({ address, namespace, from: 'the stage', options: {} }, converter));
  schedules = openSchedules(() => client);
});

let made = 0;
/** A schedule that never fires during the test; `times` asks the server for its times. */
async function create(overrides: Partial<ScheduleDefinition>) {
  const definition = definitionOf({ name: `s${(made += 1)}`, ...overrides });
  const { handle } = await schedules.create(definition);
  await handle.pause();
  const times = async (from: string, to: string): Promise<readonly string[]> =>
    (await matchingTimes(client, definition.name, new Date(from), new Date(to))).map((time) =>
      time.toISOString().slice(0, 16),
    );
  return { definition, handle, times };
}

describe('when the clock is set forward', () => {
  it('a time that does not exist is skipped, in Paris and in New York', async () => {
    const paris = await create({ cron: '30 2 * * *', timezone: 'Europe/Paris' });
    expect(await paris.times('2027-03-27T00:00Z', '2027-03-30T00:00Z')).toEqual([
      '2027-03-27T01:30',
      '2027-03-29T00:30',
    ]);
    const newYork = await create({ cron: '30 2 * * *', timezone: 'America/New_York' });
    expect(await newYork.times('2027-03-13T00:00Z', '2027-03-16T00:00Z')).toEqual([
      '2027-03-13T07:30',
      '2027-03-15T06:30',
    ]);
  });
});

describe('when the clock is set back', () => {
  it('a time that comes twice fires once in Paris, twice in New York', async () => {
    const paris = await create({ cron: '30 2 * * *', timezone: 'Europe/Paris' });
    const inParis = ['2027-10-31T01:30'];
    expect(await paris.times('2027-10-30T12:00Z', '2027-11-01T00:00Z')).toEqual(inParis);
    const newYork = await create({ cron: '30 1 * * *', timezone: 'America/New_York' });
    const inNewYork = ['2027-11-07T05:30', '2027-11-07T06:30'];
    expect(await newYork.times('2027-11-06T12:00Z', '2027-11-08T00:00Z')).toEqual(inNewYork);
  });
});

/** Not each minute: a prime number of them comes by all minutes of an hour. */
const STRIDE = 7 * MINUTE;

describe('what a command says about a rule', () => {
  const RULES = [
    '30 2 * * *',
    '*/20 1-3 * * *',
    '15 2 * * 0',
    '5/25 */2 * * mon-fri',
    '0 1,2,3 13,28 3,10 *',
    '0 12 13 * 5',
    '45 1 1-7 nov 7',
  ];

  it.each(['Europe/Paris', 'America/New_York', 'Australia/Lord_Howe'])(
    'holds for a year of the server in %s',
    async (timezone) => {
      const [from, to] = [Date.parse('2027-01-01T00:00Z'), Date.parse('2028-01-01T00:00Z')];
      const zone = zoneOf(timezone);
      for (const text of RULES) {
        const isOnRule = timesOf(text, timezone);
        const { definition } = await create({ cron: text, timezone });
        const listed = await matchingTimes(client, definition.name, new Date(from), new Date(to));
        expect(listed.length, text).toBeGreaterThan(0);
        // The server lists at most 1,000 times, and has its own way around a clock change.
        const last = listed.length < 1_000 ? to : (listed.at(-1)?.getTime() ?? to);
        const isPlain = (at: number): boolean =>
          at <= last && zone.offsetMs(at - NEAR_MS) === zone.offsetMs(at + NEAR_MS);
        const times = new Set(listed.map((time) => time.getTime()));
        expect(
          [...times].filter(isPlain).filter((at) => !isOnRule(at)),
          text,
        ).toEqual([]);
        const missed = [];
        for (let at = from; at < to; at += STRIDE)
          if (isOnRule(at) && isPlain(at) && !times.has(at)) missed.push(at);
        expect(missed, text).toEqual([]);
      }
    },
  );
});

describe('a schedule', () => {
  it('is already so, differs, or is changed with replace', async () => {
    const { definition, handle } = await create({});
    expect(await schedules.create(definition)).toMatchObject({ how: 'unchanged' });
    const changed = { ...definition, cron: '0 4 * * *', overlap: 'buffer' } as const;
    await expect(schedules.create(changed)).rejects.toMatchObject({
      code: 'E562',
      message: expect.stringContaining('cron "0 2 * * *" → "0 4 * * *"; overlap "skip" → "buffer"'),
    });
    expect(await schedules.create(changed, { replace: true })).toMatchObject({ how: 'changed' });
    expect(await handle.describe()).toMatchObject({
      definition: changed,
      isPaused: true,
      firings: [],
      counts: { fired: 0, missed: 0, skipped: 0 },
    });
    await handle.resume();
    const { isPaused, nextTimes } = await handle.describe();
    expect(isPaused).toBe(false);
    expect(
      nextTimes.slice(0, 3).map((time) => shown(zoneOf('Europe/Paris'), time.getTime()).getUTCHours()),
    ).toEqual([4, 4, 4]);
  });

  it('that was deleted is unknown, and a similar name is suggested', async () => {
    const { handle, definition } = await create({ name: 'weekly' });
    await create({ name: 'weekly-2' });
    await handle.delete();
    await expect(schedules.getHandle(definition.name).describe()).rejects.toMatchObject({
      code: 'E560',
      hint: expect.stringContaining('did you mean weekly-2?'),
    });
    const names: string[] = [];
    for await (const { name } of schedules.list()) names.push(name);
    expect(names).toContain('weekly-2');
    expect(names).not.toContain('weekly');
  });
});
