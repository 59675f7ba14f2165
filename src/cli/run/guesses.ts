// Prints what was guessed about a sheet, and asks about guesses that could spend money wrongly.

import { shellWord, terminalLine } from '../../errors/outside-text.ts';
import { flagsOf, guessesRefused, guessText, unconfirmed, type Guess } from '../../sheet/guesses/guess.ts';
import { ask } from './ask.ts';
import type { Printer } from '../context.ts';

export type AgreeParams = {
  readonly printer: Printer;
  readonly process: Pick<NodeJS.Process, 'argv' | 'stdin' | 'stderr'>;
  /** The sheet, for messages. */
  readonly sheet: string;
  /** Whether the command asks on a terminal. */
  readonly asks: boolean;
};

/** Asks about all guesses in one question. A script gets E111 with one complete command. */
export async function agreeOnTerminal(params: AgreeParams, guesses: readonly Guess[]): Promise<void> {
  const { printer, process, sheet, asks } = params;
  if (!(asks && printer.isTerminal && process.stdin.isTTY))
    throw guessesRefused(sheet, guesses, { command: completeCommand(process.argv, guesses) });
  for (const line of guessLines(guesses)) printer.notice(line);
  const isRight = await ask(process, 'Is that right? [y/n] ', { y: true, n: false });
  if (isRight !== true) throw guessesRefused(sheet, guesses, { isDeclined: true });
}

/** `  guess     separator ; (--delimiter ';')`; those that have to be confirmed carry a question mark. */
export const guessLines = (guesses: readonly Guess[]): readonly string[] =>
  guesses.map((guess) =>
    terminalLine(`  ${guess.sure === 'confirm' ? 'guess ?' : 'guess  '}   ${guessText(guess)}`),
  );

/** The command that was given, with the flags that say what has to be confirmed. */
export function completeCommand(
  [, , name = '', ...args]: readonly string[],
  guesses: readonly Guess[],
): string {
  const flags = flagsOf(unconfirmed(guesses));
  const kept = args.filter((arg, at) => !ONCE.some((flag) => isValueOf(flag, arg, args[at - 1], flags)));
  return ['runsheet', name, ...kept, ...flags].map(shellWord).join(' ');
}

/** Flags with one value: a guess replaces it. */
const ONCE = ['--skip-rows'];

/** Whether `arg` gives `flag` another value than `flags` does. */
const isValueOf = (
  flag: string,
  arg: string,
  before: string | undefined,
  flags: readonly string[],
): boolean => flags.includes(flag) && (arg === flag || before === flag || arg.startsWith(`${flag}=`));
