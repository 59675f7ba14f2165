// The rows of a batch in order: those of its sheet, then those that later passes have appended. Appended rows lie in pages of
// their pass, with the cells that the results show.

import { parseExactly } from '../batch/digits.ts';
import type { BatchFile } from '../store/batch-file.ts';
import { FIRST_PASS, newestPass, readPasses } from '../store/passes.ts';
import { type Store, within } from '../store/store.ts';
import { pageOf, readPagesLines, type SheetRow } from './pages.ts';

/** Consecutive rows in one folder of the layout; '' for those of the sheet. */
type Range = { readonly folder: string; readonly first: number; readonly rows: number };

export type BatchSheet = { readonly rows: number; readonly ranges: readonly Range[] };

/** A row, and where its page is. `cells`: those of an appended row, in the order of the batch's own columns. */
export type FoundRow = {
  readonly row: SheetRow;
  readonly folder: string;
  readonly cells?: readonly string[];
};

/** The sheet with the rows of all passes, or of those up to `through`. */
export async function readBatchSheet(
  store: Store,
  { sheet }: { readonly sheet: Pick<BatchFile['sheet'], 'rows'> },
  through?: number,
): Promise<BatchSheet> {
  const ranges: Range[] = [{ folder: '', first: 1, rows: sheet.rows }];
  let { rows } = sheet;
  for (const { appended } of await readPasses(store, FIRST_PASS, through ?? (await newestPass(store)))) {
    if (appended === undefined) continue;
    ranges.push({ ...appended, first: rows + 1 });
    rows += appended.rows;
  }
  return { rows, ranges };
}

/** Rows `from` to `to`, both included. Throws E504 if a page is missing. */
export async function* sheetRows(
  layout: Store,
  { ranges }: BatchSheet,
  from: number,
  to: number,
): AsyncGenerator<FoundRow> {
  for (const { folder, first, rows } of ranges) {
    const [begin, end] = [Math.max(from, first), Math.min(to, first + rows - 1)];
    const pages = folderIn(layout, folder);
    if (begin > end) continue;
    for await (const lines of readPagesLines(pages, pageOf(begin), pageOf(end)))
      for (const line of lines) {
        const { cells, ...row } = parseExactly(line) as SheetRow & Pick<FoundRow, 'cells'>;
        if (row.row >= begin && row.row <= end)
          yield { row, folder, ...(cells === undefined ? {} : { cells }) };
      }
  }
}

/** A folder of the layout that has pages. */
export const folderIn = (layout: Store, folder: string): Store =>
  folder === '' ? layout : within(layout, folder);
