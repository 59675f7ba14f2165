// Parses the command line, runs one command and maps every result to an exit code.

import { run, type StricliProcess } from '@stricli/core';
import { EXIT } from '../errors/error.ts';
import { printAndExit } from './command.ts';
import { application } from './command-list.ts';
import type { Output } from './context.ts';
import { parserFault } from './parser-faults.ts';

export async function main(args: readonly string[]): Promise<void> {
  // A reader that closes early (`| head`) is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.ok);
    throw error;
  });
  const context = { process: process as StricliProcess & NodeJS.Process };
  try {
    await run(application, args.length === 0 ? ['--help'] : args, context);
  } catch (error) {
    await printAndExit(context, parserFault(error, args), outputIn(args));
  }
  // The parser's own exit codes are negative; all of them mean wrong usage.
  const code = Number(process.exitCode ?? EXIT.ok);
  await Promise.all([process.stdout, process.stderr].map(flushed));
  // Open sockets would keep the process alive, and no work is left.
  process.exit(code < 0 ? EXIT.usage : code);
}

/** When the parser refuses the arguments, there are no parsed flags, but -o json must still apply. */
function outputIn(args: readonly string[]): Output | undefined {
  const given = args.map((word, at) =>
    ['-o', '--output'].includes(word) ? args[at + 1] : /^(?:-o|--output)=(.*)$/.exec(word)?.[1],
  );
  return given.find((word) => word === 'json' || word === 'jsonl');
}

const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((done) => stream.write('', () => done()));
