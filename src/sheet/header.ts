// Names the columns of a table. A nameless column is called after its letter; a repeated name gets a number.

import { ownColumns } from './result-columns.ts';
import { problem } from '../errors/error.ts';
import type { SheetOptions } from './sheet-source.ts';
import { type Column, MAX_COLUMNS, nameFault, shortened } from './sheet-record.ts';
import { cellAddress } from './xlsx/cell-value.ts';

/** The columns of a header in row `line`, or in none (0). Throws E104 for unusable names. */
export function columnsFrom(
  file: string,
  line: number,
  names: readonly string[],
  isWorkbook = false,
): readonly Column[] {
  const freeName = freeNames(new Set(names.map((name) => name.trim())));
  const seen = new Set<string>();
  const columns = names.map((rawName, at): Column => {
    const name = rawName.trim();
    const place = {
      line,
      column: at + 1,
      ...(isWorkbook && line > 0 ? { cell: cellAddress(at, line) } : {}),
    };
    if (name === '') return { ...place, name: freeName(`column ${letterOf(at)}`), isNameless: true };
    if (!seen.has(name)) {
      seen.add(name);
      return { ...place, name };
    }
    return { ...place, name: freeName(name), repeats: name };
  });
  refuseNames(file, columns);
  return columns;
}

export const namesWithout = ({ columns = [] }: SheetOptions, width: number): readonly string[] =>
  Array.from({ length: Math.max(width, columns.length) }, (_, at) => columns[at] ?? '');

/** Whether a name is that of a column without one. */
export const isLetter = (name: string): boolean => /^column [A-Z]+(?:\.\d+)?$/.test(name);

export const letterOf = (at: number): string => cellAddress(at, 1).replace(/\d+$/, '');

/** Returns a name with the lowest free number, and takes it. */
function freeNames(taken: Set<string>): (name: string) => string {
  const next = new Map<string, number>();
  return (name) => {
    let [free, number] = [name, next.get(name) ?? 2];
    for (; taken.has(free); number += 1) free = `${name}.${number}`;
    taken.add(free);
    next.set(name, number);
    return free;
  };
}

function refuseNames(file: string, columns: readonly Column[]): void {
  const oneTooMany = ownColumns(columns.map(({ name }) => name)).length > MAX_COLUMNS && columns[MAX_COLUMNS];
  if (oneTooMany) {
    const { line, column, ...named } = oneTooMany;
    const cell = cellIn(named);
    const what = `the header names more than ${MAX_COLUMNS} columns`;
    throw problem(
      'E104',
      { what, hint: 'remove the columns that are not inputs' },
      { place: { file, line, column, ...cell } },
    );
  }
  for (const { name, line, column, ...named } of columns) {
    const what = nameFault(name);
    const hint = 'every column needs a name of its own in the header';
    const place = { file, line, column, ...cellIn(named), columnName: shortened(name) };
    if (what) throw problem('E104', { what, hint }, { place });
  }
}

const cellIn = ({ cell }: Pick<Column, 'cell'>) => (cell === undefined ? {} : { cell });
