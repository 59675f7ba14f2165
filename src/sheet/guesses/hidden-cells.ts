// Asks about rows and columns that Excel hides: their owner may not mean them.

import { isWorkbook } from '../formats.ts';
import type { ColumnMapping } from '../column-mapping.ts';
import type { SheetOptions, SheetSource } from '../sheet-source.ts';
import { sheetHead } from '../xlsx/unpacked-sheet.ts';
import { dropped, type GuessPart, mapped, NOTHING, or, toConfirm } from './guess.ts';

export async function hiddenRows(source: SheetSource, options: SheetOptions): Promise<GuessPart> {
  if (!isWorkbook(options.format) || options.hidden !== undefined) return NOTHING;
  const { hidden } = await sheetHead(source);
  if (hidden === 0) return NOTHING;
  const text = `${hidden} ${hidden === 1 ? 'hidden row is' : 'hidden rows are'} read too`;
  const without = or('to leave them out', { hidden: 'skip' });
  return {
    options: { hidden: 'include' },
    guesses: [toConfirm('rows', text, { hidden: 'include' }, without)],
  };
}

/** `stated`: columns that the user sends by an option. */
export async function hiddenColumns(
  source: SheetSource,
  { format, map }: SheetOptions,
  { columns, feeds }: ColumnMapping,
  stated: readonly string[],
): Promise<GuessPart> {
  if (!isWorkbook(format)) return NOTHING;
  const { hiddenColumns: ranges = [] } = await sheetHead(source);
  const isHidden = (at: number): boolean => ranges.some(([from, to]) => at >= from && at <= to);
  const sent = feeds.flatMap(({ input, from }) => {
    const isSentHidden = 'column' in from && isHidden(from.column);
    const name = isSentHidden ? (map[input] ?? columns[from.column]?.name) : undefined;
    return name === undefined || stated.includes(name) ? [] : [{ input, name }];
  });
  if (sent.length === 0) return NOTHING;
  const maps = Object.fromEntries(sent.map(({ input, name }) => [input, name]));
  return {
    options: { map: { ...map, ...maps } },
    guesses: sent.map(({ input, name }) =>
      toConfirm(
        'columns',
        `column "${name}", which the workbook hides, is sent too`,
        mapped(input, name),
        or('to leave it out', dropped(name)),
      ),
    ),
  };
}
