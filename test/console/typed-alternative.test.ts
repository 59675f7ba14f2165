// A guess on a terminal: an alternative typed at the question changes how the sheet is read, and everything is shown again.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Console } from './console.ts';

const SHEET = 'prompt\na red fox\nan owl\na red fox\n';

async function typed(answers: string): Promise<string> {
  const console = await Console.open();
  const sheet = join(console.folder, 'a.csv');
  writeFileSync(sheet, SHEET);
  Object.assign(console, { isTerminal: true, typed: answers });
  return (await console.run('run', sheet, '-d', 'portraits')).stderr;
}

it('an alternative typed at the question replaces the guess, and the sheet is read again without asking twice', async () => {
  const stderr = await typed('1\n');
  expect(stderr).toMatch(/row 3 equals row 1, and is run too; to leave it out: --unique \(--no-unique\)/);
  expect(stderr).toMatch(
    / {2}1 {2}to leave it out: --unique\ny takes every line with a \?\. Is that right\? \[y\/n\/1\] /,
  );
  expect(stderr).toMatch(/3 rows, 1 column[^]*2 rows, 1 column/);
  expect(stderr.split('Is that right?')).toHaveLength(2);
});

it('a yes keeps the guess', async () => {
  const stderr = await typed('y\n');
  expect(stderr).toMatch(/3 rows, 1 column/);
  expect(stderr).not.toMatch(/2 rows, 1 column/);
});
