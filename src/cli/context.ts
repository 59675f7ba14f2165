// The context of a command: its process and streams. Only this folder prints.

import type { CommandContext } from '@stricli/core';
import type { Readable } from 'node:stream';
import { paintedLines, terminalJson, terminalLine } from '../errors/outside-text.ts';
import { withoutSecrets } from '../errors/redact.ts';
import { errorText, paintFor } from './format.ts';
import { withPlace } from './flags/correction.ts';
import { problemJson } from './json/problem.ts';
import { PROGRAM } from '../host/package-version.ts';

export type Output = 'text' | 'json' | 'jsonl' | 'csv';

export interface Context extends CommandContext {
  readonly process: NodeJS.Process;
  readonly args?: readonly string[];
  /** How the user calls the program (default: `runsheet`). */
  readonly program?: string | undefined;
  /** The job file whose flags the command has. Absolute. */
  readonly job?: string | undefined;
}

export function printerFor(
  { process, args = [], program }: Context,
  { quiet = false, output = 'text' }: { readonly quiet?: boolean; readonly output?: string } = {},
) {
  const shown = (text: string): string => forPeople(withPlace(text, args), program);
  const notice = (text: string): void => void (quiet || process.stderr.write(`${shown(text)}\n`));
  return {
    output,
    paint: paintFor(process.stderr),
    isTerminal: process.stderr.isTTY && !quiet,
    stdin: process.stdin as Readable,
    /** A text as people see it: without secrets and control characters, with commands as the user can give them. */
    forPeople: shown,
    /** A line of data: exact for programs, without terminal control characters except colours on a terminal. */
    data: (text: string) =>
      void process.stdout.write(`${process.stdout.isTTY ? paintedCells(text) : text}\n`),
    /** A name, path or address as a line of data; on a terminal also without colours. */
    name: (text: string) =>
      void process.stdout.write(`${process.stdout.isTTY ? terminalLine(text) : text}\n`),
    json: (value: unknown) =>
      void process.stdout.write(`${terminalJson(JSON.stringify(value, undefined, 2))}\n`),
    /** A message line without secrets and without terminal control characters except colours; silent with -q. */
    notice,
    /** What a command says last: the next commands, complete, and only with text, because a program reads the data. */
    next: (...next: readonly Next[]) => {
      if (output === 'text' || output === 'table') for (const one of next) notice(nextLine(one));
    },
    raw: (text: string) => void (quiet || process.stderr.write(shown(text))),
  };
}

export type Printer = ReturnType<typeof printerFor>;

/** A word and the command: `['continue', 'runsheet resume portraits-7f3a']`. */
export type Next = readonly [word: string, command: string];

/** `  open      runsheet open portraits-7f3a`. */
export const nextLine = ([word, command]: Next): string => `  ${word.padEnd(9)} ${command}`;

/** An address whose end is a secret: a file that takes stdout may be read by others. */
export const onTerminal = ({ process }: Context, address = 'none'): string =>
  process.stdout.isTTY
    ? address
    : address.replace(/\/open\/.*$/s, '/open/… (whole on a terminal, and with -o json)');

const paintedCells = (text: string): string => text.split('\t').map(paintedLines).join('\t');

/** Programs read the name that the documents use. */
const forPeople = (text: string, program = PROGRAM): string =>
  paintedLines(withoutSecrets(asCalled(text, program)));

export function printError(context: Context, error: unknown, output: Output | undefined): void {
  const { process, program } = context;
  if (output === 'json' || output === 'jsonl')
    process.stdout.write(`${terminalJson(withoutSecrets(JSON.stringify(problemJson(error))))}\n`);
  else process.stderr.write(forPeople(`\n${errorText(error, paintFor(process.stderr))}`, program));
}

// Texts name commands as `runsheet …`; where they are printed, the name is replaced by the way of calling that works in this shell.
/** Every command, because a sentence may also begin with `runsheet`. A test compares them with the list of commands. */
export const COMMANDS =
  'cancel clean codec compare completion deployments dev doctor events export follow list logs migrate-check open pause pick pipeline plan pool results resume retry rows run scale schedule service show status submit trust verify wait worker'.split(
    ' ',
  );

/** "a runsheet worker" is no command. */
const NAMED = new RegExp(
  String.raw`(?<!(?:^|\s)a |[\w./-])runsheet(?= (?:--help|--version|${COMMANDS.join('|')})\b)`,
  'g',
);

export const asCalled = (text: string, program: string): string =>
  program === PROGRAM ? text : text.replaceAll(NAMED, () => program);
