// Rows of a sheet by their numbers, as `--skip-rows` names them.

import type { RowRange } from '../options/batch-kinds.ts';

/** Ranges and rows in the order of the sheet. */
export const withRows = (ranges: readonly RowRange[], lines: readonly number[]): readonly RowRange[] =>
  [...ranges, ...rangesOf(lines)].toSorted((a, b) => a.from - b.from);

export function rangesOf(lines: readonly number[]): readonly RowRange[] {
  const ranges: { from: number; to: number }[] = [];
  for (const line of lines) {
    const last = ranges.at(-1);
    if (last?.to === line - 1) last.to = line;
    else ranges.push({ from: line, to: line });
  }
  return ranges;
}

export const rangesText = (ranges: readonly RowRange[]): string =>
  ranges.map(({ from, to }) => (from === to ? String(from) : `${from}-${to}`)).join(',');
