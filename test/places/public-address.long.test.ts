// A service with models of vendors that shows no list, behind a public address: the end of a run comes by the vendor's
// message, and a doubt about a run ends by a late message, or as unknown once the contract of the vendor is over.

import { afterEach, describe, expect, it } from 'vitest';
import { Stage, until } from '../stage/stage.ts';
import { Killable } from './killable.ts';
import { PLACES, type Place } from './places.ts';
import { PublicAddress } from './public-address.ts';
import type { ShortTimes } from './short-times.ts';

const DOUBT = /^queued, open: \S+ has not said yet whether it has this run; known by \S+Z at the latest$/;
/** The least time limit of RunPod. */
const LIMIT_S = 5;
const TELLING = ['RunPod', 'fal'] as const;

describe('a public address of a service', () => {
  const stage = new Stage();
  let address: PublicAddress | undefined;
  const places = new Map<string, Place>();

  const open = async (times: ShortTimes): Promise<PublicAddress> => {
    for (const name of TELLING) {
      const place = await PLACES[name]?.open(stage);
      if (place === undefined) throw new Error(`there is no place ${name}`);
      places.set(name.toLowerCase(), place);
      stage.environment = { ...stage.environment, ...place.environment };
    }
    await stage.temporal();
    address = await PublicAddress.open(stage);
    const entries = [...places].map(([name, { entry }]) => ({ name, ...entry, runTimeoutSeconds: LIMIT_S }));
    await Killable.start(stage, entries, times);
    return address;
  };
  const submit = async (name: string, rows: number): Promise<string> => {
    const lines = Array.from({ length: rows }, (_, at) => `${name} ${at},${at}\n`);
    const sheet = stage.write(`${name}.csv`, `prompt,seed\n${lines.join('')}`);
    const submitted = await stage.runHere(['submit', sheet, '-d', name, '-c', '3', '--name', name]);
    expect([submitted.code, submitted.code === 0 ? '' : submitted.stderr]).toEqual([0, '']);
    return submitted.stdout.trim();
  };
  afterEach(async () => {
    await stage.close();
    await address?.close();
    for (const place of places.values()) place.close();
    places.clear();
  });

  it('brings the end of each run, although no poll is due', async () => {
    const { answers } = await open({ timing: { pollOnlyMs: 600_000 } });
    const rows = 8;
    for (const place of places.values()) place.setDuration(500);
    const batches = [];
    for (const name of places.keys()) batches.push(await submit(name, rows));
    for (const batch of batches) expect((await stage.runHere(['wait', batch])).code).toBe(0);
    for (const [name, place] of places) {
      const { host } = place;
      expect([name, host?.posts(), place.executed().length]).toEqual([name, rows, rows]);
      if (process.env['COUNT_SAY']) console.log(name, 'polls', host?.polls(), 'told', answers.length);
    }
    expect(answers.filter((status) => status === 200)).toHaveLength(2 * rows);
    expect(answers.filter((status) => status !== 200)).toEqual([]);
  });

  it('ends a doubt by a late message, or as unknown once the contract of the vendor is over, and buys nothing again', async () => {
    const bounds = { queueMs: 5_000, slackMs: 1_000 };
    const told = await open({ submit: bounds });
    told.isKeeping = true;
    const vendors = [...places].map(([name, { host }]) => {
      if (host === undefined) throw new Error(`${name} has no stand-in`);
      host.lose('closed', 1, 'after');
      host.lose('502', 1, 'after');
      return { name, host };
    });
    // A doubt at one vendor may be over before that at the other begins.
    const seen = new Map<string, Set<string>>();
    const shown = (pattern: RegExp, count: number, what: string): Promise<void> =>
      until(async () => {
        const ids = seen.get(what) ?? new Set();
        seen.set(what, ids);
        for (const { id, status, endedAtMs, liveStatus = '' } of await stage.truth())
          if (pattern.test(`${status}, ${endedAtMs === undefined ? 'open' : 'ended'}: ${liveStatus}`))
            ids.add(id);
        return ids.size === count;
      }, what);
    const said = shown(DOUBT, 4, 'the doubts are said');
    const over = shown(/^timeout, open: /, 4, 'the doubts are over');
    for (const { name } of vendors) await submit(name, 3);
    await said;
    await over;
    const boundMs = bounds.queueMs + bounds.slackMs + LIMIT_S * 1_000;
    for (const { host } of vendors) {
      const { createdMs = 0, webhook = '' } = host.executions()[1] ?? {};
      expect(Date.now() - createdMs).toBeGreaterThan(boundMs);
      told.release(webhook);
    }
    await shown(/^success, ended/, 4, 'the late messages are taken');
    for (const { name, host } of vendors) {
      const { code } = await stage.runHere(['wait', name]);
      const results = stage.results(stage.path('batches', name));
      const of = (outcome: string) => results.filter((row) => row['outcome'] === outcome);
      expect([code, of('succeeded').length, of('unknown').length]).toEqual([3, 2, 1]);
      expect(of('unknown')[0]?.['prompt']).toBe(host.executions()[0]?.input['prompt']);
      // A slow machine may try a row again whose answer was not lost: that is an attempt.
      const attempts = results.reduce((sum, row) => sum + Number(row['attempts']), 0);
      const executed = host.executions().map(({ input }) => String(input['prompt']));
      expect([host.posts(), executed.length]).toEqual([attempts, attempts]);
      const lost = executed.slice(0, 2);
      expect(executed.filter((prompt) => lost.includes(prompt))).toEqual(lost);
      const verified = await stage.runHere(['verify', name]);
      expect(verified.stdout + verified.stderr).toContain('adds up');
    }
  });
});
