// Small sheets as the export of other programs writes them.

import { describe, expect, it } from 'vitest';
import { input } from '../laying.ts';
import { read } from './reading.ts';

const PRODUCTS = [
  input('prompt', 'string', { required: true }),
  input('input_image', 'image'),
  input('style', 'string'),
];

describe('the export of', () => {
  it('Google Sheets: booleans in capitals, an error of a formula, CRLF and no byte order mark', async () => {
    const inputTypes = [input('prompt', 'string', { required: true }), input('hires', 'bool')];
    expect(
      await read(
        'Sheet1.csv',
        'prompt,hires,total\r\na fox,TRUE,3\r\nan owl,FALSE,4\r\n',
        {},
        { inputTypes },
      ),
    ).toEqual({
      rows: ['{"hires":true,"prompt":"a fox"}', '{"hires":false,"prompt":"an owl"}'],
      guesses: [],
    });
    await expect(read('Sheet1.csv', 'prompt,seed\r\n#ERROR!,1\r\n')).rejects.toMatchObject({ code: 'E200' });
  });

  it('Numbers: a title row above the header, semicolons and decimal commas where the language has them', async () => {
    const text = 'Table 1;;\nPrompt;Seed;CFG\nein Fuchs;42;7,5\nein Igel;43;8\n';
    const { rows, guesses } = await read('Numbers.csv', text);
    expect(rows).toEqual([
      '{"cfg":7.5,"prompt":"ein Fuchs","seed":42}',
      '{"cfg":8,"prompt":"ein Igel","seed":43}',
    ]);
    expect(guesses).toContain('header in row 2; left out above it: "Table 1" (--header-row 2)');
    expect(guesses).toContain('? numbers have a decimal comma in "CFG" (--decimal-comma)');
  });

  it('Airtable: a byte order mark, checked or nothing, and several lines in a cell', async () => {
    const inputTypes = [input('prompt', 'string', { required: true }), input('transparent', 'bool')];
    const text =
      '\ufeffName,Prompt,Transparent,Due\r\nHero,"a fox\nin snow",checked,12/24/2026\r\nCard,a violin,,1/7/2027\r\n';
    expect(await read('Grid view.csv', text, {}, { inputTypes })).toMatchObject({
      rows: ['Hero {"prompt":"a fox\\nin snow","transparent":true}', 'Card {"prompt":"a violin"}'],
    });
  });

  it('Notion: a byte order mark, Yes and No, and a title that names its rows', async () => {
    const inputTypes = [input('prompt', 'string', { required: true }), input('hires', 'bool')];
    const text = '\ufeffName,Prompt,Hires,Tags\nFox,a red fox,Yes,"animals, winter"\nOwl,a grey owl,No,\n';
    expect((await read('Shots 1a2b.csv', text, {}, { inputTypes })).rows).toEqual([
      'Fox {"hires":true,"prompt":"a red fox"}',
      'Owl {"hires":false,"prompt":"a grey owl"}',
    ]);
  });

  it('Shopify: rows of variants and pictures continue a product, whose title is filled down', async () => {
    const text = [
      'Handle,Title,Body (HTML),Variant SKU,Image Src',
      'shirt,Blue Shirt,<p>A blue shirt of cotton</p>,S-1,https://cdn.example.com/1.jpg',
      'shirt,,,S-2,https://cdn.example.com/2.jpg',
      'mug,Red Mug,<p>A red mug of clay</p>,M-1,https://cdn.example.com/3.jpg',
    ].join('\n');
    const set = { prompt: 'a photo of {Title}' };
    const options = { set, map: { input_image: 'Image Src' }, fillDown: ['Title'] };
    expect((await read('products_export.csv', text, options, { inputTypes: PRODUCTS })).rows).toEqual([
      'S-1 {"input_image":"https://cdn.example.com/1.jpg","prompt":"a photo of Blue Shirt"}',
      'S-2 {"input_image":"https://cdn.example.com/2.jpg","prompt":"a photo of Blue Shirt"}',
      'M-1 {"input_image":"https://cdn.example.com/3.jpg","prompt":"a photo of Red Mug"}',
    ]);
    await expect(read('products_export.csv', text, {}, { inputTypes: PRODUCTS })).rejects.toMatchObject({
      problems: [
        // HTML is no ready command.
        expect.objectContaining({
          code: 'E203',
          correction: undefined,
          hint: expect.stringContaining("add --map prompt=Title, or --map 'prompt=Body (HTML)', or"),
        }),
      ],
    });
  });

  it('WooCommerce: numbers of rows, inches in names, and words for nothing', async () => {
    const text = [
      'ID,Type,SKU,Name,Published,Images',
      '44,simple,woo-tee,"Tee, 24"" wide",1,https://cdn.example.com/tee.jpg',
      '45,simple,woo-cap,Cap 5" brim,1,https://cdn.example.com/cap.jpg',
    ].join('\n');
    const map = { prompt: 'Name', input_image: 'Images' };
    const { rows, guesses } = await read('wc-product-export.csv', text, { map }, { inputTypes: PRODUCTS });
    expect(rows).toEqual([
      'woo-tee {"input_image":"https://cdn.example.com/tee.jpg","prompt":"Tee, 24\\" wide"}',
      'woo-cap {"input_image":"https://cdn.example.com/cap.jpg","prompt":"Cap 5\\" brim"}',
    ]);
    expect(guesses[0]).toBe('quotes within a field are letters, such as Cap 5" brim (--quote loose)');
  });

  it.each([
    ['WooCommerce', 'https://a.example/tee.jpg, https://a.example/back.jpg, https://a.example/hem.jpg'],
    ['PrestaShop', 'https://a.example/tee.jpg;https://a.example/back.jpg;https://a.example/hem.jpg'],
    ['Magento', 'https://a.example/tee.jpg|https://a.example/back.jpg|https://a.example/hem.jpg'],
    ['Etsy, by hand', 'https://a.example/tee.jpg https://a.example/back.jpg https://a.example/hem.jpg'],
    [
      'Airtable',
      't.jpg (https://a.example/tee.jpg),b.jpg (https://a.example/back.jpg),h.jpg (https://a.example/hem.jpg)',
    ],
  ])('%s: several pictures in a cell, of which the first is sent after a question', async (_, images) => {
    const text = `SKU,Name,Pictures\ntee,Tee,"${images}"\ncap,Cap,https://a.example/cap.jpg\nbag,Bag,\n`;
    const map = { prompt: 'Name', input_image: 'Pictures' };
    const sheet = { inputTypes: PRODUCTS } as const;
    const first = [
      'tee {"input_image":"https://a.example/tee.jpg","prompt":"Tee"}',
      'cap {"input_image":"https://a.example/cap.jpg","prompt":"Cap"}',
      'bag {"prompt":"Bag"}',
    ];
    const { rows, guesses } = await read('products.csv', text, { map }, sheet);
    expect(rows).toEqual(first);
    expect(guesses).toContain(
      '? "Pictures" names several files in 1 of 2 rows, and input_image takes one: the first of each row is sent, 2 runs; to run each of the 4 files: --split Pictures (--map input_image=Pictures.0)',
    );
    const answered = await read('products.csv', text, { map: { ...map, input_image: 'Pictures.0' } }, sheet);
    expect(answered).toEqual({ rows: first, guesses: ['column "SKU" names the rows (--key SKU)'] });
    const split = await read('products.csv', text, { map, split: ['Pictures'] }, sheet);
    expect(split.rows).toHaveLength(5);
  });

  it('a shop: each of the pictures in a cell has an input of its own', async () => {
    const text = 'Name,Pictures\nTee,https://a.example/1\nCap,"https://a.example/2, https://a.example/3"\n';
    const map = { prompt: 'Name', input_image: 'Pictures.0', back: 'Pictures.1' };
    const sheet = { inputTypes: [...PRODUCTS, input('back', 'string')] };
    expect((await read('products.csv', text, { map }, sheet)).rows).toEqual([
      '{"input_image":"https://a.example/1","prompt":"Tee"}',
      '{"back":"https://a.example/3","input_image":"https://a.example/2","prompt":"Cap"}',
    ]);
  });
});
