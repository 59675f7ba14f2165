// What may be guessed about a further sheet of a batch. A sheet that is saved again is read as at the first save.

import type { Guess } from '../../sheet/guesses/guess.ts';
import { leftOutOf, type LeftOutRows } from '../../sheet/left-out-rows.ts';
import { sourceIn } from '../../sheet/sheet-source.ts';
import { layoutOf } from '../../store/batch-file.ts';
import type { InputType } from '../../run-service/contract/deployment.ts';
import type { Reading } from '../../sheet/sheet-options.ts';
import type { BatchFolder } from '../../store/batch-folders.ts';
import type { SheetCopy } from '../copy-sheet.ts';

export type FurtherReading = {
  readonly out: string;
  readonly batch: BatchFolder;
  readonly copy: SheetCopy;
  /** How to read the file; inputs are mapped as in the batch. */
  readonly reading: Reading;
  /** It is the sheet of the batch, saved again (run --watch): what its rows ask for now counts. */
  readonly isSavedAgain?: boolean;
  /** What an earlier save left out; without it, `skipRows` counts. */
  readonly leftOut?: LeftOutRows | undefined;
};

/** The guesses, without those that the batch was made with. */
export const openGuesses = (
  { batch, isSavedAgain = false }: FurtherReading,
  guesses: readonly Guess[],
): readonly Guess[] => guesses.filter((guess) => !(isSavedAgain && isAgreed(guess, batch)));

/** How the file is read. Rows that an earlier save left out are found by what they are, not by their numbers. */
export function readingOf({ batch, reading, leftOut, isSavedAgain = false }: FurtherReading): Reading {
  const { skipRows = isSavedAgain ? batch.file.sheet.options.skipRows : undefined, ...others } = reading;
  // Without any, also totals are sent.
  if (skipRows?.length === 0) return { ...others, skipRows };
  return leftOut === undefined ? reading : others;
}

/** The batch was made with the same guess, or the user gave it. */
function isAgreed({ flags: [flag, value] }: Guess, { file }: BatchFolder): boolean {
  const { headerRow, hidden, encoding, sheet } = file.sheet.options;
  const settled: Readonly<Record<string, string | undefined>> = {
    '--header-row': headerRow === undefined ? undefined : String(headerRow),
    '--hidden': hidden,
    '--encoding': encoding,
    '--sheet-name': sheet,
  };
  return flag !== undefined && value !== undefined && settled[flag] === value;
}

/** Letters depend on this encoding. */
export const orConfirm = (guess: Guess): Guess =>
  guess.flags.includes('windows-1252') ? { ...guess, sure: 'confirm' } : guess;

export type SavedAgain = {
  readonly name: string;
  readonly skipRows: Reading['skipRows'];
  readonly inputTypes: readonly InputType[] | undefined;
};

/** The rows that were left out when the batch was made; undefined if the command gives other numbers, which are those of the sheet as it is now. */
export async function leftOutBefore(
  { store, file }: Pick<BatchFolder, 'store' | 'file'>,
  { name, skipRows, inputTypes }: SavedAgain,
): Promise<LeftOutRows | undefined> {
  const { options, asked } = file.sheet;
  const given = JSON.stringify(skipRows);
  const isUnchanged = [options, asked].some((has) => JSON.stringify(has?.skipRows) === given);
  if ((given !== undefined && !isUnchanged) || name !== file.sheet.name) return undefined;
  return leftOutOf(sourceIn(layoutOf(store, file), file.sheet), options, inputTypes);
}
