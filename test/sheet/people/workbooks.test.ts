// Workbooks as people have them: several sheets, titles, filters, percentages.

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RESULT_COLUMNS } from '../../../src/sheet/result-columns.ts';
import { input } from '../laying.ts';
import { FILES, textRow, workbook } from '../xlsx/workbooks.ts';
import { read, readAt } from './reading.ts';

const TWO_SHEETS =
  '<workbook xmlns:r="r"><sheets><sheet name="May" r:id="s1"/><sheet name="June" r:id="s2"/></sheets></workbook>';

const sheetTwo = (...cells: readonly string[]) => ({
  'xl/worksheets/sheet2.xml': `<worksheet><sheetData>${cells.map((cell) => textRow(cell)).join('')}</sheetData></worksheet>`,
});

describe('a workbook as people have it', () => {
  it('has percentages of Excel, which an input may want as they are shown', async () => {
    const path = await workbook({
      rows: `${textRow('prompt', 'cfg', 'denoise')}<row><c t="str"><v>a</v></c><c s="1"><v>0.8</v></c><c s="1"><v>0.5</v></c></row>`,
      cellFormats: '<cellXfs><xf numFmtId="0"/><xf numFmtId="9"/></cellXfs>',
    });
    const rows = ['{"cfg":0.8,"denoise":0.5,"prompt":"a"}'];
    const text = (name: string) => `column "${name}": percentages are read as fractions, 25 % as 0.25`;
    expect(await readAt(path, {})).toEqual({
      rows,
      guesses: [`? ${text('cfg')} (--type cfg=float)`, text('denoise')],
    });
    expect(await readAt(path, { types: { cfg: 'float' } })).toEqual({
      rows,
      guesses: [text('cfg'), text('denoise')],
    });
  });

  it('has percentages that were entered as texts, which are asked about as in a CSV', async () => {
    const path = await workbook({ rows: textRow('prompt', 'cfg') + textRow('a', '90%') });
    expect(await readAt(path, {})).toEqual({
      rows: ['{"cfg":0.9,"prompt":"a"}'],
      guesses: ['? column "cfg": percentages are read as fractions, 25 % as 0.25 (--type cfg=float)'],
    });
  });

  it('is one of several sheets of a workbook, unless the user names it', async () => {
    const path = await workbook({
      rows: `${textRow('prompt')}${textRow('a')}`,
      workbook: TWO_SHEETS,
      more: sheetTwo('prompt', 'b'),
    });
    const answer = '? sheet "May" is read (others: "June") (--sheet-name May)';
    expect(await readAt(path, {})).toEqual({ rows: ['{"prompt":"a"}'], guesses: [answer] });
    expect(await readAt(path, { sheet: 'May' })).toEqual({ rows: ['{"prompt":"a"}'], guesses: [] });
    expect(await readAt(path, { sheet: 'June' })).toEqual({ rows: ['{"prompt":"b"}'], guesses: [] });
  });

  it('is the first one that is a table, behind a sheet of prose, and the guess is asked', async () => {
    const path = await workbook({
      rows: `${textRow('Read me first')}${textRow('Do not touch the Seed column')}`,
      workbook: TWO_SHEETS,
      more: {
        'xl/worksheets/sheet2.xml': `<worksheet><sheetData>${textRow('All shots')}${textRow('Prompt', 'Seed')}${textRow('a', '1')}</sheetData></worksheet>`,
      },
    });
    const { rows, guesses } = await readAt(path, {});
    expect(rows).toEqual(['{"prompt":"a","seed":1}']);
    expect(guesses[0]).toBe('? sheet "June" is read (others: "May") (--sheet-name June)');
  });

  it('is the one that the workbook opens with, if it is a table', async () => {
    const path = await workbook({
      rows: `${textRow('prompt', 'seed')}${textRow('a', '1')}`,
      workbook: TWO_SHEETS.replace(
        '<sheets>',
        '<bookViews><workbookView activeTab="1"/></bookViews><sheets>',
      ),
      more: {
        'xl/worksheets/sheet2.xml': `<worksheet><sheetData>${textRow('prompt', 'seed')}${textRow('b', '2')}</sheetData></worksheet>`,
      },
    });
    const { rows, guesses } = await readAt(path, {});
    expect(rows).toEqual(['{"prompt":"b","seed":2}']);
    expect(guesses[0]).toBe('? sheet "June" is read (others: "May") (--sheet-name June)');
  });

  it('is refused if a later sheet has more columns of inputs, with the command that reads it', async () => {
    const path = await workbook({
      rows: `${textRow('Step', 'What to do')}${textRow('1', 'Fill in June')}`,
      workbook: TWO_SHEETS,
      more: {
        'xl/worksheets/sheet2.xml': `<worksheet><sheetData>${textRow('Prompt', 'Seed')}${textRow('a', '1')}</sheetData></worksheet>`,
      },
    });
    await expect(readAt(path, {})).rejects.toMatchObject({
      code: 'E111',
      message: expect.stringContaining(
        'sheet "May" comes first, but "June" has the columns prompt, seed',
      ) as string,
      correction: { add: [['--sheet-name', 'June']] },
    });
    expect((await readAt(path, { sheet: 'June' })).rows).toEqual(['{"prompt":"a","seed":1}']);
  });

  it('has its header below the heads of groups, which are merged across columns', async () => {
    const rows = [
      ['Business', '', 'Pictures'],
      ['code', 'prompt', 'image'],
      ['A0', 'a saree', 'https://a.example/a.png'],
      ['A1', 'a shawl', 'https://a.example/b.png'],
    ].map((texts) => textRow(...texts));
    const path = await workbook({
      rows: rows.join(''),
      behind: '<mergeCells><mergeCell ref="A1:B1"/></mergeCells>',
    });
    expect((await readAt(path, {})).rows).toHaveLength(2);
  });

  it('is the first sheet of a workbook whose header cannot be read, and the guess is asked', async () => {
    const path = await workbook({
      rows: textRow('prompt', '__proto__'),
      workbook: TWO_SHEETS,
      more: sheetTwo('prompt', 'b'),
    });
    await expect(readAt(path, {}, { answers: {} })).rejects.toMatchObject({
      code: 'E111',
      message: expect.stringContaining('sheet "May" is read (others: "June")') as string,
    });
    await expect(readAt(path, {})).rejects.toMatchObject({ code: 'E104' });
  });

  it('is the results that runsheet exported, with a summary behind them', async () => {
    const header = textRow('prompt', ...RESULT_COLUMNS);
    const row = textRow('a', '1', 'k', 'failed', ...Array.from({ length: 10 }, () => ' '));
    const path = await workbook({ rows: header + row, workbook: TWO_SHEETS, more: sheetTwo('rows', '1') });
    expect(await readAt(path, {})).toEqual({ rows: ['{"prompt":"a"}'], guesses: [] });
  });

  it('is a workbook with a merged title, a filter, dates and article numbers with zeros', async () => {
    expect(await readAt(join(FILES, 'xlsxwriter.xlsx'), {})).toEqual({
      rows: [
        '00017 {"prompt":"a red fox","seed":42}',
        '00018 {"prompt":"a red fox!","seed":999999999999999}',
        '00019 {"prompt":"hidden one","seed":3}',
      ],
      guesses: [
        'header in row 3; left out above it: "Bestellung November" (--header-row 3)',
        '? 1 hidden row is read too; to leave them out: --hidden skip (--hidden include)',
        'column "sku" names the rows (--key sku)',
        `? all rows run, whatever column "tag" says ("2026-11-21", empty); to run 2 of 3 rows: --where 'tag = ""'; to run 1 of 3 rows: --where 'tag != ""' (--drop tag)`,
      ],
    });
    expect((await readAt(join(FILES, 'xlsxwriter.xlsx'), { hidden: 'skip' })).rows).toHaveLength(2);
  });
  it('has hidden rows that are left out, which are not blank', async () => {
    const { guesses } = await readAt(join(FILES, 'xlsxwriter.xlsx'), { hidden: 'skip' });
    expect(guesses.join()).not.toContain('blank');
  });
});

