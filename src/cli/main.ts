// The command line: reads the words, runs one command, maps every ending to an exit code.

import { run, type StricliProcess } from '@stricli/core';
import { application } from './commands.ts';
import { EXIT } from '../errors.ts';

export async function main(words: readonly string[]): Promise<void> {
  // A reader that closes early (`| head`) is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.ok);
    throw error;
  });
  await run(application, words.length === 0 ? ['--help'] : words, {
    process: process as StricliProcess & NodeJS.Process,
  });
  // The parser's own endings are negative: whatever it refuses is a matter of usage.
  const code = Number(process.exitCode ?? EXIT.ok);
  await Promise.all([process.stdout, process.stderr].map(flushed));
  // Whatever still holds on to a socket has nothing more to say.
  process.exit(code < 0 ? EXIT.usage : code);
}

const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((done) => stream.write('', () => done()));
