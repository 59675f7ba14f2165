// Formats rows as CSV in batches: for a single row, the library takes longer to prepare than to write.

import { stringify } from 'csv-stringify/sync';
import { Pieces } from '../store/pieces.ts';
import { csvCellsOf } from './result-cells.ts';
import type { RowRecord } from './row-record.ts';

export type CsvRecord = Parameters<typeof csvCellsOf>[0];
export type RowWithCells<R extends CsvRecord = RowRecord> = {
  readonly record: R;
  readonly cells: readonly string[];
};

const ROWS_EACH = 100;
const CHARACTERS_EACH = 100_000;

export class CsvLines {
  #rows: (readonly string[])[] = [];
  #characters = 0;

  /** Returns the buffered lines once they are enough for a write; otherwise ''. */
  add(cells: readonly string[]): string {
    for (const cell of cells) this.#characters += cell.length;
    const isEnough = this.#rows.push(cells) >= ROWS_EACH || this.#characters >= CHARACTERS_EACH;
    return isEnough ? this.rest() : '';
  }

  /** The lines that {@link add} has not returned. */
  rest(): string {
    const rows = this.#rows;
    this.#rows = [];
    this.#characters = 0;
    return stringify(rows);
  }
}

/** A row of results.csv: the cells of the sheet, then the result. */
export const csvCells = ({ record, cells }: RowWithCells<CsvRecord>): readonly string[] => [
  ...cells,
  ...Object.values(csvCellsOf(record)),
];

/** Pieces of CSV; `add` gives a promise if the caller has to wait before the next row. */
export function csvPieces(open: ConstructorParameters<typeof Pieces>[0]) {
  const [lines, pieces] = [new CsvLines(), new Pieces(open)];
  return {
    add: (cells: readonly string[]) => pieces.add(lines.add(cells)),
    commit: async (): Promise<void> => {
      await pieces.add(lines.rest());
      await pieces.commit();
    },
    discard: () => pieces.discard(),
  };
}
