// Corrects the command that the user gave, so that the hint of an error ends in a line to paste.

import { flagOf } from '../../options/written-options.ts';
import { RunsheetError, type Correction, type GivenFlag } from '../../errors/error.ts';
import { shellWord } from '../../errors/outside-text.ts';
import { isRepeated, OPTIONS, type AnyOption } from '../../options/table.ts';
import { guessesBehind, restingOn } from '../../sheet/guesses/guess.ts';
import { correctionsOf, furtherOf, SheetRefused } from '../../sheet/sheet-refused.ts';

/** Adds pasteable commands to an error's hint, including the corrected command if the error knows the correction. */
export function withCommand(error: unknown, args: readonly string[]): unknown {
  if (!(error instanceof RunsheetError)) return error;
  const { code, message, exit, place, cause } = error;
  const hint = error.hint && withPlace(error.hint, args);
  const further = furtherOf(error);
  const own = correctionsOf(error);
  const command = corrected(args, own.length === 0 ? [] : [...own, ...further.corrections]);
  const then = further.texts.map((text) => `then: ${text}`);
  const lines = [
    hint,
    ...(command === undefined ? [] : then),
    ...(command === undefined ? [] : [`  ${command}`]),
  ]
    .filter(Boolean)
    .join('\n');
  const whole =
    error instanceof SheetRefused
      ? new SheetRefused(error, error.errorsFile, lines || undefined)
      : new RunsheetError(code, message, { exit, hint: lines === '' ? undefined : lines, place, cause });
  return restingOn(whole, guessesBehind(error));
}

const ON_A_BATCH =
  /\brunsheet (?:pause|resume|scale|cancel|retry|follow|wait|status|rows|show|logs|results|events|verify|open|export|compare [a-zA-Z0-9][\w.-]*) [a-zA-Z0-9][\w.-]*(?![\w.-]| --out)|\brunsheet list\b(?! --out)/g;

/** Adds --out to the commands in a text if the command that prints them has it. */
export function withPlace(text: string, args: readonly string[]): string {
  const at = args.indexOf('--out');
  const out =
    at === -1 ? args.find((word) => word.startsWith('--out='))?.slice('--out='.length) : args[at + 1];
  return out === undefined
    ? text
    : text.replaceAll(ON_A_BATCH, (command) => `${command} --out ${shellWord(out)}`);
}

/** Returns undefined if the corrections change nothing. */
function corrected(args: readonly string[], corrections: readonly Correction[]): string | undefined {
  const words = corrections.reduce(correct, args);
  const variables = corrections.flatMap((correction) =>
    'environment' in correction ? (correction.environment ?? []) : [],
  );
  const isSame = words.length === args.length && words.every((word, at) => word === args[at]);
  if (isSame && variables.length === 0) return undefined;
  const settings = variables.map(([name, value]) => `${name}=${shellWord(value)}`);
  return [...settings, 'runsheet', ...words.map(shellWord)].join(' ');
}

function correct(args: readonly string[], correction: Correction): readonly string[] {
  if ('wrong' in correction) return replaced(args, correction.wrong, correction.right);
  return 'add' in correction ? correction.add.reduce(withFlag, args) : args;
}

/** Flags whose values are the user's own words and are never corrected. */
const OWN_WORDS: ReadonlySet<string> = new Set(['--set', '--where', '--reason', '--name', '--notify']);

/** If `wrong` is the value of a flag, the sheet and other words stay. */
function replaced(args: readonly string[], wrong: string, right: string): readonly string[] {
  const isOwn = (at: number): boolean =>
    OWN_WORDS.has(args[at - 1] ?? '') || [...OWN_WORDS].some((flag) => args[at]?.startsWith(`${flag}=`));
  const better = args.map((word, at) => (isOwn(at) ? word : correctedWord(word, wrong, right)));
  const isValue = (at: number) => args[at]?.startsWith('-') || args[at - 1]?.startsWith('-') || false;
  const hasValue = args.some((word, at) => word !== better[at] && isValue(at));
  return hasValue ? args.map((word, at) => (isValue(at) ? (better[at] ?? word) : word)) : better;
}

/** `wrong` may be a word, the value in `--flag=value`, or one value of a list, with or without its `name=`. */
function correctedWord(word: string, wrong: string, right: string): string {
  if (word === wrong) return right;
  const [, flag = '', value = word] = /^(-[^=]+=)(.*)$/s.exec(word) ?? [];
  if (value === wrong) return flag + right;
  return (
    flag +
    value
      .split(/([,=])/)
      .map((part) => (part === wrong ? right : part))
      .join('')
  );
}

/** Flags that a command may repeat, such as `--map`. */
export const REPEATED_FLAGS: ReadonlySet<string> = new Set(
  Object.entries<AnyOption>(OPTIONS).flatMap(([option, { kind }]) =>
    isRepeated(kind) ? [flagOf(option)] : [],
  ),
);

const SOURCES: ReadonlySet<string> = new Set(['--map', '--set']);

/** Sets a flag; a flag with a single value replaces the earlier one. */
function withFlag(args: readonly string[], [flag, value]: GivenFlag): readonly string[] {
  const at = args.findIndex((word) => word === flag || word.startsWith(`${flag}=`));
  // An input has one text, or one column.
  const input = SOURCES.has(flag) ? value?.slice(0, value.indexOf('=') + 1) : undefined;
  const isSource = (word: string, index: number): boolean =>
    input !== undefined && SOURCES.has(args[index - 1] ?? '') && word.startsWith(input);
  const own = args.findIndex(isSource);
  if (own > 0 && value !== undefined) return args.toSpliced(own - 1, 2, flag, value);
  if (at === -1 || REPEATED_FLAGS.has(flag)) {
    const isThere = args.some((word, index) => word === flag && args[index + 1] === value);
    if (isThere) return args;
    // Words after `--` are not flags.
    const end = args.includes('--') ? args.indexOf('--') : args.length;
    return args.toSpliced(end, 0, flag, ...(value === undefined ? [] : [value]));
  }
  if (value === undefined) return args;
  return args[at] === flag ? args.toSpliced(at + 1, 1, value) : args.toSpliced(at, 1, `${flag}=${value}`);
}
