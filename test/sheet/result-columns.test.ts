import { describe, expect, it } from 'vitest';
import { ownColumns, RESULT_COLUMNS, resultNames, sentColumn } from '../../src/sheet/result-columns.ts';
import { input, lay } from './laying.ts';

/** The headers that versions have written. A new column adds one; none may change. */
const WRITTEN = [
  'row,key,outcome,reason,run_id,gpu_asked,gpu_used,attempts,queue_seconds,cold_start_seconds,run_seconds,cost_usd,outputs',
  'row,key,outcome,reason,run_id,gpu_asked,gpu_used,attempts,queue_seconds,cold_start_seconds,run_seconds,cost_usd,nodes,texts,outputs',
];

describe('the columns of results', () => {
  it.each(WRITTEN)('are recognised in a results file with the header %s', (header) => {
    const names = header.split(',');
    expect(ownColumns(['prompt', ...names])).toEqual(['prompt']);
    expect(ownColumns(['prompt', 'row', 'runsheet_row', ...names.slice(1)])).toEqual(['prompt', 'row']);
  });

  it('are the last of the headers that a results file is recognised by', () => {
    expect(RESULT_COLUMNS.join(',')).toBe(WRITTEN.at(-1));
  });

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
