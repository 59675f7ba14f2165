// Refuses a sheet whose texts stand in several columns, one text a row, as in a dialogue with a column for each speaker.

import { list, problem } from '../../errors/error.ts';
import type { LikelyColumns } from './guess.ts';

/** Throws E104: any of the columns alone would leave out the rows of the others. `likely`: the columns of each missing input. */
export function refuseDivided(
  file: string,
  likely: LikelyColumns,
  cellsOf: (column: string) => readonly string[],
): void {
  for (const [input, columns] of Object.entries(likely)) {
    if (typeof columns === 'string') continue;
    const cells = columns.map((column) => cellsOf(column).map((text) => text.trim() !== ''));
    const rows = cells[0]?.map((_, row) => cells.filter((filled) => filled[row] === true).length) ?? [];
    const isEachUsed = cells.every((filled) => filled.includes(true));
    if (columns.length < 2 || !isEachUsed || rows.some((filled) => filled !== 1)) continue;
    const what = `each row has its ${input} in another of the columns ${list(columns.map((name) => `"${name}"`))}, as a dialogue with a column for each speaker`;
    const hint = `make one column of them: ${input}; if their names are sent too, put them in a column beside it`;
    throw problem('E104', { what, hint }, { place: { file } });
  }
}
