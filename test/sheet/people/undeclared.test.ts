// Sheets for a deployment whose inputs are not known: every column may be an input, so what it seems to be is asked.

import { describe, expect, it } from 'vitest';
import type { SheetOptions } from '../../../src/sheet/sheet-source.ts';
import { read } from './reading.ts';

const UNDECLARED = { inputTypes: undefined };
const readUndeclared = (text: string, options: Partial<SheetOptions> = {}) =>
  read('a.csv', text, options, UNDECLARED);

describe('a sheet for a deployment without declared inputs', () => {
  it('has a header below its titles, which is asked', async () => {
    const text = 'Campaign November,,\n,,\nprompt,seed,style\na,1,x\nb,2,y\n';
    const rows = ['{"prompt":"a","seed":1,"style":"x"}', '{"prompt":"b","seed":2,"style":"y"}'];
    expect(await readUndeclared(text)).toEqual({
      rows,
      guesses: ['? header in row 3; left out above it: "Campaign November" (--header-row 3)'],
    });
    expect(await readUndeclared(text, { headerRow: 3 })).toEqual({ rows, guesses: [] });
  });

  it('has its header in the first row if it is one column, or if few rows have more values', async () => {
    expect(await readUndeclared('prompt\na\n"b, c"\n')).toMatchObject({ guesses: [] });
    const { guesses } = await readUndeclared('prompt,\na,\nb,c\nd,\ne,\n', { headerRow: 3 });
    expect(guesses).toEqual([]);
  });

  it('has a column without a name, which is data', async () => {
    expect(await readUndeclared('prompt,\na,\nb,c\nd,\ne,\n')).toEqual({
      rows: ['a', 'b', 'd', 'e'].map((prompt) => JSON.stringify({ prompt })),
      guesses: [],
    });
  });

  it('has a column that seems to name its rows, which is asked', async () => {
    const text = 'SKU,prompt\nA-1,a\nA-2,b\n';
    expect(await readUndeclared(text)).toEqual({
      rows: ['A-1 {"prompt":"a"}', 'A-2 {"prompt":"b"}'],
      guesses: [
        '? column "SKU" names the rows and is no input; to send it as one: --map SKU=SKU (--key SKU)',
      ],
    });
    const inputs = ['{"SKU":"A-1","prompt":"a"}', '{"SKU":"A-2","prompt":"b"}'];
    expect(await readUndeclared(text, { map: { SKU: 'SKU' } })).toEqual({ rows: inputs, guesses: [] });
    expect((await readUndeclared(text, { keyColumn: 'SKU' })).guesses).toEqual([]);
  });

  it('sends a column whose values repeat, whatever its name is', async () => {
    expect(await readUndeclared('name,prompt\nx,a\nx,b\n')).toEqual({
      rows: ['{"name":"x","prompt":"a"}', '{"name":"x","prompt":"b"}'],
      guesses: [],
    });
  });

  it('has GPUs in a column with another name, which is asked', async () => {
    expect(await readUndeclared('prompt,Hardware\na,h100\nb,\n')).toEqual({
      rows: ['{"prompt":"a"} H100', '{"prompt":"b"}'],
      guesses: [
        '? column "Hardware" names the GPU of each row and is no input; to send it as one: --map Hardware=Hardware (--gpu-column Hardware)',
      ],
    });
  });

  it('ends with totals of a column that is sent', async () => {
    const { rows, guesses } = await readUndeclared('prompt,price\na,2.50\nb,2.50\nTotal,"5,00 €"\n');
    expect(rows).toEqual(['{"price":"2.50","prompt":"a"}', '{"price":"2.50","prompt":"b"}']);
    expect(guesses[0]).toMatch(/^\? row 4 \("Total 5,00 €"\) is not a row/);
    const kept = await readUndeclared('prompt,style\na,x\nTotal,eclipse\n');
    expect(kept.rows).toHaveLength(2);
  });

  it('has numbers with a decimal comma, separated by semicolons', async () => {
    expect(await readUndeclared('prompt;cfg;tags\na;7,5;1,5\nb;8;x\n')).toEqual({
      rows: ['{"cfg":7.5,"prompt":"a","tags":"1,5"}', '{"cfg":8,"prompt":"b","tags":"x"}'],
      guesses: [
        "separator ; (--delimiter ';')",
        '? numbers have a decimal comma in "cfg" (--type cfg=float --decimal-comma)',
      ],
    });
    const every = await readUndeclared('prompt;cfg\na;7,5\nb;8,5\nc;9,5\n');
    expect(every.rows).toEqual([
      '{"cfg":7.5,"prompt":"a"}',
      '{"cfg":8.5,"prompt":"b"}',
      '{"cfg":9.5,"prompt":"c"}',
    ]);
    const thousands = await readUndeclared('prompt;n\na;1,234\n');
    expect(thousands.rows).toEqual(['{"n":"1,234","prompt":"a"}']);
  });
});
