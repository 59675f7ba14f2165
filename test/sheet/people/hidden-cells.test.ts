// Columns that Excel hides: those that are sent are asked about.

import { expect, it } from 'vitest';
import { textRow, unpacked, workbook } from '../xlsx/workbooks.ts';
import { sheetHead } from '../../../src/sheet/xlsx/unpacked-sheet.ts';
import { readAt } from './reading.ts';

const ROWS = textRow('Prompt', 'note', 'seed') + textRow('a fox', 'x', '5');

/** A workbook whose columns are hidden as `cols` says. */
const hiding = (cols: string): Promise<string> =>
  workbook({
    workbook: '<workbook xmlns:r="r"><sheets><sheet name="Two" r:id="s2"/></sheets></workbook>',
    more: {
      'xl/worksheets/sheet2.xml': `<worksheet><cols>${cols}</cols><sheetData>${ROWS}</sheetData></worksheet>`,
    },
  });

it('a hidden column that is sent is asked about, until an option sends or drops it', async () => {
  const path = await hiding('<col min="1" max="1" hidden="1"/><col min="2" max="3" hidden="true"/>');
  const { rows, guesses } = await readAt(path, {});
  expect(rows).toEqual(['{"prompt":"a fox","seed":5}']);
  expect(guesses.filter((guess) => guess.startsWith('?'))).toEqual([
    '? column "Prompt", which the workbook hides, is sent too; to leave it out: --drop Prompt (--map prompt=Prompt)',
    '? column "seed", which the workbook hides, is sent too; to leave it out: --drop seed (--map seed=seed)',
  ]);
  const answered = await readAt(path, { map: { prompt: 'Prompt' }, drop: ['seed'] });
  expect(answered.rows).toEqual(['{"prompt":"a fox"}']);
  expect(answered.guesses.filter((guess) => guess.startsWith('?'))).toEqual([]);
});

it('a hidden column that is data, and a shown one, are no question', async () => {
  const path = await hiding('<col min="1" max="1" hidden="0"/><col min="2" max="2" hidden="1"/>');
  expect((await readAt(path, {})).guesses.filter((guess) => guess.startsWith('?'))).toEqual([]);
  expect(await sheetHead(await unpacked(path))).toMatchObject({ hiddenColumns: [[1, 1]] });
});
