// Turns parser errors into errors with a code. The parser formats its errors through a text table; this
// table throws instead, so that one place prints all errors.

import {
  AliasNotFoundError,
  ArgumentParseError,
  ArgumentScannerError,
  EnumValidationError,
  FlagNotFoundError,
  text_en,
  UnexpectedFlagError,
  UnexpectedPositionalError,
  UnsatisfiedFlagError,
  UnsatisfiedPositionalError,
} from '@stricli/core';
import { correctionOf, nearest, problem, RunsheetError, type Correction } from '../../errors/error.ts';

class UnknownCommand extends Error {
  readonly input: string;
  readonly corrections: readonly string[];

  constructor(input: string, corrections: readonly string[]) {
    super(input);
    this.input = input;
    this.corrections = corrections;
  }
}

/** The parser's text table; help texts stay unchanged. */
export const PARSER_TEXT: typeof text_en = {
  ...text_en,
  exceptionWhileParsingArguments(refusal) {
    throw refusal;
  },
  noCommandRegisteredForInput({ input, corrections }) {
    throw new UnknownCommand(input, corrections);
  },
};

/** The coded error for a parser error; other errors are returned unchanged. `args`: the arguments of the command. */
export function parserFault(refusal: unknown, args: readonly string[]): unknown {
  const command = commandIn(args);
  if (refusal instanceof UnknownCommand) return unknownCommand(refusal);
  if (!(refusal instanceof ArgumentScannerError)) return refusal;
  const help = `see: ${['runsheet', command, '--help'].filter(Boolean).join(' ')}`;
  return (
    unknownWord(refusal, help) ??
    problem('E602', { hint: help, ...wrongValue(refusal, command) }, { correction: enumCorrection(refusal) })
  );
}

/** Command groups. */
const GROUPS: ReadonlySet<string> = new Set(['pool', 'schedule']);

/** `run`, or `pool set`. */
function commandIn(args: readonly string[]): string {
  const [first = '', second] = args.map((word) => (word.startsWith('-') ? '' : word));
  return GROUPS.has(first) && second ? `${first} ${second}` : first;
}

/** Names from other tools, and the commands they mean here. */
const SYNONYMS: Readonly<Record<string, string>> = {
  delete: 'clean',
  download: 'export',
  kill: 'cancel',
  log: 'logs',
  ls: 'list',
  remove: 'clean',
  start: 'run',
  stop: 'cancel',
};

function unknownCommand({ input, corrections }: UnknownCommand): RunsheetError {
  const near =
    SYNONYMS[input] ??
    nearest(
      input,
      corrections.map((word) => word.replaceAll('`', '')),
    );
  const facts = { word: `command ${JSON.stringify(input)}`, near, help: 'see: runsheet --help' };
  return problem('E605', facts, { correction: correctionOf(input, near) });
}

function unknownWord(refusal: ArgumentScannerError, help: string): RunsheetError | undefined {
  if (refusal instanceof AliasNotFoundError) return problem('E605', { word: `flag -${refusal.input}`, help });
  if (!(refusal instanceof FlagNotFoundError)) return undefined;
  const meant = nearest(refusal.input, refusal.corrections.map(inKebabCase));
  const near = meant && `--${meant}`;
  const correction = correctionOf(`--${refusal.input}`, near);
  return problem('E605', { word: `flag --${refusal.input}`, near, help }, { correction });
}

const enumCorrection = (refusal: ArgumentScannerError): Correction | undefined =>
  refusal instanceof EnumValidationError
    ? correctionOf(refusal.input, nearest(refusal.input, refusal.values))
    : undefined;

function wrongValue(refusal: ArgumentScannerError, command: string): { what: string; hint?: string } {
  if (refusal instanceof ArgumentParseError) return unreadable(refusal, command);
  if (refusal instanceof EnumValidationError) {
    const { externalFlagName: name, input, values } = refusal;
    const near = nearest(input, values);
    const what = `--${name} ${JSON.stringify(input)}: the values are ${values.join(', ')}`;
    return near === undefined ? { what } : { what, hint: `did you mean ${near}?` };
  }
  if (refusal instanceof UnsatisfiedFlagError) {
    const { externalFlagName: name, nextFlagName: next } = refusal;
    return { what: `--${name} needs a value${next === undefined ? '' : `, and --${next} follows`}` };
  }
  if (refusal instanceof UnexpectedFlagError) return { what: `--${refusal.externalFlagName} is given twice` };
  if (refusal instanceof UnsatisfiedPositionalError) return { what: `<${refusal.placeholder}> is missing` };
  if (refusal instanceof UnexpectedPositionalError)
    return { what: `${JSON.stringify(refusal.input)} is an unexpected argument` };
  return { what: refusal.message };
}

/** Placeholders of positional arguments; anything else with a value is a flag. */
const ARGUMENTS: ReadonlySet<string> = new Set([
  'sheet',
  'batch',
  'row',
  'row|key',
  'schedule',
  'shell',
  'A',
  'B',
]);

function unreadable(
  { externalFlagNameOrPlaceholder: name, input, exception }: ArgumentParseError,
  command: string,
) {
  // `pool` is an argument only of the pool commands; elsewhere it is a flag.
  const isArgument = ARGUMENTS.has(name) || (name === 'pool' && command.startsWith('pool'));
  const word = isArgument ? `<${name}>` : `--${inKebabCase(name)}`;
  const isOurs = exception instanceof RunsheetError;
  const what = `${word} ${JSON.stringify(input)} ${isOurs ? exception.message : 'is not a valid value'}`;
  return isOurs && exception.hint !== undefined ? { what, hint: exception.hint } : { what };
}

const inKebabCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
