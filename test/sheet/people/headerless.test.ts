// Sheets without a header, and sheets whose header stands below titles.

import { describe, expect, it } from 'vitest';
import { input } from '../laying.ts';
import { textRow, workbook } from '../xlsx/workbooks.ts';
import { read, readAt } from './reading.ts';

const refusal = (sheet: Promise<unknown>): Promise<unknown> => sheet.catch((error: unknown) => error);

describe('a first row of values is refused with a command that reads it as a row', () => {
  const long = 'a very long prompt '.repeat(12).trim();

  it.each([
    ['an id above others', 'T001,a red fox in the snow\nT002,an owl on a branch\n', 'id,prompt'],
    ['an id behind the text', 'a red fox in the snow,x-9\nan owl on a branch,x-10\n', 'prompt,id'],
    ['a sentence that repeats', 'x|a red fox|a red fox\ny|an owl in the night|an owl\n', 'A,prompt'],
    ['sentences', 'a red fox in snow,a fox is red today\nan owl at night,an owl is grey\n', 'prompt'],
    ['a text of more letters than a name has', `x,${long}\ny,an owl on a branch\n`, 'A,prompt'],
  ])('because of %s', async (_, text, columns) => {
    const correction = { add: [['--header-row', 'none'] as const, ['--columns', columns] as const] };
    expect(await refusal(read('a.csv', text))).toMatchObject({ code: 'E104', correction });
    const options = { headerRow: 0, columns: columns.split(',') };
    const { rows } = await read('a.csv', text, options);
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatch(/a red fox|very long/);
  });

  it('in a workbook', async () => {
    const rows = textRow('T001', 'a red fox in the snow') + textRow('T002', 'an owl');
    expect(await refusal(readAt(await workbook({ rows }), {}))).toMatchObject({
      code: 'E104',
      correction: {
        add: [
          ['--header-row', 'none'],
          ['--columns', 'id,prompt'],
        ],
      },
    });
  });

  it('unless an option says where the header is, or names a column', async () => {
    const text = 'T001,a red fox in the snow\nT002,an owl on a branch\n';
    const map = { prompt: 'a red fox in the snow' };
    expect((await read('a.csv', text, { map })).rows).toHaveLength(1);
    expect(await refusal(read('a.csv', text, { headerRow: 1 }))).toMatchObject({ code: 'E200' });
  });
});

it.each([
  ['names an input', 'prompt,S001\na fox,S002\nan owl,S003\n'],
  ['names a setting', 'Seed,Shot 1\n5,Shot 2\n'],
  [
    'asks, as a form does',
    'What should the picture show?,Which style do you want it in?\na red fox in snow,oil on a dark canvas\n',
  ],
  ['has the name of a column', 'Line,What the picture of it shows\na,a red fox in the snow\n'],
])('a first row that %s is a header', async (_, text) => {
  const error = await refusal(read('a.csv', text));
  expect((error as { code?: string }).code).not.toBe('E104');
});

describe('a header below titles', () => {
  const inputTypes = [input('prompt', 'string', { required: true })];
  const rows = `${textRow('Shot list of May')}<row r="3">${textRow('Nr', 'Szene').slice(5)}<row r="4">${textRow('1', 'a red fox in the snow').slice(5)}`;

  it('is no title with a date above it, which fills few columns', async () => {
    const dated = textRow('Shot list of May') + textRow('Version 3', '', '2025-03-12');
    const table =
      textRow('Shot', 'Szene', 'Kamera', 'Musik') +
      textRow('1', 'a red fox in the snow', 'slow pan', 'piano') +
      textRow('2', 'an owl on a gate post', 'still', 'strings');
    const options = { set: { prompt: 'ink: {Szene}' } };
    const { guesses } = await readAt(await workbook({ rows: dated + table }), options, { inputTypes });
    expect(guesses[0]).toMatch(
      /^\? header in row 3; left out above it: "Shot list of May", "Version 3 2025-03-12"/,
    );
  });

  it('is found in a workbook also if it names no input, which is asked', async () => {
    const refused = await refusal(readAt(await workbook({ rows }), {}, { inputTypes }));
    expect(refused).toMatchObject({
      code: 'E200',
      problems: [{ code: 'E203', correction: { add: [['--map', 'prompt=Szene']] } }],
    });
    const options = { set: { prompt: 'ink: {Szene}' } };
    expect(await readAt(await workbook({ rows }), options, { inputTypes })).toMatchObject({
      rows: ['{"prompt":"ink: a red fox in the snow"}'],
      guesses: expect.arrayContaining([
        '? header in row 3; left out above it: "Shot list of May" (--header-row 3)',
      ]) as unknown,
    });
  });

  it('that is in row 3 for want of others is said to be there', async () => {
    const single = `<row r="3">${textRow('a list of animals').slice(5)}<row r="4">${textRow('a red fox').slice(5)}`;
    expect(await refusal(readAt(await workbook({ rows: single }), {}, { inputTypes }))).toMatchObject({
      code: 'E104',
      hint: expect.stringContaining('--header-row 3') as string,
    });
  });
});

