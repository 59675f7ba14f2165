// Runs the command of this process, and ends the process with its exit code.

import { EXIT } from '../errors/error.ts';
import { execute } from './execute.ts';
import { programName } from './program-name.ts';

export async function main(args: readonly string[]): Promise<void> {
  // A reader that closes early (`| head`) is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.ok);
    throw error;
  });
  const code = await execute(args, { process, program: programName(process.argv[1] ?? '', process.cwd()) });
  await Promise.all([process.stdout, process.stderr].map(flushed));
  // Open sockets would keep the process alive, and no work is left.
  process.exit(code);
}

const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((done) => stream.write('', () => done()));
