// Proposes what may follow while a command is typed, one proposal a line: the word, a tab and what it is.

import { proposeCompletions, type buildRouteMap, type StricliProcess } from '@stricli/core';
import { EXIT } from '../../errors/error.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import { application } from '../command-list.ts';
import { printerFor, type Context } from '../context.ts';

type RouteMap = ReturnType<typeof buildRouteMap>;

/** Prints what may follow these words; the last one is the beginning of a word, or empty. */
export async function complete(
  words: readonly string[],
  { process }: Pick<Context, 'process'>,
): Promise<number> {
  const context = { process: process as StricliProcess & NodeJS.Process };
  try {
    const { root } = application;
    const candidates = [
      ...subcommands(root, words),
      ...(await proposeCompletions(application, words, context)),
    ];
    const isFlag = words.at(-1)?.startsWith('-') ?? false;
    // Flags would bury the arguments, so they appear once a hyphen is typed.
    for (const { completion: word, brief } of candidates.filter(
      ({ completion: text }) => isFlag || !text.startsWith('-'),
    ))
      printerFor(context).data(`${word}\t${terminalLine(brief)}`);
  } catch {
    // The shell cannot show an error while a word is being typed.
  }
  return EXIT.ok;
}

/** The parser completes only the default command of a group, so its subcommands are added here. */
function subcommands(root: object, words: readonly string[]) {
  const [name = '', partial = ''] = words;
  const target =
    'getRoutingTargetForInput' in root ? (root as RouteMap).getRoutingTargetForInput(name) : undefined;
  if (words.length !== 2 || target === undefined || !('getAllEntries' in target)) return [];
  return target
    .getAllEntries()
    .map((entry) => ({ completion: entry.name['convert-camel-to-kebab'], brief: entry.target.brief }))
    .filter(({ completion: word }) => word.startsWith(partial));
}
