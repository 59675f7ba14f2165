// Columns that name the rows because their cells are all different, whatever the columns are called.

import { describe, expect, it } from 'vitest';
import { read } from './reading.ts';

const keysOf = async (
  name: string,
  cells: readonly string[],
  isFirst = false,
): Promise<readonly string[]> => {
  const row = (cell: string, text: string): string => (isFirst ? `${cell};${text}` : `${text};${cell}`);
  const text = [row(name, 'prompt'), ...cells.map((cell, at) => row(cell, `a fox ${at}`))].join('\n');
  const { rows } = await read('a.csv', text, { delimiter: ';' });
  return rows.map((line) => line.slice(0, line.indexOf('{')).trim());
};

describe('a column whose cells are all different', () => {
  it.each([
    ['Datei', ['begruessung.wav', 'menue.wav']],
    ['Fichier', ['a 1.mp3', 'a 2.mp3']],
    ['Art.-Nr.', ['00417', '00418']],
    ['No.', ['7', '30']],
    ['Modell', ['KER-04', 'KER-05']],
  ])('names the rows with files, numbers of articles or of rows: %s', async (name, cells) => {
    expect(await keysOf(name, cells)).toEqual(cells);
  });

  it('names the rows with numbers where it is the first one', async () => {
    expect(await keysOf('Take', ['3', '4'], true)).toEqual(['3', '4']);
    expect(await keysOf('Take', ['3', '4'])).toEqual(['', '']);
  });

  it.each([
    ['prices', 'Price', ['12.50', '13']],
    ['cells that come again', 'Datei', ['a.wav', 'b.wav', 'a.wav']],
    ['empty cells', 'Datei', ['a.wav', '', 'c.wav']],
    ['days', 'Day', ['2026-03-02', '2026-03-03']],
    ['addresses', 'Vorlage', ['https://a.example/1.txt', 'https://a.example/2.txt']],
    ['words', 'Note', ['warm', 'cold']],
  ])('names none with %s', async (_, name, cells) => {
    expect(await keysOf(name, cells)).toEqual(cells.map(() => ''));
  });

  it('leaves the rows to a column that is called a key', async () => {
    const { rows } = await read('a.csv', 'Nr,prompt,sku\n1,a fox,F\n2,an owl,O\n');
    expect(rows).toEqual(['F {"prompt":"a fox"}', 'O {"prompt":"an owl"}']);
  });
});
