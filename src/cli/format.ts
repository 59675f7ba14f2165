// Formats errors, guesses and tables. Colours appear only on terminals that support them.

import { styleText } from 'node:util';
import { RunsheetError, errorMessage, type SheetPlace } from '../errors/error.ts';
import { shortened, terminalLine, terminalLines } from '../errors/outside-text.ts';
import { guessesBehind, guessText, type Guess } from '../sheet/guesses/guess.ts';
import { count, money, plural } from '../options/text/printed-numbers.ts';
import { columnLines } from './column-lines.ts';
import { SheetRefused } from '../sheet/sheet-refused.ts';

export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

/** Colours that `stream` supports; Node honours NO_COLOR and FORCE_COLOR. */
export const paintFor =
  (stream: NodeJS.WriteStream): Paint =>
  (style, text) =>
    styleText(style, text, { stream });

/** The user's own GPUs have no price, so a zero cost is not mentioned. */
export const ifPaid = (usd: number | null | undefined, text: (amount: string) => string): string =>
  usd ? text(money(usd)) : '';

export function errorText(error: unknown, paint: Paint): string {
  const guesses = guessesBehind(error).map((guess) => `${guessLine(guess)}\n`);
  return guesses.join('') + ownText(error, paint);
}

/** `  guess     separator ; (--delimiter ';')`; guesses that need confirmation end in a question mark. */
export const guessLine = (guess: Guess): string =>
  terminalLine(`  ${guess.sure === 'confirm' ? 'guess ?' : 'guess  '}   ${guessText(guess)}`);

function ownText(error: unknown, paint: Paint): string {
  if (error instanceof SheetRefused) return refusalText(error, paint);
  if (!(error instanceof RunsheetError))
    return `${paint('red', 'error')}: ${terminalLine(errorMessage(error))}\n`;
  return `${paint(['red', 'bold'], `error[${error.code}]`)}: ${terminalLines(error.message)}\n${placeText(error.place, paint)}${hintText(error.hint, paint)}`;
}

function refusalText(error: SheetRefused, paint: Paint): string {
  const shown = error.problems.map((rowError) => ownText(rowError, paint)).join('\n');
  const more = error.total - error.problems.length;
  const kinds = Object.entries(error.byCode).map(([code, times]) => `${code} × ${count(times)}`);
  const moreText = more > 0 ? `… and ${plural(more, 'more problem')} (${kinds.join(', ')})\n` : '';
  const columns = isMisread(error) ? `${columnLines(error.columns).join('\n')}\n\n` : '';
  return `${columns}${shown}${moreText}\n${paint(['red', 'bold'], 'refused')}: ${terminalLines(error.message)}\n${hintText(error.hint, paint)}`;
}

/** Whether columns are what is wrong, so that all of them help. */
const isMisread = ({ byCode, columns }: SheetRefused): boolean =>
  columns.length > 0 && ('E203' in byCode || 'E204' in byCode);

function placeText(place: SheetPlace | undefined, paint: Paint): string {
  if (place === undefined) return '';
  const spot = [place.file, place.line, place.column].filter((part) => part !== undefined).join(':');
  const at = place.cell === undefined ? spot : `${place.file} ${place.cell}`;
  const names = [
    place.row && `row ${count(place.row)}`,
    place.columnName && `column "${place.columnName}"`,
  ].filter(Boolean);
  const named = names.length > 0 ? ` (${names.join(', ')})` : '';
  const excerpt =
    place.excerpt === undefined ? '' : `${place.line} | ${shortened(terminalLine(place.excerpt), 160)}\n`;
  return `  ${paint('cyan', '-->')} ${terminalLine(at)}${terminalLine(named)}\n${excerpt}`;
}

const hintText = (hint: string | undefined, paint: Paint): string =>
  hint ? `${paint('cyan', 'hint')}: ${terminalLines(hint)}\n` : '';

/** Pads cells into aligned columns. */
export function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Retried and added rows belong to a later pass. */
export const fromText = ({ batch, pass }: { readonly batch: string; readonly pass: number }): string =>
  `the results of ${batch}${pass === 1 ? '' : ', after rows were added or sent again'}`;
