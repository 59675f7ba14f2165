// rows in a pipe, and show without a row.

import { expect, it } from 'vitest';
import { Console } from './console.ts';
import { endBatch } from './ended-batch.ts';

const LONG = `a fox ${'very '.repeat(30)}far away`;

it('rows: cells are whole in a pipe, and short on a terminal', async () => {
  const console = await Console.open();
  await endBatch(await console.batch(console.write('sheet.csv', `prompt\n${LONG}\n`), 'long'));
  const words = ['rows', 'long', '--fields', 'row,prompt'];
  console.isTerminal = false;
  expect((await console.run(...words)).stdout).toBe(`row\tprompt\n1\t${LONG}\n`);
  console.isTerminal = true;
  expect((await console.run(...words)).stdout).toMatch(/^row\tprompt\n1\ta fox (?:very )+.*…\n$/);
});

it('show and logs without a row take the only row of the newest batch', async () => {
  const console = await Console.open();
  await endBatch(await console.batch(console.write('two.csv', 'prompt\na\nb\n'), 'two'));
  for (const command of ['show', 'logs']) {
    const { code, stderr } = await console.run(command);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('no row is named, and the newest batch two has 2'),
    ]);
    expect(stderr).toContain(`such as its first: runsheet ${command} two 1\n`);
  }
  await endBatch(await console.batch(console.write('one.csv', 'prompt\na fox\n'), 'one'));
  expect((await console.run('show', '-o', 'json')).stdout).toContain('"a fox"');
});
