// Rows whose empty cells have the value above them, and only the first of equal rows. Acts before a row becomes several.

import { whereOf } from './grid/expanded-rows.ts';
import { fingerprint, KeyTable } from './row-keys.ts';
import type { SheetOptions } from './sheet-options.ts';
import { cellText, type SheetRecord } from './sheet-record.ts';

const TOTAL = /^(grand |sub)?(totals?|sum|summe|gesamt(summe|betrag)?|somme|totale|suma|итого|合計)\s*:?$/i;

export const isTotal = (text: string): boolean => TOTAL.test(text.trim());

/** `names`: the columns of the sheet itself. */
export function shapedRecords(
  records: AsyncIterable<SheetRecord>,
  options: SheetOptions,
  names: readonly string[],
): AsyncIterable<SheetRecord> {
  const { fillDown = [], unique = false } = options;
  const wanted = fillDown.map((name) => names.indexOf(name)).filter((at) => at >= 0);
  const filled = wanted.length === 0 ? records : filledDown(records, wanted);
  return unique ? firstOfEach(filled, options, names) : filled;
}

async function* filledDown(
  records: AsyncIterable<SheetRecord>,
  wanted: readonly number[],
): AsyncGenerator<SheetRecord> {
  const above = new Map<number, unknown>();
  for await (const record of records) {
    const cells = [...record.cells];
    // With the cell above, totals would be a row.
    const isSum = cells.some((cell) => isTotal(cellText(cell)));
    for (const at of isSum ? [] : wanted)
      if (cellText(cells[at]).trim() === '') cells[at] = above.get(at) ?? cells[at];
      else above.set(at, cells[at]);
    yield { ...record, cells };
  }
}

/** Of the rows that are used, without those that equal an earlier one in every column that is no data. */
async function* firstOfEach(
  records: AsyncIterable<SheetRecord>,
  options: SheetOptions,
  names: readonly string[],
): AsyncGenerator<SheetRecord> {
  const data = new Set([...options.drop, options.keyColumn]);
  const compared = names.flatMap((name, at) => (data.has(name) ? [] : [at]));
  const isMet = whereOf(options, names);
  const seen = new KeyTable();
  let row = 0;
  for await (const record of records) {
    row += 1;
    const is = record.fault !== undefined || isMet(record);
    if (record.fault !== undefined || typeof is === 'object') yield record;
    else if (is) {
      const content = fingerprint(JSON.stringify(compared.map((at) => cellText(record.cells[at]))));
      if (seen.sight(content, row).nth === 1) yield record;
    }
  }
}
