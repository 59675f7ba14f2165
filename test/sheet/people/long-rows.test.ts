// Rows with more cells than their header: data of columns without a name, where no comma of a text can have made them.

import { describe, expect, it } from 'vitest';
import { workbook, textRow } from '../xlsx/workbooks.ts';
import { read, readAt } from './reading.ts';

const prompts = (rows: readonly string[]): readonly unknown[] =>
  rows.map((row) => (JSON.parse(row.slice(row.indexOf('{'))) as { prompt?: unknown }).prompt);

describe('cells beyond the header', () => {
  it.each([
    ['a.csv', '"prompt","seed"\n"a, b",1,"note"\n"c",2\n', 'row 2 has', 'note'],
    ['a.csv', 'prompt,seed\n"a, b",1,"","x, y"\n"c",2\n"d",3,,\n', 'row 2 has', 'x, y'],
    ['a.tsv', 'prompt\tseed\na, b\t1\tnote\nc\t2\nd\t3\t\t4\n', 'rows 2,4 have', 'note'],
  ])('are data if no comma made them, which is asked: %s %j', async (file, text, rows, first) => {
    const guessed = await read(file, text);
    expect(prompts(guessed.rows).slice(0, 2)).toEqual(['a, b', 'c']);
    expect(guessed.guesses[0]).toBe(
      `? ${rows} cells beyond the header, such as "${first}", which are data (--long-rows)`,
    );
    const answered = await read(file, text, { longRows: true });
    expect(answered.rows).toEqual(guessed.rows);
    expect(answered.guesses.filter((guess) => guess.startsWith('?'))).toEqual([]);
  });

  it('are data behind any separator but the comma', async () => {
    const { rows } = await read('a.csv', 'prompt;seed\na, b;1;note\nc;2\n', { delimiter: ';' });
    expect(prompts(rows)).toEqual(['a, b', 'c']);
  });

  it('are data in a workbook', async () => {
    const rows = textRow('prompt') + textRow('a fox', '', 'ask Ann') + textRow('an owl');
    const { rows: laid, guesses } = await readAt(await workbook({ rows }), {});
    expect(prompts(laid)).toEqual(['a fox', 'an owl']);
    expect(guesses[0]).toBe(
      '? row 2 has cells beyond the header, such as "ask Ann", which are data (--long-rows)',
    );
  });

  it('are data, and make no row a bad one, where bad rows are skipped', async () => {
    const rows =
      textRow('prompt', 'seed') + textRow('a fox', '1', 'ask Ann') + textRow('an owl') + textRow('a hen');
    const { rows: laid, guesses } = await readAt(await workbook({ rows }), { invalid: 'skip' });
    expect(prompts(laid)).toEqual(['a fox', 'an owl', 'a hen']);
    expect(guesses[0]).toMatch(/^\? row 2 has cells beyond the header.*--long-rows/);
  });

  it('are data beside a row whose commas are parts of a text', async () => {
    const text = '"prompt","seed"\n"a","1","note"\nb, c,2\n"d","3"\n';
    const { rows, guesses } = await read('a.csv', text);
    expect(rows).toEqual([
      '{"prompt":"a","seed":1}',
      '{"prompt":"b, c","seed":2}',
      '{"prompt":"d","seed":3}',
    ]);
    expect(guesses.filter((guess) => guess.startsWith('?'))).toHaveLength(2);
  });

  it('are no likely text of an input', async () => {
    const text =
      '"Who","Line"\n"Ann","It rains in the hall.","a note of the editor, which is long"\n"Bob","A door that opens."\n';
    const refused = await read('a.csv', text).catch((error: unknown) => error);
    expect(refused).toMatchObject({ problems: [{ correction: { add: [['--map', 'prompt=Line']] } }] });
  });

  it('leave rows that are too short a question of their own', async () => {
    const { guesses } = await read('a.tsv', 'prompt\tseed\tcfg\na\t1\t2\tx\nb\t1\n');
    expect(guesses.filter((guess) => guess.startsWith('?')).join()).toMatch(/--long-rows.*--short-rows/s);
  });

  it('widen a sheet without a header', async () => {
    const options = { headerRow: 0, columns: ['prompt', 'seed'], longRows: true } as const;
    const { rows } = await read('a.tsv', 'a\t1\nb\t2\tx\ty\n', options);
    expect(rows).toEqual(['{"prompt":"a","seed":1}', '{"prompt":"b","seed":2}']);
  });
});

it('a row of one cell between sections is left out by a condition once it is known to be whole', async () => {
  const text = 'shot,prompt,seed\nMORNING\n1,a fox,1\nEVENING\n2,an owl,2\n';
  const { rows, guesses } = await read('a.csv', text, { where: 'prompt != ""' });
  expect(rows).toEqual(['{"prompt":"a fox","seed":1}', '{"prompt":"an owl","seed":2}']);
  expect(guesses.join()).toMatch(
    /\? the last cells of rows 2,4 \("MORNING"\) are missing .*\(--short-rows\)/,
  );
});
