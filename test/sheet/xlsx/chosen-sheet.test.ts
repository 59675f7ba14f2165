import { describe, expect, it } from 'vitest';
import type { RunsheetError } from '../../../src/errors/error.ts';
import { sheetHead } from '../../../src/sheet/xlsx/unpacked-sheet.ts';
import { textRow, unpacked, workbook, type Parts } from './workbooks.ts';

describe('the sheet of a workbook', () => {
  it('is the first visible one that has values, or the one with the given name, and the others are named', async () => {
    const name = (title: string, id: string, state = ''): string =>
      `<sheet name="${title}" ${state} r:id="${id}"/>`;
    const book = (...sheets: readonly string[]): string =>
      `<workbook xmlns:r="r"><sheets>${sheets.join('')}</sheets></workbook>`;
    const sheet2 = (row: string) => ({
      'xl/worksheets/sheet2.xml': `<worksheet><sheetData>${row}</sheetData></worksheet>`,
    });
    const headOf = async (parts: Parts, sheet?: string) => {
      const { sheet: read, others: otherSheets } = await sheetHead(
        await unpacked(await workbook(parts), sheet),
      );
      return [read, ...otherSheets.map((otherSheet) => otherSheet.name)];
    };
    const two = { rows: textRow('a'), workbook: book(name('A', 's1'), name('B', 's2')) };
    expect(await headOf({ ...two, more: sheet2(textRow('b')) })).toEqual(['A', 'B']);
    expect(await headOf({ ...two, more: sheet2(textRow('b')) }, 'B')).toEqual(['B']);
    expect(await headOf({ ...two, more: sheet2(textRow(' ')) })).toEqual(['A']);
    expect(await headOf({ ...two, more: sheet2('<row r="x">') })).toEqual(['A', 'B']);
    expect(await headOf({ ...two, rows: '', more: sheet2(textRow('b')) })).toEqual(['B']);
    const hidden = book(name('A', 's1'), name('B', 's2', 'state="hidden"'));
    const withHidden = { ...two, workbook: hidden, more: sheet2(textRow('b')) };
    expect([await headOf(withHidden), await headOf(withHidden, 'B')]).toEqual([['A'], ['B']]);
  });

  it('that does not exist is answered with a few names of those that do, each shortened', async () => {
    const sheets = Array.from(
      { length: 3000 },
      (_, at) => `<sheet name="${at}${'n'.repeat(500)}" r:id="x${at}"/>`,
    );
    const relations = sheets.map(
      (_, at) => `<Relationship Id="x${at}" Type="worksheet" Target="x${at}.xml"/>`,
    );
    const path = await workbook({
      workbook: `<workbook xmlns:r="r"><sheets>${sheets.join('')}</sheets></workbook>`,
      relations: relations.join(''),
    });
    const refused = await unpacked(path, 'nosuch').catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'E102',
      hint: expect.stringMatching(/^sheets: 0n+….*and 2970 more$/),
    });
    expect((refused as RunsheetError).hint?.length).toBeLessThan(3000);
  });
});
