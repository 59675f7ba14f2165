// Workbooks that LibreOffice (in three locales), openpyxl and exceljs have written; test/sheet/files/make-foreign.py makes them.

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SheetRefused } from '../../../src/sheet/sheet-refused.ts';
import { FILES } from '../xlsx/workbooks.ts';
import { readAt } from './reading.ts';

const file = (name: string): string => join(FILES, `${name}.xlsx`);

const askedIn = (guesses: readonly string[]): readonly string[] =>
  guesses.filter((text) => text.startsWith('?'));

/** The errors with the addresses of their cells. */
async function refusedCells(path: string): Promise<readonly (readonly (string | undefined)[])[]> {
  const error: unknown = await readAt(path, {}).catch((thrown: unknown) => thrown);
  if (!(error instanceof SheetRefused)) throw error;
  return error.problems.map(({ code, place }) => [code, place?.cell]);
}

describe('a workbook of LibreOffice', () => {
  it('in German has a merged title, long seeds as text, decimal commas and totals', async () => {
    const { rows, guesses } = await readAt(file('libreoffice-de'), {});
    expect(rows).toEqual([
      '00017 {"cfg":7.5,"prompt":"ein Fuchs, größer","seed":18446744073709551615}',
      String.raw`00018 {"cfg":8,"prompt":"Äpfel \"süß\"","seed":42}`,
    ]);
    expect(guesses[0]).toBe('header in row 2; left out above it: "Bestellung November" (--header-row 2)');
    expect(askedIn(guesses)).toEqual([
      '? row 5 ("Summe 31") is not a row of the batch; to send all rows: --totals send (--totals skip)',
    ]);
  });

  it('in German gives dates without a time zone, fractions of percentages, and values of formulas', async () => {
    const read = async (prompt: string, denoise: string) =>
      (await readAt(file('libreoffice-de'), { map: { prompt, denoise, cfg: 'Doppelt' } })).rows;
    expect(await read('Termin', 'Anteil')).toEqual([
      '00017 {"cfg":15,"denoise":0.25,"prompt":"2026-11-21","seed":18446744073709551615}',
      '00018 {"cfg":16,"denoise":0.8,"prompt":"2026-12-01T08:30:00","seed":42}',
    ]);
  });

  it('in French keeps its letters, and seeds of numbers digit for digit', async () => {
    const map = { seed: 'Graine', denoise: 'Part' };
    const { rows, guesses } = await readAt(file('libreoffice-fr'), { map, keyColumn: 'Référence' });
    expect(rows).toEqual([
      'A-1 {"cfg":7.5,"denoise":0.125,"prompt":"une forêt d’été, brumeuse","seed":9007199254740993}',
      'A-2 {"cfg":1234.25,"denoise":1,"prompt":"« château »","seed":123456789012345}',
    ]);
    expect(askedIn(guesses)).toHaveLength(1);
    const dates = await readAt(file('libreoffice-fr'), { map: { prompt: 'Livraison' } });
    expect(dates.rows.map((row) => /"prompt":"([^"]*)"/.exec(row)?.[1])).toEqual([
      '2026-11-21',
      '2026-11-22',
    ]);
  });

  it('in English is refused for a seed of which digits are lost, with its cell', async () => {
    expect(await refusedCells(file('libreoffice-us'))).toEqual([['E207', 'C3']]);
    const { rows } = await readAt(file('libreoffice-us'), { skipRows: [{ from: 3, to: 3 }] });
    expect(rows).toEqual([
      '00017 {"cfg":7.5,"prompt":"a fox, red","seed":42}',
      '00019 {"cfg":0.25,"prompt":"a lake","seed":999999999999999}',
    ]);
  });
});

describe('a workbook of openpyxl', () => {
  it('has several sheets; empty and hidden ones are no question', async () => {
    expect(await refusedCells(file('openpyxl-several'))).toEqual([['E207', 'C4']]);
    const map = { prompt: 'due' };
    const { rows, guesses } = await readAt(file('openpyxl-several'), {
      skipRows: [{ from: 4, to: 4 }],
      map,
      drop: ['prompt'],
    });
    expect(rows).toEqual([
      'a {"prompt":"2026-11-21","seed":18446744073709551615}',
      'c {"prompt":"08:30:00","seed":7}',
    ]);
    expect(askedIn(guesses)).toEqual([
      `? sheet "Order & more" is read (others: "Prices") (--sheet-name 'Order & more')`,
    ]);
  });
});

describe('a workbook of exceljs', () => {
  it('has formatted texts, links, dates, formulas and a hidden row', async () => {
    const { rows, guesses } = await readAt(file('exceljs'), {});
    expect(rows).toEqual([
      '{"cfg":7.5,"prompt":"a red fox","seed":18446744073709551615}',
      '{"cfg":0.3,"prompt":"a linked owl","seed":42}',
      '{"cfg":1,"prompt":"hidden","seed":43}',
    ]);
    expect(askedIn(guesses)[0]).toMatch(/^\? 1 hidden row/);
    const map = { prompt: 'due', cfg: 'double' };
    expect((await readAt(file('exceljs'), { map, drop: ['prompt', 'cfg'], hidden: 'skip' })).rows).toEqual([
      '{"cfg":15,"prompt":"2026-11-21","seed":18446744073709551615}',
      '{"cfg":0.6,"prompt":"2026-11-21T08:30:00","seed":42}',
    ]);
  });
});
