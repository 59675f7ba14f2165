// States as people note them: days, one word for a few rows, words of a program, and states of a group of rows. Each answer is judged
// by the rows that it sends.

import { describe, expect, it } from 'vitest';
import type { SheetOptions } from '../../../src/sheet/sheet-source.ts';
import { input } from '../laying.ts';
import { INPUTS, read } from './reading.ts';

const WHERE = /--where (?:'([^']*)'|(\S+))/g;

const prompts = (rows: readonly string[]): string =>
  rows
    .map((row) => (JSON.parse(row.slice(row.indexOf('{'))) as { prompt: string }).prompt.replace('fox ', ''))
    .join();

/** The prompts that each printed answer sends. */
async function answers(text: string, options: Partial<SheetOptions> = {}): Promise<readonly string[]> {
  const { guesses } = await read('a.csv', text, options);
  const question = guesses.find((guess) => guess.startsWith('? all rows run')) ?? '';
  const wheres = [...question.matchAll(WHERE)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  return Promise.all(
    wheres.map(async (where) => prompts((await read('a.csv', text, { ...options, where })).rows)),
  );
}

const sheetOf = (name: string, cells: readonly string[]): string =>
  [['prompt', name], ...cells.map((cell, at) => [`fox ${'abcdefghijkl'[at] ?? ''}`, cell])]
    .map((row) => `${row.join(',')}\n`)
    .join('');

describe('the answers about a state', () => {
  it.each([
    ['done', ['2025-11-02', '', '2025-11-04', ''], 'b,d'],
    ['status', ['approved 12.11.', 'in work', 'approved 13.11.', 'cut'], 'a,c'],
    ['status', ['Sent Nov 3', 'todo', 'sent 4 Nov', 'todo', 'cut'], 'a,c'],
    ['stock', ['in stock', 'in_stock', 'sold out'], 'a,b'],
    ['rendered on', ['2025-11-02', ''], 'b'],
    [
      'fertig am',
      ['02.11.2025', '', '04.11.2025', '', '', '5.11.2025', '6.11.', '7.11.', '8.11.2025'],
      'b,d,e',
    ],
    ['produced on', ['3 Nov 2025', '', ''], 'b,c'],
    ['Published', ['1', '-1', '1'], 'a,c'],
    ['Listed', ['1', '-1', '0'], 'a'],
    ['Command', ['MERGE', 'DELETE', 'NEW'], 'a,c'],
    ['Vermerk', ['', 'gestrichen'], 'a'],
    ['note', ['', 'cut', ''], 'a,c'],
  ])('take the rows that are meant: %s %s', async (name, cells, meant) => {
    expect(await answers(sheetOf(name, cells))).toContain(meant);
  });

  it.each([
    ['born', ['2025-11-02', '2025-11-03']],
    ['Note', ['', 'Fixed']],
    ['Country', ['DE', 'US', 'FR']],
    ['Currency', ['EUR', 'USD']],
    ['Delta', ['-1', '-2', '3']],
    ['Remark', ['', 'a little darker please']],
    ['Phone', ['', '+45 20 11 22 33']],
  ])('are asked about no other column: %s %s', async (name, cells) => {
    expect(await answers(sheetOf(name, cells))).toEqual([]);
  });

  const GROUPS = 'Title,Status,Image\nMug,active,1\n,,2\nJug,archived,3\n,,4\n';

  it('count the rows that continue the one above', async () => {
    const inputTypes = [...INPUTS.slice(0, 1), input('seed', 'seed')];
    const options = { map: { seed: 'Image' }, set: { prompt: 'a {Title}' } };
    const plain = await read('a.csv', GROUPS, options, { inputTypes });
    expect(plain.guesses.find((guess) => guess.includes('--fill-down'))).toContain(
      '--fill-down Title --fill-down Status',
    );
    const active = { ...options, fillDown: ['Title', 'Status'], where: 'Status = "active"' };
    const { rows } = await read('a.csv', GROUPS, active, { inputTypes });
    expect(rows).toEqual(['{"prompt":"a Mug","seed":1}', '{"prompt":"a Mug","seed":2}']);
    expect(plain.guesses.join('\n')).toContain(`to run 2 of 4 rows: --where 'Status = "active"'`);
  });

  it('offer the state of the row above where nothing else takes it', async () => {
    const inputTypes = [...INPUTS.slice(0, 1), input('seed', 'seed')];
    const options = { map: { seed: 'Image' }, set: { prompt: 'a pot' } };
    const { guesses } = await read('a.csv', GROUPS, options, { inputTypes });
    expect(guesses.join('\n')).toContain('to take it from the row above: --fill-down Status');
    const filled = await read(
      'a.csv',
      GROUPS,
      { ...options, fillDown: ['Status'], where: 'Status != "archived"' },
      { inputTypes },
    );
    expect(filled.rows).toEqual(['{"prompt":"a pot","seed":1}', '{"prompt":"a pot","seed":2}']);
  });
});
