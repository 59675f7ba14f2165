// A service with models of vendors that shows no list, behind a public address: the end of a run comes by the vendor's
// message.

import { afterEach, describe, expect, it } from 'vitest';
import { Stage } from '../stage/stage.ts';
import { Killable } from './killable.ts';
import { PLACES, type Place } from './places.ts';
import { PublicAddress } from './public-address.ts';
import type { ShortTimes } from './short-times.ts';

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
});
