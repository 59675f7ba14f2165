// Starts the worker and the local run service as children of the stack: the same program as the user's command, with
// other arguments. They communicate over Node's IPC channel, and exit when it breaks.
//
//   spawned ──loads──▶ waits ──begin: its port and its environment──▶ starts ──ready──▶ up ──work──▶ works (a worker) ──stop──▶ gone

import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { problem } from '../../errors/error.ts';
import { environmentFor } from '../../host/child-environment.ts';
import type { Config } from '../../host/settings/config.ts';

export type ChildNews =
  | {
      readonly type: 'ready';
      readonly url: string | undefined;
      readonly port: number;
      /** The address of the dashboard, with the secret that opens it. */
      readonly page?: string;
    }
  | { readonly type: 'onWire'; readonly count: number };

/** The message that asks a child to finish its work and exit. */
export const STOP = 'stop';

/** The message after which a worker takes tasks. */
export const WORK = 'work';

/** Facts that a child learns only once its stack is the one that runs. */
export type Begin = { readonly port: number; readonly environment: Readonly<Record<string, string>> };

export type StackChild = {
  readonly child: ChildProcess;
  readonly url: string | undefined;
  readonly port: number;
  readonly page: string | undefined;
};

type Program = {
  readonly name: 'worker' | 'service';
  readonly home: string;
  readonly args: readonly string[];
  /** Variables besides those of {@link Begin}. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

type StartParams = Begin & {
  readonly program: Program;
  readonly child: ChildProcess;
  readonly onWire?: (count: number) => void;
};

/** The program's entry file, found from wherever this file was compiled to. */
export function programFile(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'bin', 'runsheet.mjs'))) folder = dirname(folder);
  return join(folder, 'bin', 'runsheet.mjs');
}

/** Set at the start of the process, because the first heap would otherwise grow its young part to 110 MB instead of 20. */
const YOUNG_HEAP = '--max-semi-space-size=8';

const logOf = ({ home, name }: Program): string => join(home, 'logs', `${name}.log`);

/** Spawns a child that loads its code and waits for {@link startChild}. */
export function spawnChild(program: Program): ChildProcess {
  const log = openSync(logOf(program), 'a', 0o600);
  const words = [YOUNG_HEAP, programFile(), program.name, '--embedded', ...program.args];
  const child = spawn(process.execPath, words, {
    stdio: ['ignore', log, log, 'ipc'],
    env: { ...program.environment },
  });
  // `startChild` notices that the child has no pid.
  child.on('error', () => undefined);
  return child;
}

export const workerOf = ({ home, environment }: Pick<Config, 'home' | 'environment'>) =>
  ({ name: 'worker', home, args: [], environment: environmentFor('worker', environment) }) as const;

export const spawnWorker = (config: Pick<Config, 'home' | 'environment'>): ChildProcess =>
  spawnChild(workerOf(config));

/** Resolves when the child reports that it is ready. Throws E406 if it exits first. */
export async function startChild({
  program,
  child,
  onWire,
  port,
  environment,
}: StartParams): Promise<StackChild> {
  return new Promise((done, failed) => {
    child.on('message', (message: ChildNews) => {
      if (message.type === 'ready') done({ child, url: message.url, port: message.port, page: message.page });
      else onWire?.(message.count);
    });
    const exited = (): void => {
      const what = `the ${program.name} exited (${child.exitCode ?? child.signalCode})`;
      failed(problem('E406', { what, log: logOf(program) }));
    };
    // A prepared child may have exited already.
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) exited();
    child.once('exit', exited);
    const begin: Begin = { port, environment };
    child.send(begin, (error) => error && failed(error));
  });
}

/** A child inherits the umask that its parent has when it starts. */
export function underUmask<T>(umask: number, start: () => T): T {
  const before = process.umask(umask);
  try {
    return start();
  } finally {
    process.umask(before);
  }
}
