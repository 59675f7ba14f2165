// Empty cells that --fill-down fills: within a product, and never from the product above.

import { describe, expect, it } from 'vitest';
import { readCells } from '../../../src/sheet/read-records.ts';
import { ASKED } from '../../batches/create.ts';
import { SHOPIFY } from '../shopify.ts';
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
      'equal values stand apart',
      'state,photo\nnew,a.png\ndone,\nnew,\n',
      ['new a.png', 'done a.png', 'new a.png'],
    ],
  ])('knows the groups of a sheet where %s', async (_, text, rows) => {
    const [first = ''] = text.split(',');
    expect(await filled(text, [first, 'photo'], ['photo'])).toEqual(rows);
  });
});
