// The use of each column, as `plan` shows it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { columnLines } from '../../src/cli/column-lines.ts';
import { RESULT_COLUMNS } from '../../src/sheet/result-columns.ts';
import { Console } from '../console/console.ts';
import { input, lay, type Sheet } from './laying.ts';

const INPUTS = [input('prompt', 'string', { required: true }), input('seed', 'int'), input('image', 'image')];

const usesIn = async (sheet: Sheet) =>
  Object.fromEntries(
    (await lay({ inputTypes: INPUTS, ...sheet })).uses.map(({ name, first, uses }) => [
      name,
      [first, ...uses.map((use) => ('input' in use ? `${use.as} ${use.input}` : use.as))],
    ]),
  );

describe('the use of a column', () => {
  it('is the input of its name, or each input that an option maps to it', async () => {
    const options = { map: { seed: 'n', prompt: 'text' } };
    expect(await usesIn({ text: 'text,n\na fox,5\n', options })).toEqual({
      text: ['a fox', 'input prompt'],
      n: ['5', 'input seed'],
    });
    const twice = { map: { prompt: 'file', image: 'file' } };
    expect(await usesIn({ text: 'file\nhttps://a.example/b.png\n', options: twice })).toEqual({
      file: ['https://a.example/b.png', 'input prompt', 'input image'],
    });
  });

  it('is a template whose text has its name in braces', async () => {
    const options = { set: { prompt: 'a {what} in {style}' }, drop: ['note'] };
    expect(await usesIn({ text: 'what,style,note\nlamp,ink,x\n', options })).toEqual({
      what: ['lamp', 'template prompt'],
      style: ['ink', 'template prompt'],
      note: ['x'],
    });
  });

  it('is to name the row, its GPU, to decide about it, to sort it, or to repeat it', async () => {
    const options = {
      keyColumn: 'sku',
      where: 'stock > 0',
      repeat: { by: 'times', isSame: true },
      drop: ['stock', 'times', 'rank', 'urgent', 'idle'],
    } as const;
    const text = 'prompt,sku,gpu,stock,times,rank,urgent,idle\na,k1,T4,1,2,3,4,5\n';
    const uses = await usesIn({ text, options, order: { orderBy: 'rank', priority: 'urgent' } });
    expect(uses).toEqual({
      prompt: ['a', 'input prompt'],
      sku: ['k1', 'key'],
      gpu: ['T4', 'gpu'],
      stock: ['1', 'where'],
      times: ['2', 'repeat'],
      rank: ['3', 'order'],
      urgent: ['4', 'priority'],
      idle: ['5'],
    });
  });

  it('is nothing for the columns that runsheet added to results', async () => {
    const names = ['prompt', ...RESULT_COLUMNS];
    const text = `${names.join(',')}\na${','.repeat(RESULT_COLUMNS.length)}\n`;
    const uses = await usesIn({ text });
    expect(Object.values(uses).map((words) => words[1])).toEqual([
      'input prompt',
      ...RESULT_COLUMNS.map(() => 'result'),
    ]);
  });
});

describe('the first value of a column', () => {
  it('is its first filled cell', async () => {
    const { seed, prompt } = await usesIn({ text: 'prompt,seed\na,\nb,\nc,7\n' });
    expect([prompt?.[0], seed?.[0]]).toEqual(['a', '7']);
  });

  it('is none if every cell is empty', async () => {
    expect(await usesIn({ text: 'prompt,seed\na,\nb, \n' })).toMatchObject({
      seed: [undefined, 'input seed'],
    });
  });
});

describe('the lines of a plan', () => {
  it('name every column of a wide sheet, also those without a value', async () => {
    const idle = Array.from({ length: 70 }, (_, at) => `idle ${at}`);
    const text = `prompt,note,${idle.join(',')}\na,x${','.repeat(idle.length)}\n`;
    const { uses } = await lay({ text, inputTypes: INPUTS, options: { drop: ['note', ...idle] } });
    const lines = columnLines(uses);
    expect(lines.slice(0, 2)).toEqual([
      '  columns   prompt  → prompt (string)  "a"',
      '            note    not sent           "x"',
    ]);
    expect(lines.slice(2)).toEqual([`            not sent, without any value: ${idle.join(', ')}`]);
  });

  it('show no sign that would change the terminal', () => {
    const lines = columnLines([{ name: 'a\u001b[2Jb', first: 'x\u202ey', uses: [] }]);
    expect(lines.join('')).not.toContain('\u001b');
    expect(lines.join('')).not.toContain('\u202e');
  });
});

it('a sheet without a required input shows all of its columns above the refusal, on the command line too', async () => {
  const console = await Console.open();
  const sheet = join(console.folder, 'a.csv');
  writeFileSync(sheet, 'alpha,beta\n,\na red fox in the snow,3\n');
  const { code, stderr } = await console.run('plan', sheet, '-d', 'portraits');
  expect(code).toBe(5);
  expect(stderr).toMatch(
    /\n {2}columns {3}alpha {2}not sent {2}"a red fox in the snow"\n {12}beta {3}not sent {2}"3"\n\n[^]*E203/,
  );
});
