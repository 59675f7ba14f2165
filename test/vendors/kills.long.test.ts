// Kills of everything while a batch runs at each vendor, through the real command line, and lost answers where the vendor can be
// asked what became of a request: each row is bought once.

import { afterEach, expect, it } from 'vitest';
import { Stage } from '../stage/stage.ts';
import { vendorOrdeal, type Ordeal } from './kill-ordeal.ts';
import { openFal } from './fal.ts';
import { openReplicate } from './replicate.ts';
import { openRouter } from './router.ts';
import { openRunpod } from './runpod.ts';

const stage = new Stage();
afterEach(() => stage.close());

const [rows, kills] = [Number(process.env['KILLED_ROWS'] ?? 40), Number(process.env['KILLS'] ?? 10)];

const LOSSES: Ordeal['losses'] = [
  { how: 'closed', when: 'after' },
  { how: '502', when: 'before' },
  { how: 'closed', when: 'before' },
  { how: '502', when: 'after' },
];

it.each([
  ['replicate', openReplicate, LOSSES],
  ['router', openRouter, LOSSES],
  ['runpod', openRunpod, []],
  ['fal', openFal, []],
] as const)(
  'a batch at %s buys each row once, whatever is killed',
  async (vendor, open, losses) => {
    const standIn = await open();
    const purchases = await vendorOrdeal(stage, standIn, {
      vendor,
      rows,
      kills,
      losses,
      seed: Number(process.env['KILL_SEED'] ?? 1),
      say: (text) => process.env['KILL_SAY'] && console.log(text),
    });
    standIn.close();
    if (process.env['KILL_SAY']) console.log(vendor, JSON.stringify(purchases));
    expect(purchases.boughtTwice).toEqual([]);
    // A kill between a request and its answer leaves a doubt where nobody can be asked, for eleven minutes.
    expect(purchases.delivered + purchases.unknown).toBe(rows);
    expect(purchases.wrong).toHaveLength(purchases.unknown);
    // A vendor that can be asked leaves no doubt.
    expect(losses.length > 0 && purchases.unknown > 0).toBe(false);
    expect(purchases.executions).toBe(rows);
    expect(purchases.kills).toBeGreaterThan(kills / 2);
  },
  1_200_000,
);
