// A guess about a sheet that a person made. A guess that could waste money must be confirmed; each guess carries the options that state
// it, and those of other answers. A door writes them as flags, or shows them as choices.

import { list, problem, type RunsheetError } from '../../errors/error.ts';
import { shellWord } from '../../errors/outside-text.ts';
import { flagsOf } from '../../options/written-options.ts';
import type { RowNames } from '../row-keys.ts';
import type { SheetOptions } from '../sheet-source.ts';

export type Guess = {
  readonly about: 'encoding' | 'separator' | 'header' | 'rows' | 'columns' | 'gpu' | 'key' | 'values';
  /** `said`: printed only; `confirm`: nothing is sent until the user agrees. Anything that cannot be guessed is an error. */
  readonly sure: 'said' | 'confirm';
  /** `separator ;`, without any flag. */
  readonly text: string;
  /** The options that state the guess; empty if none is needed. */
  readonly options: GuessOptions;
  /** Answers instead of `options`. */
  readonly alternatives?: readonly Alternative[];
  /** Whether only the owner knows the answer: which rows are done, wanted, or rows at all. No printed command answers by itself. */
  readonly isChoice?: true;
};

/** Options of a sheet, as a batch stores them. */
export type GuessOptions = Partial<SheetOptions>;

/** `text`: `to send it`. Answers of one text are choices. */
export type Alternative = { readonly text: string; readonly options: GuessOptions };

/** Options in which every guess is explicit, and the guesses. `areOddRowsRefused`: the layout refuses the rows that a question concerns alone. */
export type Settled = {
  readonly options: SheetOptions;
  readonly guesses: readonly Guess[];
  readonly areOddRowsRefused?: true;
};

/** `problems`: errors that explain more than the layout could. A sheet with any of them is refused. */
export type SettledSheet = Settled & {
  readonly problems: readonly RunsheetError[];
  readonly likely?: LikelyColumns;
};

/** Input → its most likely column, or the columns that are equally likely: only the user knows which of them is meant, or whether all are. */
export type LikelyColumns = Readonly<Record<string, string | readonly string[]>>;

/** The contribution of one kind of guess. */
export type GuessPart = { readonly options: Partial<SheetOptions>; readonly guesses: readonly Guess[] };

export const NOTHING: GuessPart = { options: {}, guesses: [] };

export const said = (
  about: Guess['about'],
  text: string,
  options: GuessOptions = {},
  ...alternatives: readonly Alternative[]
): Guess => ({ about, sure: 'said', text, options, ...(alternatives.length > 0 && { alternatives }) });

export const toConfirm = (...guess: Parameters<typeof said>): Guess => ({
  ...said(...guess),
  sure: 'confirm',
});

/** An alternative; `text` names its effect. */
export const or = (text: string, options: GuessOptions): Alternative => ({ text, options });

/** The option that sends a column to an input. */
export const mapped = (input: string, column: string): GuessOptions => ({ map: { [input]: column } });

/** The option that keeps columns from being sent. */
export const dropped = (...columns: readonly string[]): GuessOptions => ({ drop: columns });

/** `--delimiter ';'` */
const words = (options: GuessOptions): string => flagsOf(options).flat().map(shellWord).join(' ');

/** `separator , (--delimiter ,)`, with alternatives as `; to send it: --map a=b, or --map c=b`. */
export function guessText({ text, options, alternatives = [] }: Guess): string {
  const answers = [...Map.groupBy(alternatives, ({ text: effect }) => effect)].map(
    ([what, choices]) => `; ${what}: ${choices.map((choice) => words(choice.options)).join(', or ')}`,
  );
  const stated = words(options);
  return `${text}${answers.join('')}${stated === '' ? '' : ` (${stated})`}`;
}

/** Whether an answer to the guess names the column. */
export const isAbout = ({ options, alternatives = [] }: Guess, column: string): boolean =>
  [options, ...alternatives.map((alternative) => alternative.options)].some(
    ({ map = {}, drop = [], fillDown = [], keyColumn, gpuColumn, unquoted }) =>
      [...Object.values(map), ...drop, ...fillDown, keyColumn, gpuColumn, unquoted].includes(column),
  );

/** Whether it is an encoding whose wrong choice changes letters, and shows in nothing else. */
export const choosesLetters = ({ options: { encoding } }: Guess): boolean =>
  encoding !== undefined && !encoding.startsWith('utf-16');

export const unconfirmed = (guesses: readonly Guess[]): readonly Guess[] =>
  guesses.filter(({ sure }) => sure === 'confirm');

export const choosesRows = ({ isChoice }: Guess): boolean => isChoice === true;

/** The flags of the answers that a printed command may give, each once. */
export function printedAnswers(guesses: readonly Guess[]): ReturnType<typeof flagsOf> {
  const flags = unconfirmed(guesses).flatMap((guess) => (choosesRows(guess) ? [] : flagsOf(guess.options)));
  return [...new Map(flags.map((flag) => [flag.join('\n'), flag])).values()];
}

/** E111 for unconfirmed guesses; `command` states all but those about rows. `isDeclined`: the user rejected one. */
export function guessesRefused(
  file: string,
  guesses: readonly Guess[],
  { command, isDeclined = false }: { readonly command?: string; readonly isDeclined?: boolean } = {},
): RunsheetError {
  const open = unconfirmed(guesses);
  const texts = list(
    open.map((guess) => guessText(choosesRows(guess) ? guess : { ...guess, options: {} })),
    '; ',
  );
  const flags = open.map(({ options }) => words(options)).join(' ');
  const choices = open
    .filter(choosesRows)
    .map(({ options, alternatives = [] }) => [...alternatives.map((answer) => answer.options), options])
    .map((answers) => list([...new Set(answers.map(words))], ', or '));
  return problem('E111', { file, texts, flags, command, isDeclined, choices });
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
 * Reports equal rows: intended, or bought by mistake, even with `--repeat`, whose seeds differ. Programs, and users who name the
 * key, mean what they write (`areMeant`), but nobody means two keys that differ only in case or blanks.
 */
export function equalRows(
  { repeats, twins }: Readonly<Record<'repeats' | 'twins', RowNames['repeats']>>,
  { unique, repeat: often }: SheetOptions,
  areMeant: boolean,
): readonly Guess[] {
  const { count, first } = areMeant ? twins : repeats;
  if (first === undefined || unique !== undefined || often?.isSame === true) return [];
  const but = areMeant ? ' but for the case or blanks of its key' : '';
  const rows = `row ${first.row} equals row ${first.firstRow}${but}`;
  const text =
    count === 1 ? `${rows}, and is run too` : `${count} rows equal earlier ones (${rows}), and are run too`;
  const without = or(count === 1 ? 'to leave it out' : 'to leave them out', { unique: true });
  return [toConfirm('rows', text, { unique: false }, without)];
}

/** Normalizes a name: no case, spaces, `-` and `_`. */
export const plainName = (name: string): string =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s\-_]+/g, '');