describe('a header of two rows', () => {
  const inputTypes = ['prompt', 'negative_prompt', 'width', 'height', 'steps'].map((name) =>
    input(name, /prompt/.test(name) ? 'string' : 'int', { required: name === 'prompt' }),
  );
  const ROWS = [
    ['Series', 'Prompt', '', 'Render'],
    ['', 'Positive', 'Negative', 'Width', 'Height', 'Steps'],
    ['Desert', 'white dunes', 'blurry', '1216', '832', '30'],
    ['', 'a well', 'text', '832', '1216', '24'],
  ];
  const SENT = [
    '{"height":832,"negative_prompt":"blurry","prompt":"white dunes","steps":30,"width":1216}',
    '{"height":1216,"negative_prompt":"text","prompt":"a well","steps":24,"width":832}',
  ];
  const book = (merged = '') =>
    workbook({
      rows: ROWS.map((texts) => textRow(...texts)).join(''),
      behind: merged && `<mergeCells>${merged}</mergeCells>`,
    });

  it('is read by the names below the heads of groups, and asked about', async () => {
    const { rows, guesses } = await readAt(await book(), {}, { inputTypes });
    expect(rows).toEqual(SENT);
    expect(guesses).toContain(
      '? header in row 2; left out above it: "Series Prompt Render"; to take the names of row 1: --header-row 1 --skip-rows 2 (--header-row 2)',
    );
    const text = ROWS.map((cells) => cells.join(',')).join('\n');
    expect((await read('a.csv', text, { map: {} }, { inputTypes })).rows).toEqual(SENT);
  });

  it('has the name of a cell that is merged down to it', async () => {
    const path = await book('<mergeCell ref="A1:A2"/><mergeCell ref="B1:C1"/><mergeCell ref="D1:F1"/>');
    expect((await readAt(path, { drop: ['Series'] }, { inputTypes })).rows).toEqual(SENT);
  });

  it('is one row where the row below has no more names', async () => {
    const text = 'Prompt,,Steps\nwidth,a note,30\na fox,,20\n';
    expect((await read('a.csv', text, {}, { inputTypes })).rows).toHaveLength(2);
  });
});

describe('headings that are merged across a table', () => {
  const ROWS = [['Station', 'Text'], ['HALL 1'], ['101', 'Welcome.'], ['HALL 2'], ['201', 'The end.']];
  const inputTypes = [input('text', 'string', { required: true })];
  const path = () =>
    workbook({
      rows: ROWS.map((texts) => textRow(...texts)).join(''),
      behind: '<mergeCells><mergeCell ref="A2:B2"/><mergeCell ref="A4:B4"/></mergeCells>',
    });

  it('are refused with the way to leave them out, and none to fill them in', async () => {
    await expect(readAt(await path(), {}, { inputTypes })).rejects.toMatchObject({
      code: 'E103',
      hint: 'to leave out headings between the rows: --skip-rows 2,4; else unmerge them',
      correction: undefined,
    });
    const skipped = { skipRows: [2, 4].map((row) => ({ from: row, to: row })) };
    expect((await readAt(await path(), skipped, { inputTypes })).rows).toEqual([
      '101 {"text":"Welcome."}',
      '201 {"text":"The end."}',
    ]);
  });
});
