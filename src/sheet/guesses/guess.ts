// A guess about a sheet that a person made. A guess that could waste money must be confirmed; each guess names the flags that replace it.

import { list, problem, type RunsheetError } from '../../errors/error.ts';
import { shellWord } from '../../errors/outside-text.ts';
import type { RowNames } from '../row-keys.ts';
import type { SheetOptions } from '../sheet-source.ts';

export type Guess = {
  readonly about: 'encoding' | 'separator' | 'header' | 'rows' | 'columns' | 'gpu' | 'key' | 'values';
  /** `said`: printed only; `confirm`: nothing is sent until the user agrees. Anything that cannot be guessed is an error. */
  readonly sure: 'said' | 'confirm';
  /** `separator ;` */
  readonly text: string;
  /** The flags that replace the guess; none if no flag is needed. */
  readonly flags: readonly string[];
};

/** Options in which every guess is explicit, and the guesses. */
export type Settled = { readonly options: SheetOptions; readonly guesses: readonly Guess[] };

/** `problems`: errors that explain more than the layout could. A sheet with any of them is refused. */
export type SettledSheet = Settled & {
  readonly problems: readonly RunsheetError[];
  /** Input → its most likely column. */
  readonly likely?: Readonly<Record<string, string>>;
};

/** The contribution of one kind of guess. */
export type GuessPart = { readonly options: Partial<SheetOptions>; readonly guesses: readonly Guess[] };

export const NOTHING: GuessPart = { options: {}, guesses: [] };

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

/** E111 for unconfirmed guesses; `command` states all of them. `isDeclined`: the user rejected one. */
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

/** The guesses behind a refusal, which explain it. */
const BEHIND = new WeakMap<object, readonly Guess[]>();

/** Attaches earlier guesses to an error. */
export function restingOn(error: unknown, guesses: readonly Guess[]): unknown {
  if (typeof error === 'object' && error !== null) BEHIND.set(error, [...guesses, ...guessesBehind(error)]);
  return error;
}

export const guessesBehind = (error: unknown): readonly Guess[] => BEHIND.get(error as object) ?? [];

/**
 * Reports equal rows: intended, or bought by mistake, also with `--repeat`, whose seeds differ. Programs,
 * and users who name the key (`isNamed`), mean what they write.
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

/** Normalizes a name: no case, spaces, `-` and `_`. */
export const plainName = (name: string): string =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s\-_]+/g, '');
