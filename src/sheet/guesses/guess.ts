// What runsheet guesses about a sheet that a person made. A guess that could spend money wrongly has to be confirmed; each
// one names the flags that say the same without a guess.

import { list, problem, type RunsheetError } from '../../errors/error.ts';
import { shellWord } from '../../errors/outside-text.ts';
import type { RowNames } from '../row-keys.ts';
import type { SheetOptions } from '../sheet-source.ts';

export type Guess = {
  readonly about: 'encoding' | 'separator' | 'header' | 'rows' | 'columns' | 'gpu' | 'key' | 'values';
  /** `said`: it is printed; `confirm`: nothing is sent until the user agrees. What cannot be guessed is an error. */
  readonly sure: 'said' | 'confirm';
  /** `separator ;` */
  readonly text: string;
  /** The flags that say it; none if it needs no flag. */
  readonly flags: readonly string[];
};

/** Options that no longer need a guess, and the guesses that they contain. */
export type Settled = { readonly options: SheetOptions; readonly guesses: readonly Guess[] };

/** `problems`: errors that say more than the layout could. A sheet with one of them is refused. */
export type SettledSheet = Settled & {
  readonly problems: readonly RunsheetError[];
  /** Input → the column that it is likely to be. */
  readonly likely?: Readonly<Record<string, string>>;
};

/** What one kind of guess adds. */
export type Part = { readonly options: Partial<SheetOptions>; readonly guesses: readonly Guess[] };

export const NOTHING: Part = { options: {}, guesses: [] };

export const said = (about: Guess['about'], text: string, ...flags: readonly string[]): Guess => ({
  about,
  sure: 'said',
  text,
  flags,
});

export const toConfirm = (about: Guess['about'], text: string, ...flags: readonly string[]): Guess => ({
  ...said(about, text, ...flags),
  sure: 'confirm',
});

/** `separator ; (--delimiter ';')` */
export const guessText = ({ text, flags }: Guess): string =>
  flags.length === 0 ? text : `${text} (${flags.map(shellWord).join(' ')})`;

export const unconfirmed = (guesses: readonly Guess[]): readonly Guess[] =>
  guesses.filter(({ sure }) => sure === 'confirm');

const flagsOf = (guesses: readonly Guess[]): readonly string[] => guesses.flatMap(({ flags }) => flags);

/** E111 for guesses without a confirmation; `command` says all of them outright. `isDeclined`: the user has said that one is wrong. */
export function guessesRefused(
  file: string,
  guesses: readonly Guess[],
  { command, isDeclined = false }: { readonly command?: string; readonly isDeclined?: boolean } = {},
): RunsheetError {
  const open = unconfirmed(guesses);
  const texts = list(
    open.map(({ text }) => text),
    '; ',
  );
  return problem('E111', { file, texts, flags: flagsOf(open).map(shellWord).join(' '), command, isDeclined });
}

/** The guesses that a refusal rests on, so that it can be understood. */
const BEHIND = new WeakMap<object, readonly Guess[]>();

/** The error, with guesses that were made before it. */
export function restingOn(error: unknown, guesses: readonly Guess[]): unknown {
  if (typeof error === 'object' && error !== null) BEHIND.set(error, [...guesses, ...guessesBehind(error)]);
  return error;
}

export const guessesBehind = (error: unknown): readonly Guess[] => BEHIND.get(error as object) ?? [];

/**
 * Equal rows may be meant, or be bought by mistake: also with `--repeat`, whose seeds differ. Programs mean what they write, and so
 * do users who say what names the rows (`isNamed`).
 */
export function equalRows(
  { count, first: repeat }: RowNames['repeats'],
  { format, unique, repeat: often }: SheetOptions,
  isNamed: boolean,
): readonly Guess[] {
  if (repeat === undefined || isNamed || unique !== undefined || often?.isSame === true) return [];
  if (format === 'json' || format === 'jsonl') return [];
  const rows = `row ${repeat.row} equals row ${repeat.firstRow}`;
  const text =
    count === 1
      ? `${rows}, and is run too; to leave it out: --unique`
      : `${count} rows equal earlier ones (${rows}), and are run too; to leave them out: --unique`;
  return [toConfirm('rows', text, '--no-unique')];
}

/** A name without what people write in different ways: case, spaces, `-` and `_`. */
export const plainName = (name: string): string =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s\-_]+/g, '');
