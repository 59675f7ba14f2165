// The context of a command: its process and streams. Only src/cli prints.

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
  /** Absolute path of the job file that the command came from. */
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
    /** A text for people: no secrets, no control characters, and commands in the form that works in this shell. */
    forPeople: shown,
    /** A line of data: exact for programs; on a terminal without control characters except colours. */
    data: (text: string) =>
      void process.stdout.write(`${process.stdout.isTTY ? paintedCells(text) : text}\n`),
    /** A name, path or address as a line of data; on a terminal without colours too. */
    name: (text: string) =>
      void process.stdout.write(`${process.stdout.isTTY ? terminalLine(text) : text}\n`),
    json: (value: unknown) =>
      void process.stdout.write(`${terminalJson(JSON.stringify(value, undefined, 2))}\n`),
    /** A message line without secrets and without terminal control characters except colours; silent with -q. */
    notice,
    /** Prints the next commands last. Only for text output, because programs read the data. */
    next: (...next: readonly Next[]) => {
      if (output === 'text' || output === 'table') for (const line of next) notice(nextLine(line));
    },
    raw: (text: string) => void (quiet || process.stderr.write(shown(text))),
  };
}

export type Printer = ReturnType<typeof printerFor>;

/** A label and a command: `['continue', 'runsheet resume portraits-7f3a']`. */
export type Next = readonly [word: string, command: string];

/** `  open      runsheet open portraits-7f3a`. */
export const nextLine = ([word, command]: Next): string => `  ${word.padEnd(9)} ${command}`;

/** An address that ends in a secret. Redirected stdout may be read by others, so the secret appears only on a terminal. */
export const onTerminal = ({ process }: Context, address = 'none'): string =>
  process.stdout.isTTY
    ? address
    : address.replace(/\/open\/.*$/s, '/open/… (whole on a terminal, and with -o json)');

const paintedCells = (text: string): string => text.split('\t').map(paintedLines).join('\t');

/** Programs get the name of the documentation. */
const forPeople = (text: string, program = PROGRAM): string =>
  paintedLines(withoutSecrets(asCalled(text, program)));

export function printError(context: Context, error: unknown, output: Output | undefined): void {
  const { process, program } = context;
  if (output === 'json' || output === 'jsonl')
    process.stdout.write(`${terminalJson(withoutSecrets(JSON.stringify(problemJson(error))))}\n`);
  else process.stderr.write(forPeople(`\n${errorText(error, paintFor(process.stderr))}`, program));
}

// Texts name commands as `runsheet …`; printing replaces the name by the call that works in this shell.
/** Every command, because a sentence may also begin with `runsheet`. A test compares this with the list of commands. */
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
