// Starts the worker and the local run service as children of the stack: the same program as the user's command, with other
// arguments. They communicate over Node's IPC channel, and exit when it breaks.
//
//   spawned ──loads──▶ waits ──begin: its port and its environment──▶ starts ──ready──▶ up ──work──▶ works (a worker) ──stop──▶ gone

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { problem, EXIT } from '../../errors/error.ts';
import { environmentFor } from '../../host/child-environment.ts';
import type { Config } from '../../host/config.ts';

export type ChildNews =
  | {
      readonly type: 'ready';
      readonly url: string | undefined;
      readonly port: number;
      /** The address of its dashboard, with the secret that opens it. */
      readonly page?: string;
    }
  | { readonly type: 'onWire'; readonly count: number };

/** The message that asks a child to finish its work and exit. */
export const STOP = 'stop';

/** The message after which a worker takes tasks. */
export const WORK = 'work';

/** What a child learns only once its stack is the one that runs. */
type Begin = { readonly port: number; readonly environment: Readonly<Record<string, string>> };

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
  /** Besides that of {@link Begin}. */
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

/** Set later than at the start of a process, it comes after the first heap: its young part grows to 110 MB instead of 20. */
const YOUNG_HEAP = '--max-semi-space-size=8';

const logOf = ({ home, name }: Program): string => join(home, 'logs', `${name}.log`);

/** It loads its code and waits for {@link startChild}. */
export function spawnChild(program: Program): ChildProcess {
  const log = openSync(logOf(program), 'a', 0o600);
  const words = [YOUNG_HEAP, programFile(), program.name, '--embedded', ...program.args];
  const child = spawn(process.execPath, words, {
    stdio: ['ignore', log, log, 'ipc'],
    env: { ...program.environment },
  });
  // `startChild` sees that it has no pid.
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
    // One that was prepared may have exited before.
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

// The child's end of the channel between the embedded stack and its child processes.

export function tellStack(news: ChildNews): void {
  if (process.connected) process.send?.(news);
}

/** A child that is still starting has no work in progress, so the loss of the stack ends it immediately. */
export async function begun(): Promise<Begin> {
  const end = (): void => process.exit(EXIT.ok);
  if (!process.connected) end();
  process.once('disconnect', end);
  void started.then(() => process.off('disconnect', end));
  const [begin] = (await once(process, 'message')) as [Begin];
  return begin;
}

const { promise: started, resolve: hasStarted } = Promise.withResolvers<void>();

/** Resolves when the stack asks this child to end, or closes the channel: `lost` without having asked, because it was killed. */
export function untilStackIsGone(): Promise<'asked' | 'lost'> {
  hasStarted();
  // The stack ends its children in order; a signal to the whole process group would end the worker too early.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  return new Promise((done) => {
    if (!process.connected) done('lost');
    process.once('disconnect', () => done('lost'));
    process.on('message', (word) => word === STOP && done('asked'));
  });
}

/** Resolves when the stack wants batches to go on; not if it ends before. */
export async function mayWork(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  process.on('message', (word) => word === WORK && resolve());
  return promise;
}

/** How long a child whose stack was killed finishes its work; Temporal lives a little longer. */
export const ORPHAN_DRAIN_MS = 5_000;
