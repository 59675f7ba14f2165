// Which rows of a sheet are rows of the batch: guesses about blank rows and totals, and the refusal of rows without inputs.

import { problem } from '../../errors/error.ts';
import { type Guess, type Part, said, toConfirm } from './guess.ts';
import type { LeftOutRows } from '../left-out-rows.ts';
import { rangesOf, rangesText, withRows } from '../row-ranges.ts';
import type { SheetOptions } from '../sheet-options.ts';
import type { Survey } from './survey.ts';

/** Throws E112 for rows without inputs and repeated headers. */
export function refuseRows(
  file: string,
  { emptyLines, headerLines }: Survey,
  { skipRows = [] }: SheetOptions,
): void {
  const [lines, what] =
    headerLines.length > 0
      ? [headerLines, 'repeat the header']
      : [emptyLines, 'are empty in every column of an input'];
  if (lines.length === 0) return;
  const rows = rangesText(rangesOf(lines));
  const skipped = rangesText(withRows(skipRows, lines));
  throw problem(
    'E112',
    {
      what: `rows of ${file} ${what}: ${rows}`,
      hint: `if they are no rows of the batch, add: --skip-rows ${skipped}`,
    },
    { place: { file }, correction: { add: [['--skip-rows', skipped]] } },
  );
}

/** `leftOut`: totals of these kinds were left out of an earlier save of the sheet. */
export function rowGuesses(survey: Survey, { skipRows = [] }: SheetOptions, leftOut?: LeftOutRows): Part {
  const { blank } = survey;
  const totals = [...survey.totals.keys()];
  const guesses: Guess[] = [];
  if (blank > 0) guesses.push(said('rows', `${blank} blank ${blank === 1 ? 'row' : 'rows'} left out`));
  if (totals.length === 0) return { options: {}, guesses };
  const ranges = withRows(skipRows, totals);
  const kinds = [...new Set(survey.totals.values())];
  const isKnown = kinds.every((kind) => leftOut?.totals.has(kind));
  const guess = isKnown ? said : toConfirm;
  guesses.push({ ...guess('rows', totalsText(survey), '--skip-rows', rangesText(ranges)), kinds });
  return { options: { skipRows: ranges }, guesses };
}

function totalsText({ totals: kinds, totalTexts, behindTotals }: Survey): string {
  const totals = [...kinds.keys()];
  const texts = totalTexts.map((text) => `"${text}"`);
  if (totals.length > texts.length) texts.push('…');
  const are =
    totals.length === 1
      ? 'is a total, not a row of the batch'
      : 'are totals and notes, not rows of the batch';
  const behind =
    behindTotals === 0 ? '' : `; ${behindTotals} behind ${totals.length === 1 ? 'it' : 'them'} will be sent`;
  return `row${totals.length === 1 ? '' : 's'} ${rangesText(rangesOf(totals))} (${texts.join(', ')}) ${are}${behind}; to send all rows: --skip-rows none`;
}
