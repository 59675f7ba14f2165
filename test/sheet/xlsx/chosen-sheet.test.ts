import { describe, expect, it } from 'vitest';
import { sheetHead } from '../../../src/sheet/xlsx/unpacked-sheet.ts';
import { textRow, unpacked, workbook, type Parts } from './workbooks.ts';

describe('the sheet of a workbook', () => {
  it('is the first visible one that has values, and the others are named', async () => {
    const name = (title: string, id: string, state = ''): string =>
      `<sheet name="${title}" ${state} r:id="${id}"/>`;
    const book = (...sheets: readonly string[]): string =>
      `<workbook xmlns:r="r"><sheets>${sheets.join('')}</sheets></workbook>`;
    const sheet2 = (row: string) => ({
      'xl/worksheets/sheet2.xml': `<worksheet><sheetData>${row}</sheetData></worksheet>`,
    });
    const headOf = async (parts: Parts, sheet?: string) => {
      const { sheet: read, others } = await sheetHead(await unpacked(await workbook(parts), sheet));
      return [read, ...others.map((other) => other.name)];
    };
    const two = { rows: textRow('a'), workbook: book(name('A', 's1'), name('B', 's2')) };
    expect(await headOf({ ...two, more: sheet2(textRow('b')) })).toEqual(['A', 'B']);
    expect(await headOf({ ...two, more: sheet2(textRow('b')) }, 'B')).toEqual(['B']);
    expect(await headOf({ ...two, more: sheet2(textRow(' ')) })).toEqual(['A']);
    expect(await headOf({ ...two, more: sheet2('<row r="x">') })).toEqual(['A', 'B']);
    expect(await headOf({ ...two, rows: '', more: sheet2(textRow('b')) })).toEqual(['B']);
    const hidden = book(name('A', 's1'), name('B', 's2', 'state="hidden"'));
    expect(await headOf({ ...two, workbook: hidden, more: sheet2(textRow('b')) })).toEqual(['A']);
  });
});
