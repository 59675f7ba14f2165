// The columns of a sheet that is made from the results of a batch: those of the batch's own sheet and its other inputs, those of
// the picks, the output, and the result columns, as results.csv has them.

import type { BatchFile } from '../../store/batch-file.ts';
import { ownColumns, resultNames } from '../../sheet/result-columns.ts';

/** A column of the batch: a cell of its sheet, or an input that has no column of its own. */
type Carried = { readonly name: string; readonly cell?: number; readonly input?: string };

export type SourceColumns = {
  readonly carried: readonly Carried[];
  readonly added: readonly string[];
  /** The path or the address of the first output. */
  readonly output: string;
  readonly results: readonly string[];
  /** All of them, in the order of the sheet. */
  readonly all: readonly string[];
};

export const OUTPUT = 'output';

/** `picked`: the columns of the picks that name no row; they replace columns of the batch with the same name. */
export function sourceColumns(
  { sheet, from }: Pick<BatchFile, 'sheet' | 'from'>,
  picked: readonly string[] = [],
): SourceColumns {
  const cells = ownColumns(sheet.columns);
  const inputOf = new Map(
    sheet.inputs.flatMap(({ input, from: source }) =>
      'column' in source ? [[source.column, input] as const] : [],
    ),
  );
  const own = cells.flatMap((name, cell): Carried[] => {
    // The output of an earlier step would hide the one of this batch.
    if (from !== undefined && name === OUTPUT) return [];
    const input = inputOf.get(name);
    return [input === undefined ? { name, cell } : { name, cell, input }];
  });
  const others = sheet.inputs
    .filter(({ input }) => !own.some(({ name }) => name === input))
    .map(({ input }): Carried => ({ name: input, input }));
  const carried = [...own, ...others];
  const names = carried.map(({ name }) => name);
  const added = picked.filter((name) => !names.includes(name));
  const before = [...names, ...added];
  const output = before.includes(OUTPUT) ? `runsheet_${OUTPUT}` : OUTPUT;
  const results = resultNames([...before, output]);
  return { carried, added, output, results, all: [...before, output, ...results] };
}

/** The name that a result column has here. */
export const resultIn = ({ results }: SourceColumns, column: 'key' | 'outputs'): string =>
  results[column === 'key' ? 1 : results.length - 1] ?? column;
