// Empty cells that --fill-down fills: within a product or a merged group, and never from the one above.

import { describe, expect, it } from 'vitest';
import { readCells } from '../../../src/sheet/read-records.ts';
import { ASKED } from '../../batches/create.ts';
import { SHOPIFY } from '../shopify.ts';
import { read } from './reading.ts';
import { Readable } from 'node:stream';

/** The cells of two columns in each row. */
async function filled(text: string, names: readonly [string, string], fillDown: readonly string[]) {
  const options = { ...ASKED.options, format: 'csv' as const, fillDown };
  const columns = (text.split('\n')[0] ?? '').split(',');
  const rows: string[] = [];
  for await (const cells of readCells(() => Readable.from([Buffer.from(text)]), options))
    rows.push(names.map((name) => cells[columns.indexOf(name)] ?? '').join(' '));
  return rows;
}

describe('--fill-down', () => {
  it('fills the lines of one product of Shopify, and none from a product above or from one of several pictures', async () => {
    const rows = await filled(SHOPIFY, ['Handle', 'Title'], ['Title', 'Image Src']);
    expect(rows).toEqual([
      'linen-apron Linen Apron',
      'linen-apron Linen Apron',
      'linen-apron Linen Apron',
      'copper-pan Copper Pan',
      'copper-pan Copper Pan',
      'oak-board Oak Board',
      'oak-board Oak Board',
      'new-vase New Vase',
    ]);
    const pictures = await filled(SHOPIFY, ['Variant SKU', 'Image Src'], ['Image Src']);
    expect(pictures.map((row) => row.replace(/https:.*\//, ''))).toEqual([
      'LA-SND apron.jpg?v=16987',
      'LA-INK apron-back.jpg?v=16987',
      'LA-RST ',
      'CP-24 pan.jpg?v=16987',
      ' pan-side.jpg?v=16987',
      'OB-S board.jpg?v=16987',
      'OB-M board.jpg?v=16987',
      'VA-1 ',
    ]);
  });

  it.each([
    [
      'the first column repeats in lines that continue',
      'model,photo\na,a.png\na,\nb,\n',
      ['a a.png', 'a a.png', 'b '],
    ],
    ['a handle never repeats', 'Handle,photo\na,a.png\nb,\nc,c.png\n', ['a a.png', 'b ', 'c c.png']],
    [
      'no column groups: a merged cell above single keys',
      'sku,photo\na,a.png\nb,\nc,\n',
      ['a a.png', 'b a.png', 'c a.png'],
    ],
    [
      'the first column is merged',
      'Group,photo,n\nBirds,a.png,1\n,,2\nFish,,3\n,c.png,4\n,,5\n',
      ['Birds a.png', ' a.png', 'Fish ', ' c.png', ' c.png'],
    ],
    [
      'some rows have a note, and no column groups',
      'note,photo,n\nlate,a.png,1\n,,2\n,,3\nlate,,4\n,,5\n',
      ['late a.png', ' a.png', ' a.png', 'late a.png', ' a.png'],
    ],
    [
      'equal values stand apart',
      'state,photo\nnew,a.png\ndone,\nnew,\n',
      ['new a.png', 'done a.png', 'new a.png'],
    ],
  ])('knows the groups of a sheet where %s', async (_, text, rows) => {
    const [first = ''] = text.split(',');
    expect(await filled(text, [first, 'photo'], ['photo'])).toEqual(rows);
  });
});

describe('a merged column', () => {
  const TEXT = 'Group,Style,prompt\nBirds,oil,an owl\n,,a heron\n,,a wren\nFish,ink,a pike\n,,a carp\n';

  it('of a template is filled down, and the question has the other answers', async () => {
    const options = { set: { prompt: '{prompt} of {Group}' }, drop: ['prompt', 'Style'] };
    const { rows, guesses } = await read('a.csv', TEXT, options);
    expect(rows).toEqual(
      ['an owl of Birds', 'a heron of Birds', 'a wren of Birds', 'a pike of Fish', 'a carp of Fish'].map(
        (prompt) => JSON.stringify({ prompt }),
      ),
    );
    expect(guesses).toEqual([
      `? "Group" is empty in 3 rows below the first one of a group, and the value above is taken; to send their text without it: --set 'prompt={prompt} of [{Group}]'; to leave them out: --where 'Group != ""' (--fill-down Group)`,
    ]);
    const plain = { ...options, set: { prompt: '{prompt}[ of {Group}]' }, optionalParts: true as const };
    expect((await read('a.csv', TEXT, plain)).guesses).toEqual([]);
  });

  it('of styles is added to the prompts with the value above', async () => {
    const { guesses } = await read('a.csv', TEXT);
    expect(guesses).toEqual([
      expect.stringContaining(
        "to add it to them: --set 'prompt={prompt}, {Style}' --fill-down Style (--drop Style)",
      ),
    ]);
  });

  it.each([
    ['some rows lack a value', 'oil,ink,,pen,wax,lead,,dye'],
    ['values come again', 'oil,,ink,,oil,,'],
    ['the first row has none', ',oil,,,ink,,'],
  ])('is none where %s', async (_, styles) => {
    const rows = styles.split(',').map((style, at) => `fox ${at},${style}\n`);
    const { guesses } = await read('a.csv', `prompt,Style\n${rows.join('')}`);
    expect(guesses).toEqual([expect.stringContaining("--set 'prompt={prompt}[, {Style}]' (--drop Style)")]);
  });
});
