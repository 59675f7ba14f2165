// Names of folders, which every user who can write to the folder of the batches chooses: on a terminal, none of them can act.

import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { closing } from '../../src/cli/follow/batch-end.ts';
import { readLatestSummary } from '../../src/results/summary.ts';
import { Console } from './console.ts';
import { endBatch } from './ended-batch.ts';

const ESCAPE = '\u001b';
const BAD = `a${ESCAPE}[2J${ESCAPE}[8m$(id)`;
const SHOWN = 'a [2J [8m$(id)';

let console: Console;
let folder: string;
beforeEach(async () => {
  console = await Console.open();
  const created = await console.batch(console.write('s.csv', 'prompt\na hen\n'), 'hens');
  await endBatch(created);
  folder = join(console.out, BAD);
  renameSync(created.folder, folder);
});

describe('on a terminal, a name has no control characters in the output of', () => {
  it.each([
    ['list', SHOWN],
    ['status', SHOWN, BAD],
    ['clean', SHOWN, '--older-than', '0d'],
    ['open', SHOWN, '--no-open', BAD],
    ['verify', '', '--no-lists', BAD],
    ['rows', '', BAD],
    ['events', '', BAD],
  ])('%s', async (command, shown, ...args) => {
    console.isTerminal = true;
    const { stdout, stderr } = await console.run(command, ...args);
    expect(stdout).toContain(shown);
    expect(stdout + stderr).not.toContain(`${ESCAPE}[2J`);
    expect(stdout).not.toContain(`${ESCAPE}[8m`);
  });

  it('the end of a batch', async () => {
    const created = await console.batch(console.write('t.csv', 'prompt\na cow\n'), 'cows');
    await endBatch(created);
    const summary = await readLatestSummary(created.store);
    const painted = summary && closing(summary, folder, (_style, text) => text);
    expect(painted).toContain(`${SHOWN}/results.csv`);
    expect(painted).not.toContain(ESCAPE);
  });
});

it('the keys of a file of picks are shown as text, and not all of a long one', async () => {
  await endBatch(await console.batch(console.write('t.csv', 'prompt\na cow\n'), 'cows'));
  const picks = console.write('picks.csv', `key\n"<b>\u202E${'long'.repeat(500)}"\n`);
  const { code, stderr } = await console.run('plan', '--from', 'cows', '--pick', picks, '-d', 'portraits');
  expect([code, stderr]).toEqual([5, expect.stringContaining('<b>')]);
  expect(stderr).not.toContain('\u202E');
  expect(stderr.length).toBeLessThan(3_000);
});

it('programs get the exact name', async () => {
  expect((await console.run('clean', '--older-than', '0d')).stdout).toBe(`${folder}\n`);
});

it('a command that is proposed quotes the name, so that its shell runs nothing in it', async () => {
  const { stderr } = await console.run('status', BAD);
  expect(stderr).toContain(String.raw`$'a\x1b[2J\x1b[8m$(id)'`);
});
