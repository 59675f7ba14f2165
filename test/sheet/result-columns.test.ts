import { describe, expect, it } from 'vitest';
import { ownColumns, RESULT_COLUMNS, resultNames, sentColumn } from '../../src/sheet/result-columns.ts';
import { input, lay } from './laying.ts';

describe('the columns of results', () => {
  it('get another name if the sheet uses the same name', () => {
    expect(resultNames(['prompt', 'row'])).toEqual(['runsheet_row', ...RESULT_COLUMNS.slice(1)]);
  });

  it.each([[['prompt', 'seed']], [['row', 'prompt', 'outcome']]])(
    'are recognised after the columns %j',
    (own) => {
      expect(ownColumns([...own, ...resultNames(own)])).toEqual(own);
    },
  );

  it('follow the texts of templates, which are recognised too', () => {
    const columns = ['product', sentColumn('prompt')];
    expect(ownColumns([...columns, ...resultNames(columns)])).toEqual(['product']);
    expect(ownColumns(columns)).toEqual(columns);
  });

  it('are not recognised if one of them is missing', () => {
    const names = ['prompt', ...RESULT_COLUMNS.slice(1)];
    expect(ownColumns(names)).toEqual(names);
  });

  it('are not inputs if the sheet is an edited failures.csv', async () => {
    const cells = RESULT_COLUMNS.map(() => 'x').join(',');
    const text = `prompt,${RESULT_COLUMNS.join(',')}\na fox,${cells}\n`;
    const laid = await lay({ text, inputTypes: [input('prompt', 'text')] });
    expect(laid.inputs.map((column) => column.input)).toEqual(['prompt']);
    expect(laid.unused).toEqual(RESULT_COLUMNS);
  });
});
