// Runs the command of this process, and ends the process with its exit code.

import { EXIT } from '../errors/error.ts';
import { execute } from './execute.ts';
import { programName } from '../host/program-name.ts';

export async function main(args: readonly string[]): Promise<void> {
  let reported: Promise<void> | undefined;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that closes early (`| head`) is not an error.
    if (error.code === 'EPIPE') process.exit(EXIT.ok);
    reported ??= report(error);
  });
  // The command does its work and ends with its own code, also if its messages have no reader.
  process.stderr.on('error', () => undefined);
  const code = await execute(args, { process, program: programName() });
  await Promise.all([process.stdout, process.stderr].map(flushed));
  await reported;
  // Open sockets would keep the process alive, and no work is left.
  process.exit(reported === undefined ? code : process.exitCode);
}

/** The disk of the file to which the shell sends the output may be full. */
async function report(error: NodeJS.ErrnoException): Promise<void> {
  const { printAndExit } = await import('./command.ts');
  const { fileFault } = await import('../errors/file-fault.ts');
  await printAndExit({ process }, fileFault(error, { path: 'the output' }) ?? error, undefined);
  await flushed(process.stderr);
}

const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((done) => stream.write('', () => done()));
