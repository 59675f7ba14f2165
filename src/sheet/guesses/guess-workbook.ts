// Guesses about a workbook: which of its sheets is meant, and whether rows count that Excel hides.

import { list, problem, type RunsheetError } from '../../errors/error.ts';
import { shellWord } from '../../errors/outside-text.ts';
import { NOTHING, type Part, plainName, toConfirm } from './guess.ts';
import { ownColumns } from '../result-columns.ts';
import type { SheetOptions } from '../sheet-options.ts';
import type { SheetSource } from '../sheet-source.ts';
import { type OtherSheet, sheetHead } from '../xlsx/unpacked-sheet.ts';

/**
 * The sheet that is read, if others have values too. Results that runsheet exported have their rows in the first one. Throws E111 if
 * another sheet has more columns of the deployment's `inputs`.
 */
export async function sheetGuess(
  source: SheetSource,
  { format, sheet: wanted }: SheetOptions,
  names: readonly string[] = [],
  inputs: readonly string[] = [],
): Promise<Part> {
  if (format !== 'xlsx' || wanted !== undefined || ownColumns(names).length < names.length) return NOTHING;
  const { sheet, begins, others } = await sheetHead(source);
  if (others.length === 0) return NOTHING;
  const better = betterSheet(others, begins, inputs);
  if (better !== undefined) throw otherSheet(source.name, sheet, better);
  const text = `sheet "${sheet}" is read (others: ${list(others.map(({ name }) => `"${name}"`))})`;
  return { options: { sheet }, guesses: [toConfirm('rows', text, '--sheet', sheet)] };
}

type Better = { readonly name: string; readonly has: readonly string[] };

/** The other sheet with the most inputs in one of its first rows, if that is more than any of `own` has. */
function betterSheet(
  others: readonly OtherSheet[],
  own: OtherSheet['begins'],
  inputs: readonly string[],
): Better | undefined {
  const known = new Map(inputs.map((input) => [plainName(input), input]));
  const inputsIn = (cells: readonly string[]): readonly string[] => [
    ...new Set(cells.flatMap((cell) => known.get(plainName(cell)) ?? [])),
  ];
  const [best] = others
    .flatMap(({ name, begins }) => begins.map((cells) => ({ name, has: inputsIn(cells) })))
    .sort((a, b) => b.has.length - a.has.length);
  return best !== undefined && own.every((cells) => best.has.length > inputsIn(cells).length)
    ? best
    : undefined;
}

const otherSheet = (file: string, sheet: string, { name, has }: Better): RunsheetError =>
  problem(
    'E111',
    {
      file,
      texts: `sheet "${sheet}" comes first, but "${name}" has the ${has.length === 1 ? 'column' : 'columns'} ${list(has)}`,
      flags: `--sheet ${shellWord(name)}`,
    },
    { place: { file }, correction: { add: [['--sheet', name]] } },
  );

export async function hiddenRows(source: SheetSource, options: SheetOptions): Promise<Part> {
  if (options.format !== 'xlsx' || options.hidden !== undefined) return NOTHING;
  const { hidden } = await sheetHead(source);
  if (hidden === 0) return NOTHING;
  const text = `${hidden} ${hidden === 1 ? 'row that Excel hides is' : 'rows that Excel hides are'} read too; to leave them out: --hidden skip`;
  return { options: { hidden: 'include' }, guesses: [toConfirm('rows', text, '--hidden', 'include')] };
}
