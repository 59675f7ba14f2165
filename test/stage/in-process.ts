// Runs a command in the process of the test: what it costs to start a Node and load the program is several times what most
// commands do.

import { EventEmitter } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { execute } from '../../src/cli/main.ts';
import type { Context } from '../../src/cli/context.ts';

export type Said = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** `typed`: what a user types at a terminal; without it, neither stdin nor the outputs are one. */
export async function runInProcess(args: readonly string[], typed?: string): Promise<Said> {
  const said = { stdout: '', stderr: '' };
  const isTTY = typed !== undefined;
  const stream = (name: 'stdout' | 'stderr') =>
    Object.assign(
      new Writable({
        write: (chunk: Buffer, _, done) => {
          said[name] += chunk.toString();
          done();
        },
      }),
      { isTTY },
    );
  const process = Object.assign(new EventEmitter(), {
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    stdin: Object.assign(Readable.from([typed ?? '']), { isTTY }),
    env: {},
    argv: ['node', 'runsheet', ...args],
    exitCode: undefined,
  });
  const code = await execute(args, { process } as unknown as Context);
  return { code, ...said };
}
