// Finds the commands in texts, and asks the parser of the command line whether it takes them.

import {
  buildApplication,
  buildRouteMap,
  run,
  UnsatisfiedFlagError,
  UnsatisfiedPositionalError,
  type Command,
  type CommandContext,
  type RouteMapBuilderArguments,
} from '@stricli/core';
import { application } from '../../src/cli/command-list.ts';
import { PARSER_TEXT } from '../../src/cli/flags/parser-faults.ts';

/** Values for the placeholders, as a user would fill them in. */
const FILLED: Readonly<Record<string, string>> = {
  n: '3',
  sheet: 'sheet.csv',
  rule: '0_2_*_*_*',
  file: 'rows.jsonl',
};

/** Every command in a text, as words; "a runsheet worker" is none. */
export function commandsIn(text: string): readonly (readonly string[])[] {
  const filled = text.replaceAll(/<(\w+)>/g, (_, name: string) => FILLED[name] ?? 'x');
  return [...filled.matchAll(/(?<!\ba )\brunsheet ((?:(?![;:)]| \(|\.(?:\s|$)|,\s| &&| or ).)+)/g)].map(
    ([, words = '']) => words.trim().split(/\s+/),
  );
}

type MarkdownNode = Command<CommandContext> | ReturnType<typeof buildRouteMap>;

/** The real commands, without their work. */
function idle(target: MarkdownNode): MarkdownNode {
  if (!('getAllEntries' in target)) return { ...target, loader: async () => async () => undefined };
  const routes = Object.fromEntries(
    target.getAllEntries().map(({ name, target: inner }) => [name.original, idle(inner as MarkdownNode)]),
  ) as RouteMapBuilderArguments<string, CommandContext>['routes'];
  // The root has commands of these names too.
  const usual = 'run' in routes ? undefined : ['list', 'start'].find((name) => name in routes);
  const defaultCommand = usual === undefined ? {} : { defaultCommand: usual };
  return buildRouteMap({ routes, docs: { brief: '' }, ...defaultCommand });
}

const parser = buildApplication(idle(application.root as MarkdownNode) as never, {
  name: 'runsheet',
  scanner: { caseStyle: 'allow-kebab-for-camel' },
  localization: { text: PARSER_TEXT },
});

/** Why a command is refused; undefined: it is not. A part of a command may lack what it needs. */
export async function refusal(words: readonly string[], isPart = false): Promise<string | undefined> {
  const stream = { write: () => true };
  const process = { stdout: stream, stderr: stream, env: {}, exitCode: 0 };
  try {
    await run(parser, words, { process });
    return process.exitCode === 0 ? undefined : `exit code ${process.exitCode}`;
  } catch (error) {
    if (isPart && (error instanceof UnsatisfiedFlagError || error instanceof UnsatisfiedPositionalError))
      return undefined;
    return (error as Error).message;
  }
}
