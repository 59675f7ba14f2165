// Answers a proposal's questions: asks a user on a terminal, and refuses a script with the complete commands to choose from.

import type { QuestionAnswer, Question, Wording } from '../../batches/questions.ts';
import type { Policy } from '../../batches/settle.ts';
import { shellWord, terminalLine } from '../../errors/outside-text.ts';
import type { Guess } from '../../sheet/guesses/guess.ts';
import type { Printer } from '../context.ts';
import { REPEATED_FLAGS } from '../flags/correction.ts';
import { guessLine } from '../format.ts';
import { createInterface } from 'node:readline';

export type Asking = {
  readonly printer: Pick<Printer, 'isTerminal'>;
  readonly process: Pick<NodeJS.Process, 'argv' | 'stdin' | 'stderr'>;
  readonly asks: boolean;
};

export const policyOf = ({ printer, process, asks }: Asking): Omit<Policy, 'show'> => ({
  wording: asCommand(process.argv),
  ...(asks && printer.isTerminal && process.stdin.isTTY && { ask: asking(process) }),
});

const asking =
  (process: Asking['process']) =>
  (
    question: Question,
    what: string,
    answers: readonly QuestionAnswer[],
  ): Promise<QuestionAnswer | undefined> => {
    const [yes, ...alternatives] = answers;
    if (yes?.text === undefined) {
      const text =
        question.id === 'guesses'
          ? 'y takes every line with a ?. Is that right?'
          : terminalLine(`${what}. Send them?`);
      const lines = [...alternatives.map(alternativeLine), text];
      const keys = Object.fromEntries(alternatives.map((answer) => [answer.key, answer]));
      const words = ['y', 'n', ...Object.keys(keys)].join('/');
      return ask(process, `${lines.join('\n')} [${words}] `, {
        y: yes,
        yes,
        n: undefined,
        no: undefined,
        ...keys,
      });
    }
    const isOfRows = question.id === 'guesses';
    const lines = [
      isOfRows
        ? 'Only you know which rows are to run, and which columns are sent.'
        : terminalLine(`${what.charAt(0).toUpperCase()}${what.slice(1)}.`),
      ...answers.map((answer) =>
        isOfRows ? alternativeLine(answer) : `  ${answer.key}  ${answer.text ?? ''}`,
      ),
      '  q  stop',
    ];
    const keys = Object.fromEntries(answers.map((answer) => [answer.key, answer]));
    const choices: Readonly<Record<string, QuestionAnswer | undefined>> = { ...keys, q: undefined };
    return ask(process, `${lines.join('\n')}\n[${Object.keys(choices).join('/')}] `, choices);
  };

/** `  1  to send it: --map cfg=scale` */
const alternativeLine = ({ key, text = '', flags }: QuestionAnswer): string =>
  terminalLine(`  ${key}  ${text}: ${flags.flat().map(shellWord).join(' ')}`);

export const guessLines = (guesses: readonly Guess[]): readonly string[] => guesses.map(guessLine);

/** The user's command with an answer, and with the assumptions about the other questions. */
export const asCommand =
  (argv: readonly string[]): Wording =>
  (answer, assumed) => {
    const decides = (flags: readonly string[]): boolean => flags.some((flag) => DECIDING.has(flag));
    const isDecided = decides(answer.flags.flat());
    const more = assumed.filter((flags) => !(isDecided && decides(flags)));
    return commandWith(argv, [...answer.flags, ...more]);
  };

/** The user's command with these flags: before everything that may follow, and in place of other answers. */
export function commandWith(
  [, , ...words]: readonly string[],
  groups: readonly (readonly string[])[],
): string {
  // `schedule create` is two words.
  const args = words.slice(words[0] === 'schedule' ? 2 : 1);
  const isGiven = ([flag = '', value = '']: readonly string[]): boolean => {
    if (ONCE.includes(flag) || flag === TEXT) return false;
    if (!REPEATED_FLAGS.has(flag)) return args.some((word) => word === flag || word.startsWith(`${flag}=`));
    // For `input=value`, replaces only the pair of the same input.
    const [input = value] = /^[^=]+=/.exec(value) ?? [];
    const isSame = (word: string) => word === value || (input.endsWith('=') && word.startsWith(input));
    return args.some((word, at) =>
      word === flag
        ? isSame(args[at + 1] ?? '')
        : word.startsWith(`${flag}=`) && isSame(word.slice(flag.length + 1)),
    );
  };
  const flags = groups.flatMap((group) => (group.length === 0 || isGiven(group) ? [] : group));
  const isDecided = flags.some((flag) => DECIDING.has(flag));
  const kept = args.filter(
    (arg, at) =>
      !(isDecided && DECIDING.has(arg)) &&
      !isOtherText(arg, args[at - 1], args[at + 1], flags) &&
      !ONCE.some((flag) => isValueOf(flag, arg, args[at - 1], flags)),
  );
  const name = words.slice(0, words.length - args.length);
  return ['runsheet', ...name, ...flags, ...kept].map(shellWord).join(' ');
}

/** The answers about rows that other batches have. */
const DECIDING: ReadonlySet<string> = new Set(['--again', '--reuse']);

const ONCE = ['--skip-rows', '--out', '--repeat', '--max-cost', '--moved-files'];

/** The flag of templates. A guess about one completes the text of its input. */
const TEXT = '--set';

/** Whether the word is an input's text that `flags` replace by another, or the flag before it. */
function isOtherText(
  word: string,
  before: string | undefined,
  next: string | undefined,
  flags: readonly string[],
): boolean {
  const text =
    before === TEXT
      ? word
      : word === TEXT
        ? next
        : word.startsWith(`${TEXT}=`)
          ? word.slice(TEXT.length + 1)
          : undefined;
  const [input] = /^[^=]+=/.exec(text ?? '') ?? [];
  return input !== undefined && flags.some((flag, at) => flags[at - 1] === TEXT && flag.startsWith(input));
}

const isValueOf = (flag: string, arg: string, before: string | undefined, flags: readonly string[]) =>
  flags.includes(flag) && (arg === flag || before === flag || arg.startsWith(`${flag}=`));

/** `type y, n or 1, then Enter` */
function wordsOf(answers: Readonly<Record<string, unknown>>): string {
  const words = Object.keys(answers).filter((word) => word !== 'yes' && word !== 'no');
  // Numbers come first among the keys of an object.
  const listed = words.toSorted((a, b) => Number(/^\d/.test(a)) - Number(/^\d/.test(b)));
  return `type ${listed.slice(0, -1).join(', ')} or ${listed.at(-1)}, then Enter`;
}

/** Asks until the user chooses one of `answers`. Returns undefined at the end of the input. */
export async function ask<T>(
  { stdin, stderr }: Pick<NodeJS.Process, 'stdin' | 'stderr'>,
  question: string,
  answers: Readonly<Record<string, T>>,
): Promise<T | undefined> {
  const lines = createInterface({ input: stdin, output: stderr });
  lines.setPrompt(question);
  try {
    lines.prompt();
    for await (const answer of lines) {
      const word = answer.trim().toLowerCase();
      if (Object.hasOwn(answers, word)) return answers[word];
      stderr.write(
        `${word === '' ? 'Enter alone answers nothing' : `${terminalLine(JSON.stringify(word))} is no answer`}: ${wordsOf(answers)}\n`,
      );
      lines.prompt();
    }
    return undefined;
  } finally {
    lines.close();
  }
}
