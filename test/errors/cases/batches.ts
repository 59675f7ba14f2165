// Errors of batches that commands meet without Temporal: of names, rows, results and later sheets.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Console } from '../../console/console.ts';
import { endBatch } from '../../console/ended-batch.ts';
import type { Provocation } from '../provocation.ts';

const ROWS = 'sku,prompt,seed\nA-1,a,1\nB-2,b,2\n';

/** No service listens at port 1. */
const AWAY = 'http://127.0.0.1:1/api';

/** A batch of two rows that has ended. */
async function ended(console: Console, name = 'done', key?: string): Promise<void> {
  await endBatch(await console.batch(console.write(`${name} of "today".csv`, ROWS), name, 'portraits', key));
}
const done = (console: Console): Promise<void> => ended(console);
/** Where the settings do not look. */
const THERE = ['--out', "my friend's $batches"];

const elsewhere =
  (make: (console: Console) => Promise<void>) =>
  async (console: Console): Promise<void> => {
    await make(console);
    renameSync(console.out, join(console.folder, THERE[1] ?? ''));
  };

function change({ out }: Console, file: string, from: RegExp, to: string): void {
  const path = join(out, 'done', file);
  writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
}

const NAMES: readonly Provocation<Console>[] = [
  { code: 'E502', name: 'a batch is misspelt', arrange: done, args: ['rows', 'doen'], leads: [0] },
  {
    code: 'E602',
    name: 'no row of several is named',
    arrange: done,
    args: ['show'],
    says: /the newest batch done has 2/,
    leads: [0],
  },
  { code: 'E502', name: 'there is no batch', args: ['rows', 'any'], leads: [0] },
  {
    code: 'E502',
    name: 'a batch in a folder with a blank is misspelt',
    arrange: elsewhere(done),
    args: ['rows', 'doen', ...THERE],
    leads: [0],
  },
  {
    code: 'E504',
    name: 'batch.json breaks off',
    arrange: async (console) => {
      await done(console);
      change(console, 'batch.json', /^([^]{40})[^]*/, '$1');
    },
    args: ['rows', 'done'],
    says: /restore it from a copy, or make a new batch with --again/,
  },
  { code: 'E505', name: 'the batch has fewer rows', arrange: done, args: ['show', 'done', '9'], leads: [0] },
  {
    code: 'E505',
    name: 'the batch in a folder with a blank has fewer rows',
    arrange: elsewhere(done),
    args: ['show', 'done', '9', ...THERE],
    leads: [0],
  },
  {
    code: 'E510',
    name: 'the summary was changed',
    arrange: async (console) => {
      await done(console);
      change(console, 'summary.json', /"succeeded": ?1/, '"succeeded": 2');
    },
    args: ['verify', 'done'],
    says: /trust its parts and the service's run list/,
  },
  {
    code: 'E514',
    name: 'an earlier version made the batch',
    arrange: async (console) => {
      await done(console);
      change(console, 'batch.json', /"format": ?\d+/, '"format": 1');
    },
    args: ['rows', 'done'],
    says: /finish it with the version that made it, or run its sheet again as a new batch/,
  },
  {
    code: 'E519',
    name: 'there is no such attempt',
    arrange: done,
    args: ['logs', 'done', '1', '--attempt', '9'],
    leads: [0],
  },
];

const CHOICES: readonly Provocation<Console>[] = [
  {
    code: 'E550',
    name: 'a condition breaks off',
    arrange: done,
    args: ['plan', '--from', 'done', '--where', 'outcome =', '-d', 'portraits'],
    says: /--where, character \d+[^]*example: --where "outcome = succeeded and seed > 100"/,
  },
  {
    code: 'E552',
    name: 'a row that is picked does not exist',
    arrange: async (console) => {
      await done(console);
      console.write('my picks.csv', 'row\n9\n');
    },
    args: ['plan', '--from', 'done', '--pick', 'my picks.csv', '-d', 'portraits'],
    leads: [0],
  },
  {
    code: 'E553',
    name: 'no row is as wanted',
    arrange: done,
    args: ['plan', '--from', 'done', '--where', "prompt = 'it''s $5'", '-d', 'portraits'],
    leads: [0],
  },
  {
    code: 'E556',
    name: 'a row is picked twice',
    arrange: async (console) => {
      await done(console);
      console.write('picks.csv', 'row\n1\n1\n');
    },
    args: ['plan', '--from', 'done', '--pick', 'picks.csv', '-d', 'portraits'],
    says: /picks\.csv:3[^]*remove one of them/,
  },
  {
    code: 'E557',
    name: 'a key is misspelt',
    arrange: (console) => ended(console, 'done', 'sku'),
    args: ['retry', 'done', '--key', 'A-11', '-y'],
    leads: [0, 0],
  },
  {
    code: 'E522',
    name: 'the run service is away',
    arrange: async (console) => {
      await done(console);
      change(console, 'batch.json', /"base": ?"[^"]*"/, `"base":"${AWAY}"`);
    },
    env: { RUNSHEET_API_URL: AWAY },
    args: ['verify', 'done'],
    leads: ['E304', 0],
  },
  {
    code: 'E570',
    name: 'the batches share no row',
    arrange: elsewhere(async (console) => {
      await ended(console, 'one', 'sku');
      await endBatch(
        await console.batch(console.write('two.csv', ROWS.replaceAll('-', '.')), 'two', 'portraits', 'sku'),
      );
    }),
    args: ['compare', 'one', 'two', '--by', 'key', ...THERE],
    leads: [0],
  },
  {
    code: 'E570',
    name: 'the batches share neither a key nor inputs',
    arrange: async (console) => {
      await ended(console, 'one', 'sku');
      await endBatch(
        await console.batch(console.write('other.csv', 'sku,prompt\nZ-9,z\n'), 'other', 'portraits', 'sku'),
      );
    },
    args: ['compare', 'one', 'other'],
    leads: [0, 0],
  },
  {
    code: 'E602',
    name: 'a terminal cannot show a table',
    arrange: async (console) => {
      await done(console);
      console.isTerminal = true;
    },
    args: ['export', 'done', '--as', 'xlsx', '--file', '-'],
    leads: [0],
  },
];

const LATER: readonly Provocation<Console>[] = [
  {
    code: 'E532',
    name: 'a later sheet has another column',
    arrange: async (console) => {
      await done(console);
      console.write('later $1.csv', 'sku,promt,seed\nA,a,1\n');
    },
    args: ['plan', 'later $1.csv', '--into', 'done'],
    says: /did you mean prompt\? columns of the batch: sku, prompt, seed/,
  },
  {
    code: 'E533',
    name: 'a row of a later sheet changes what was bought',
    arrange: async (console) => {
      await ended(console, 'done', 'sku');
      console.write('later.csv', ROWS.replace('A-1,a', 'A-1,other'));
    },
    args: ['plan', 'later.csv', '--into', 'done'],
    leads: [0, 0],
  },
];

export const BATCHES: readonly Provocation<Console>[] = [...NAMES, ...CHOICES, ...LATER];
