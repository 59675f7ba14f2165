// Kills of everything that takes part in a batch of a program, through the real command line.

import { afterEach, expect, it } from 'vitest';
import { Stage } from '../stage/stage.ts';
import { killOrdeal, victimsInTurns } from './kill-ordeal.ts';

const stage = new Stage();
afterEach(() => stage.close());

it.each([
  { form: 'with a process for each run', stays: false, rows: 60, kills: 24 },
  { form: 'that stays', stays: true, rows: 30, kills: 14 },
])(
  'a batch of a program $form delivers each row once under kills of everything, and says each repetition',
  async ({ stays, ...usual }) => {
    const [rows, kills] = [
      Number(process.env['KILLED_ROWS'] ?? usual.rows),
      Number(process.env['KILLS'] ?? usual.kills),
    ];
    const figures = await killOrdeal(stage, {
      stays,
      rows,
      victims: victimsInTurns(kills),
      gapMs: { least: 500, spread: 2_000 },
      seed: Number(process.env['KILL_SEED'] ?? 1),
      say: (text) => process.env['KILL_SAY'] && console.log(text),
    });
    if (process.env['KILL_SAY']) console.log(JSON.stringify(figures));
    expect(figures).toMatchObject({ delivered: rows, wrong: [], both: [], unsaid: [], left: 0 });
    expect(figures.lost.said).toBe(figures.lost.counted);
    expect(Object.values(figures.kills).every((times) => times > 0)).toBe(true);
  },
  1_800_000,
);
