// Corrects the command that was given, so that the hint of an error ends in a line that can be pasted.

import { RunsheetError, type Correction } from '../errors/error.ts';
import { shellWord } from '../errors/outside-text.ts';
import { SheetRefused } from '../sheet/validation-errors.ts';

/** The error with commands that can be pasted in its hint; with the corrected command, if it knows what was meant. */
export function withCommand(error: unknown, args: readonly string[]): unknown {
  if (!(error instanceof RunsheetError) || error instanceof SheetRefused) return error;
  const command = error.correction && corrected(args, error.correction);
  const { code, message, exit, place, cause } = error;
  const hint = error.hint && withPlace(error.hint, args);
  const lines = [hint, ...(command === undefined ? [] : [`  ${command}`])].filter(Boolean).join('\n');
  return new RunsheetError(code, message, { exit, hint: lines === '' ? undefined : lines, place, cause });
}

const ON_A_BATCH =
  /\brunsheet (?:pause|resume|scale|cancel|retry|watch|wait|status|rows|show|logs|results|events|verify|open|export) [a-zA-Z0-9][\w.-]*(?![\w.-]| --out)|\brunsheet list\b(?! --out)/g;

/** The commands in a text, with the folder of the batches if the command that prints them was given one. */
export function withPlace(text: string, args: readonly string[]): string {
  const at = args.indexOf('--out');
  const out =
    at === -1 ? args.find((word) => word.startsWith('--out='))?.slice('--out='.length) : args[at + 1];
  return out === undefined
    ? text
    : text.replaceAll(ON_A_BATCH, (command) => `${command} --out ${shellWord(out)}`);
}

/** undefined if the wrong word is no word of the command. */
function corrected(args: readonly string[], { wrong, right }: Correction): string | undefined {
  const words =
    wrong === undefined ? [...args, ...right.split(' ')] : args.map((word) => one(word, wrong, right));
  const isSame = words.length === args.length && words.every((word, at) => word === args[at]);
  return isSame ? undefined : ['runsheet', ...words.map(shellWord)].join(' ');
}

/** `wrong` may be a word, the value of `--flag=value`, or in a list of values. */
function one(word: string, wrong: string, right: string): string {
  const [, flag = '', value = word] = /^(-[^=]+=)(.*)$/s.exec(word) ?? [];
  if (word === wrong) return right;
  return (
    flag +
    value
      .split(',')
      .map((part) => (part === wrong ? right : part))
      .join(',')
  );
}
