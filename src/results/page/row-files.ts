// Writes the full cells of the rows beside the report: 2,000 rows a file, as scripts, because a page that was opened from a folder
// may load scripts and nothing else. The page loads a file when it shows one of its rows.

import type { Store } from '../../store/store.ts';
import type { RowRecord } from '../row-record.ts';
import { Deflated } from './deflated.ts';
import { shownRow } from './report-row.ts';

export const ROWS_EACH = 2_000;

export const rowsFile = (number: number): string => `report/rows/${String(number).padStart(5, '0')}.js`;

type RowFilesParams = {
  readonly store: Store;
  /** The columns of the sheet, and whether they are inputs. */
  readonly columns: readonly { readonly name: string; readonly isInput: boolean }[];
  readonly confirm: () => Promise<void>;
};

export class RowFiles {
  readonly #params: RowFilesParams;
  #rows = new Deflated();
  #count = 0;

  constructor(params: RowFilesParams) {
    this.#params = params;
  }

  /** Rows in order. A promise if a file has to be written before the next row. */
  add(record: RowRecord, cells: readonly string[]): Promise<void> | undefined {
    const { columns } = this.#params;
    const data = columns.flatMap(({ name, isInput }, at) =>
      isInput ? [] : [[name, cells[at] ?? ''] as const],
    );
    const isFirst = this.#count % ROWS_EACH === 0;
    this.#rows.text(`${isFirst ? '[' : ',\n'}${JSON.stringify(shownRow(record, data))}`);
    this.#count += 1;
    return this.#count % ROWS_EACH === 0 ? this.#write() : undefined;
  }

  async end(): Promise<void> {
    if (this.#count % ROWS_EACH !== 0) await this.#write();
  }

  async #write(): Promise<void> {
    const { store, confirm } = this.#params;
    const number = Math.ceil(this.#count / ROWS_EACH);
    this.#rows.text(']');
    const script = `runsheetRows(${number},"${await this.#rows.base64()}")\n`;
    this.#rows = new Deflated();
    const draft = await store.draft(rowsFile(number), 'view');
    try {
      await draft.write(script);
      await confirm();
      await draft.commit();
    } finally {
      await draft.discard();
    }
  }
}
