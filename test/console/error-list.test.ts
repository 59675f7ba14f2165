// The file with every problem of a refused sheet: of a plan only if it is asked for, and gone once the sheet is right.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { connect } from '../../src/index.ts';
import { Console } from './console.ts';

let console: Console;
let sheet: string;
const BAD = `prompt,seed\n${Array.from({ length: 30 }, (_, at) => `a fox,s${at}\n`).join('')}`;
const lists = (): readonly string[] =>
  existsSync(console.out) ? readdirSync(console.out).filter((name) => name.endsWith('-errors.csv')) : [];

beforeEach(async () => {
  console = await Console.open();
  sheet = console.write('bad.csv', BAD);
});

it('a plan writes it only with --errors, and says so', async () => {
  const refused = await console.run('plan', sheet, '-d', 'portraits');
  expect([refused.code, refused.stderr, lists()]).toEqual([5, expect.stringContaining('--errors'), []]);
  const listed = await console.run('plan', sheet, '-d', 'portraits', '--errors');
  expect([listed.code, lists()]).toEqual([5, ['bad-errors.csv']]);
  expect(readFileSync(join(console.out, 'bad-errors.csv'), 'utf8').trim().split('\n')).toHaveLength(31);
});

it('a plan that lists nothing prints the same run', async () => {
  const good = console.write('good.csv', 'prompt\na fox\n');
  const { stderr } = await console.run('plan', good, '-d', 'portraits', '--errors');
  expect(stderr).toContain(`runsheet run ${good} -d portraits\n`);
});

it('a plan of a program has the first problems, and leaves no file', async () => {
  await using runsheet = await connect();
  const error = await runsheet.plan(sheet, { deployment: 'portraits' }).catch((refused: unknown) => refused);
  const issues = await Array.fromAsync((error as { readonly issues: AsyncIterable<object> }).issues);
  expect([issues.length, lists()]).toEqual([10, []]);
});

it('a run that is refused writes it, and a batch of the corrected sheet removes it', async () => {
  const refused = await console.run('submit', sheet, '-d', 'portraits');
  expect([refused.code, refused.stderr, lists()]).toEqual([
    5,
    expect.stringContaining('bad-errors.csv'),
    ['bad-errors.csv'],
  ]);
  console.write('bad.csv', BAD.replaceAll(/,s(\d)/g, ',$1'));
  await console.batch(sheet, 'good');
  expect(lists()).toEqual([]);
});
