// Parses the command line, runs one command and prints what went wrong.

import { run, type StricliProcess } from '@stricli/core';
import { EXIT } from '../errors/error.ts';
import { keepSecret, secretsIn } from '../errors/redact.ts';
import { printAndExit } from './command.ts';
import { applicationOf } from './command-list.ts';
import { PROGRAM } from './program-name.ts';
import type { Context, Output } from './context.ts';
import { parserFault } from './flags/parser-faults.ts';

/** Resolves with the exit code. */
export async function execute(
  args: readonly string[],
  { process, program }: Pick<Context, 'process' | 'program'>,
): Promise<number> {
  if (args[0] === '__complete')
    return (await import('./completion/complete.ts')).complete(args.slice(1), { process });
  // Messages repeat the command, and they end up in the logs of others.
  for (const word of args) for (const secret of secretsIn(word)) keepSecret(secret);
  const words = plainWords(args);
  const context = { process: process as StricliProcess & NodeJS.Process, args, program };
  try {
    await run(applicationOf(program ?? PROGRAM), words, context);
  } catch (error) {
    await printAndExit(context, parserFault(error, args), outputIn(args));
  }
  // The parser's own exit codes are negative; all of them mean wrong usage.
  const code = Number(process.exitCode ?? EXIT.ok);
  return code < 0 ? EXIT.usage : code;
}

/** `help run` and `version` are what people type first. */
function plainWords(args: readonly string[]): readonly string[] {
  const [first, ...others] = args;
  if (first === undefined || first === 'help') return [...others, '--help'];
  return first === 'version' && others.length === 0 ? ['--version'] : args;
}

/** When the parser refuses the arguments, there are no parsed flags, but -o json must still apply. */
function outputIn(args: readonly string[]): Output | undefined {
  const given = args.map((word, at) =>
    ['-o', '--output'].includes(word) ? args[at + 1] : /^(?:-o|--output)=(.*)$/.exec(word)?.[1],
  );
  return given.find((word) => word === 'json' || word === 'jsonl');
}
