// Starts a shim in a session of its own, which no signal to the service reaches.

import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { Program } from '../target.ts';

type ShimPlace = {
  /** The number of the GPU, as CUDA counts. */
  readonly gpu: string;
  readonly secret: (name: string) => string | undefined;
};

/** The environment of a program, without what only its try knows. */
export const environmentOf = (
  { command, folder, environment, secrets }: Program,
  { gpu, secret }: ShimPlace,
): Readonly<Record<string, string>> => ({
  ...environment,
  ...Object.fromEntries(secrets.map((name) => [name, secret(name) ?? ''])),
  CUDA_VISIBLE_DEVICES: gpu,
  RUNSHEET_COMMAND: command,
  RUNSHEET_FOLDER: folder,
  RUNSHEET_GPU: gpu,
});

type ShimStart = {
  readonly script: string;
  /** The only argument of the shim, and its working directory. */
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  readonly exited: () => void;
};

/** Resolves once the shim runs. `hasInput`: returns a pipe to its standard input. */
export async function spawnShim(
  { script, path, env, exited }: ShimStart,
  hasInput = false,
): Promise<Writable | undefined> {
  const shim = spawn('/bin/sh', ['-c', script, 'runsheet', path], {
    cwd: path,
    detached: true,
    stdio: [hasInput ? 'pipe' : 'ignore', 'ignore', 'ignore'],
    env,
  });
  const spawned = Promise.withResolvers<void>();
  shim.once('spawn', () => spawned.resolve());
  shim.once('error', (error) => {
    exited();
    spawned.reject(error);
  });
  shim.once('exit', exited);
  shim.unref();
  // A program that has ended reads no more, which its exit tells.
  shim.stdin?.on('error', () => undefined);
  await spawned.promise;
  return shim.stdin ?? undefined;
}