it('a CSV of one column whose first text names no input is refused, and no command loses that text', async () => {
  const texts = 'Catching salmon\nParading through a village\nExploring a cave\n';
  await expect(read('bear.csv', texts)).rejects.toMatchObject({
    code: 'E104',
    hint: expect.stringContaining('if it is the header: --header-row 1') as string,
    correction: {
      add: [
        ['--header-row', 'none'],
        ['--columns', 'prompt'],
      ],
    },
  });
});

it('one address among the names of a header makes it no row', async () => {
  const text = 'Original,Name,https://a.example/b\nMissile neutralized.,VO_a,\nReload now.,VO_b,\n';
  await expect(read('lines.csv', text, { map: { prompt: 'Original' } })).resolves.toMatchObject({
    rows: [expect.stringContaining('Missile') as string, expect.stringContaining('Reload') as string],
  });
  await expect(read('lines.csv', text)).rejects.not.toMatchObject({ code: 'E104' });
});

describe('a template of a marketplace', () => {
  const MARKS =
    'TemplateType=fptcustom,Version=2024.1,The top 3 rows are for the shop only. Do not delete them.,\n';
  const TITLES = 'Product Name,Seller SKU,Product Prompt,Seed\n';
  const FIELDS = 'item_name,item_sku,prompt,random_seed#1\n';
  const ROWS = 'Pan,cp-1,a copper pan on oak,512\nPot,sp-2,a steel pot on slate,\n';
  const SENT = ['cp-1 {"prompt":"a copper pan on oak","seed":512}', 'sp-2 {"prompt":"a steel pot on slate"}'];

  it('is read below its names of fields, which is asked', async () => {
    const { rows, guesses } = await read('a.csv', MARKS + TITLES + FIELDS + ROWS);
    expect(rows).toEqual(SENT);
    expect(guesses[0]).toMatch(
      /^\? header in row 3; left out above it: .*; to take the names of row 2: --header-row 2 --skip-rows 3 \(--header-row 3\)$/,
    );
    const told = await read('a.csv', MARKS + TITLES + FIELDS + ROWS, { headerRow: 3 });
    expect(told.rows).toEqual(SENT);
    const titles = { headerRow: 2, skipRows: [{ from: 3, to: 3 }] };
    const named = await read('a.csv', MARKS + TITLES + FIELDS + ROWS, titles);
    expect(named.rows).toEqual(SENT);
  });

  it('is read below its titles where it has no names of fields', async () => {
    const { rows, guesses } = await read('a.csv', MARKS + TITLES.replace('Product Prompt', 'Prompt') + ROWS);
    expect(rows).toEqual(SENT);
    expect(guesses.join()).toContain('header in row 2; left out above it: "TemplateType=fptcustom');
  });

  it.each([
    'name,prompt\nrow_a,oil_paint\nb c,a fox\n',
    'Look,Text for it\noil_paint,red_fox\npencil,grey_owl\nink_wash,blue_whale\n',
  ])('is none with a header above cells that look like names: %j', async (text) => {
    const reading = read('a.csv', text, {
      map: { prompt: text.startsWith('name') ? 'prompt' : 'Text for it' },
    });
    expect((await reading).rows).toHaveLength(text.split('\n').length - 2);
  });
});
