// The names in a header, and why a sheet cannot have them.

import { problem } from '../errors/error.ts';
import { ownColumns } from './result-columns.ts';
import { type Column, MOST_COLUMNS, nameFault, shortened } from './sheet-record.ts';
import { cellAddress } from './xlsx/cell-value.ts';

/** The columns of the header in row `line` of a workbook. Throws E104 for unusable names. */
export function columnsFrom(file: string, line: number, names: readonly string[]): readonly Column[] {
  const columns = names.map((name, at) => ({
    name: name.trim(),
    line,
    column: at + 1,
    cell: cellAddress(at, line),
  }));
  refuseNames(file, columns);
  return columns;
}

/** Throws E104 for names that cannot be columns. */
export function refuseNames(file: string, columns: readonly Column[]): void {
  const oneTooMany =
    ownColumns(columns.map(({ name }) => name)).length > MOST_COLUMNS && columns[MOST_COLUMNS];
  if (oneTooMany) {
    const { line, column, ...named } = oneTooMany;
    const cell = cellIn(named);
    const what = `the header names more than ${MOST_COLUMNS} columns`;
    throw problem(
      'E104',
      { what, hint: 'remove the columns that are not inputs' },
      { place: { file, line, column, ...cell } },
    );
  }
  const first = new Map<string, number>();
  for (const { name, line, column, ...named } of columns) {
    const before = first.get(name);
    const what =
      nameFault(name) ??
      (before && `the header names the column "${name}" twice, in fields ${before} and ${column}`);
    const hint = 'every column needs a name of its own in the header';
    const place = { file, line, column, ...cellIn(named), columnName: shortened(name) };
    if (what) throw problem('E104', { what, hint }, { place });
    first.set(name, column);
  }
}

const cellIn = ({ cell }: Pick<Column, 'cell'>) => (cell === undefined ? {} : { cell });
