// Answers the questions of a proposal: a user on a terminal is asked, a script is refused with complete commands.

import type { Proposal } from '../../create-batch/propose.ts';
import {
  answersOf,
  assumedFlags,
  isAsked,
  questionText,
  QuestionsOpen,
  refusal,
  type Answer,
  type Patch,
  type Question,
  type Words,
} from '../../create-batch/questions.ts';
import { shellWord, terminalLine } from '../../errors/outside-text.ts';
import { guessesRefused, guessText, unconfirmed, type Guess } from '../../sheet/guesses/guess.ts';
import { ask } from './ask.ts';
import type { Printer } from '../context.ts';

export type Asking = {
  readonly printer: Pick<Printer, 'isTerminal'>;
  readonly process: Pick<NodeJS.Process, 'argv' | 'stdin' | 'stderr'>;
  /** Whether the command asks on a terminal. */
  readonly asks: boolean;
};

const mayAsk = ({ printer, process, asks }: Asking): boolean =>
  asks && printer.isTerminal && process.stdin.isTTY;

/** What the user decides about all open questions. Throws the error of the first one without an answer. */
export async function answersBy(asking: Asking, questions: readonly Question[]): Promise<readonly Patch[]> {
  const words = asCommand(asking.process.argv);
  const unasked = questions.find((one) => !isAsked(one));
  const [first] = questions;
  if (first !== undefined && !mayAsk(asking)) throw refusal(questions, words);
  if (unasked !== undefined) throw refusal([unasked, ...questions.filter((one) => one !== unasked)], words);
  const patches: Patch[] = [];
  for (const question of questions) {
    const answer = await askOne(asking, question);
    if (answer === undefined && question.id === 'guesses')
      throw guessesRefused(question.sheet, question.guesses, { isDeclined: true });
    if (answer === undefined)
      throw refusal([question, ...questions.filter((one) => one !== question)], words);
    patches.push(answer.with);
  }
  return patches;
}

function askOne({ process }: Asking, question: Question): Promise<Answer | undefined> {
  const answers = answersOf(question);
  const [{ text }] = answers;
  if (text === undefined) {
    const [yes] = answers;
    const asked =
      question.id === 'guesses' ? 'Is that right?' : terminalLine(`${questionText(question)}. Send them?`);
    return ask(process, `${asked} [y/n] `, { y: yes, yes, n: undefined, no: undefined });
  }
  const what = questionText(question);
  const lines = [
    terminalLine(`${what.charAt(0).toUpperCase()}${what.slice(1)}.`),
    ...answers.map((one) => `  ${one.key}  ${one.text ?? ''}`),
    '  q  stop',
  ];
  const keys = Object.fromEntries(answers.map((one) => [one.key, one]));
  const all: Readonly<Record<string, Answer | undefined>> = { ...keys, q: undefined };
  return ask(process, `${lines.join('\n')}\n[${Object.keys(all).join('/')}] `, all);
}

/** Carries the proposal out when all is answered; `show` is called whenever it has become another one. */
export async function settle(
  asking: Asking,
  proposal: Proposal,
  show: () => Promise<void>,
): Promise<Awaited<ReturnType<Proposal['carryOut']>> | { readonly into: string }> {
  let shown: unknown;
  const showNew = async (): Promise<void> => {
    if (proposal.draft === undefined || proposal.existing !== undefined || proposal.draft === shown) return;
    shown = proposal.draft;
    await show();
  };
  let { questions } = proposal;
  for (;;) {
    if (questions.length > 0) {
      if (mayAsk(asking) && questions.every(isAsked)) await showNew();
      const patches = await answersBy(asking, questions);
      const into = patches.find((patch) => 'into' in patch);
      if (into !== undefined && 'into' in into) return into;
      await proposal.with(...patches);
      ({ questions } = proposal);
      continue;
    }
    await showNew();
    try {
      return await proposal.carryOut();
    } catch (error) {
      if (!(error instanceof QuestionsOpen)) throw error;
      ({ questions } = error);
    }
  }
}

/** `  guess     separator ; (--delimiter ';')`; those that have to be confirmed carry a question mark. */
export const guessLines = (guesses: readonly Guess[]): readonly string[] =>
  guesses.map((guess) =>
    terminalLine(`  ${guess.sure === 'confirm' ? 'guess ?' : 'guess  '}   ${guessText(guess)}`),
  );

/** The command that was given with an answer, and with what is assumed about the other questions. */
export const asCommand =
  (argv: readonly string[]): Words =>
  (answer, others) => {
    const decides = (flags: readonly string[]): boolean =>
      flags.some((flag) => flag === '--again' || flag === '--reuse');
    const isDecided = decides(answer.flags.flat());
    const more = assumedFlags(others).filter((flags) => !(isDecided && decides(flags)));
    return commandWith(argv, [...answer.flags, ...more]);
  };

/** The command that was given, with the flags that say these guesses outright. */
export const commandSaying = (argv: readonly string[], guesses: readonly Guess[]): string =>
  commandWith(
    argv,
    unconfirmed(guesses).map(({ flags }) => flags),
  );

/** The command that was given, with these flags: before everything that may follow, and instead of other answers. */
export function commandWith(
  [, , name = '', ...args]: readonly string[],
  groups: readonly (readonly string[])[],
): string {
  const isGiven = (flag: string): boolean =>
    !ONCE.includes(flag) && args.some((word) => word === flag || word.startsWith(`${flag}=`));
  const flags = groups.flatMap((group) => (group[0] === undefined || isGiven(group[0]) ? [] : group));
  const kept = args.filter(
    (arg, at) =>
      arg !== '--reuse' &&
      arg !== '--again' &&
      !ONCE.some((flag) => isValueOf(flag, arg, args[at - 1], flags)),
  );
  return ['runsheet', name, ...flags, ...kept].map(shellWord).join(' ');
}

/** Flags with one value, which an answer replaces. */
const ONCE = ['--skip-rows', '--out'];

/** Whether `arg` gives `flag` another value than `flags` does. */
const isValueOf = (
  flag: string,
  arg: string,
  before: string | undefined,
  flags: readonly string[],
): boolean => flags.includes(flag) && (arg === flag || before === flag || arg.startsWith(`${flag}=`));
