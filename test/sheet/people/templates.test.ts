// Templates with empty cells: a text with a hole is asked about, and an optional part is left out.

import { describe, expect, it } from 'vitest';
import { input } from '../laying.ts';
import { read } from './reading.ts';

const TEXT = 'product,style,seed\nlamp,brass,1\nmug,,2\nvase,n/a,3\n';
const readWith = (prompt: string, more = {}) =>
  read(
    'a.csv',
    TEXT,
    { set: { prompt }, null: ['n/a'], ...more },
    {
      inputTypes: [input('prompt', 'string', { required: true }), input('seed', 'int')],
    },
  );
const promptsOf = ({ rows }: { readonly rows: readonly string[] }): readonly string[] =>
  rows.map((row) => (JSON.parse(row) as { prompt: string }).prompt);

describe('a template whose cell is empty in some rows', () => {
  it('is asked, with the rows', async () => {
    const readRows = await readWith('a {product} in {style} style');
    expect(promptsOf(readRows)).toEqual(['a lamp in brass style', 'a mug in  style', 'a vase in  style']);
    expect(readRows.guesses).toEqual([
      '? the text of prompt lacks "style" in rows 3-4, and is sent without it; to leave these rows out: --where \'style != ""\' (--set \'prompt=a {product} in [{style}] style\')',
    ]);
    const confirmed = await readWith('a {product} in [{style}] style');
    expect(confirmed).toEqual({ rows: readRows.rows, guesses: [] });
  });

  it.each([
    ['{product}, {style}', '{product}[, {style}]', ['lamp, brass', 'mug', 'vase']],
    ['{style} – {product}', '[{style} – ]{product}', ['brass – lamp', 'mug', 'vase']],
    ['{seed}: {style}; {product}', '{seed}[: {style}]; {product}', ['1: brass; lamp', '2; mug', '3; vase']],
    ['{product} in {style}', '{product} in [{style}]', ['lamp in brass', 'mug in ', 'vase in ']],
  ])('takes the separator of %s into its brackets', async (prompt, stated, prompts) => {
    const { guesses, ...readRows } = await readWith(prompt);
    expect(guesses.join()).toContain(`(--set 'prompt=${stated}')`);
    expect(promptsOf(readRows)).toEqual(prompts);
  });

  it('leaves out its optional part', async () => {
    const readRows = await readWith('a {product} [in {style} style]!');
    expect(promptsOf(readRows)).toEqual(['a lamp in brass style!', 'a mug !', 'a vase !']);
    expect(readRows.guesses).toEqual([]);
    expect(promptsOf(await readWith('a {product}[ in {style} of {seed}]'))).toEqual([
      'a lamp in brass of 1',
      'a mug',
      'a vase',
    ]);
  });

  it('has literal brackets: doubled ones around a cell, and all others', async () => {
    expect(promptsOf(await readWith('[a|b] [[{product}]] [[c]]'))).toEqual(
      ['lamp', 'mug', 'vase'].map((product) => `[a|b] [${product}] [[c]]`),
    );
  });

  it('is not sent if the cell is all of it', async () => {
    const { rows, guesses } = await read(
      'a.csv',
      'product,seed\nlamp,1\n,2\n',
      { set: { prompt: '{product}' } },
      {
        inputTypes: [input('prompt', 'string'), input('seed', 'int')],
      },
    );
    expect(rows).toEqual(['{"prompt":"lamp","seed":1}', '{"seed":2}']);
    expect(guesses).toEqual([]);
  });

  it('is not asked about rows that the condition leaves out', async () => {
    const { rows, guesses } = await readWith('a {style}', { where: 'style = brass' });
    expect([rows.length, guesses.filter((guess) => guess.startsWith('? '))]).toEqual([1, []]);
  });
});

describe('heads of sections in a sheet for a template', () => {
  const text = 'Dish,Desc\nSTARTERS,\nSoup,with bread\nMAINS,\nStew,with rice\nSteak,\n';
  const set = { prompt: '{Dish}, {Desc}' };

  it('are asked about apart from rows that lack a cell', async () => {
    const { rows, guesses } = await read('menu.csv', text, { set });
    expect(rows.map((row) => row.replace(/^\S* ?{/, '{'))).toEqual([
      '{"prompt":"Soup, with bread"}',
      '{"prompt":"Stew, with rice"}',
      '{"prompt":"Steak"}',
    ]);
    expect(guesses.filter((guess) => guess.startsWith('? '))).toEqual([
      expect.stringMatching(/^\? "STARTERS", "MAINS" in "Dish" head the rows below, and are left out/),
      expect.stringContaining('lacks "Desc" in row 6, and is sent without it'),
    ]);
  });

  it('are rows if their user says so, or if all rows are in capitals', async () => {
    expect((await read('menu.csv', text, { set, skipRows: [] })).rows).toHaveLength(5);
    expect(
      (await read('menu.csv', text.toUpperCase().replace('DISH,DESC', 'Dish,Desc'), { set })).rows,
    ).toHaveLength(5);
  });

  it('that continue a row are filled by the printed flag, which names a column', async () => {
    const merged = 'Dish,Desc,Nr\nSoup,with bread,a\n,,a\n,,a\n';
    const refusal = read('menu.csv', merged, { set });
    await expect(refusal).rejects.toMatchObject({
      code: 'E112',
      hint: expect.stringMatching(
        /if they continue the row above: --fill-down Dish --fill-down Desc$/,
      ) as string,
    });
  });
});
