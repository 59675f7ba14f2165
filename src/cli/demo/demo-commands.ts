// The demo, and the hidden command of the loop that it shows.

import { command } from '../command.ts';
import { boolean, optional, output, textFlag, wholeFlag } from '../flags/flags.ts';

const ROWS_MAX = 1_000;
const KILLS_MAX = 100;
const rows = wholeFlag(1, ROWS_MAX);
const kills = wholeFlag(0, KILLS_MAX);
const seed = wholeFlag(0);
const slots = wholeFlag(1);

export const demos = {
  demo: command(
    async () => (await import('./demo.ts')).default,
    {
      flags: {
        kill: boolean('kill workers at random moments, beside a loop that is killed at the same moments'),
        rows: optional(rows('n', 'how many rows (default: 24; with --kill 120)')),
        kills: { ...kills('n', 'with --kill: kills at most'), default: '9' },
        seed: { ...seed('n', 'seed of the run times and of the moments of the kills'), default: '1' },
        output,
      },
    },
    'show a batch on the local run service, without a sheet; costs nothing',
    '[--kill] [flags]',
  ),
  demoLoop: command(
    async () => (await import('./demo-loop.ts')).default,
    {
      flags: {
        deployment: textFlag('id', 'the deployment'),
        rows: rows('n', 'how many rows'),
        concurrency: slots('n', 'runs at the same time'),
      },
    },
    'the loop of demo --kill',
  ),
};
