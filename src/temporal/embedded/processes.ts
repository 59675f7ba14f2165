// Starts the worker and the local run service as children of the stack: the same program as the user's command, with other
// arguments. They communicate over Node's IPC channel, and exit when it breaks.

import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { problem, EXIT } from '../../errors/error.ts';

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

export type StackChild = {
  readonly child: ChildProcess;
  readonly url: string | undefined;
  readonly port: number;
  readonly page: string | undefined;
};

export type ChildParams = {
  readonly name: 'worker' | 'service';
  readonly home: string;
  readonly args: readonly string[];
  /** The complete environment of the child. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly onWire?: (count: number) => void;
  /** undefined: the umask of the stack. */
  readonly umask?: number;
};

/** The program's entry file, found from wherever this file was compiled to. */
export function programFile(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'bin', 'runsheet.mjs'))) folder = dirname(folder);
  return join(folder, 'bin', 'runsheet.mjs');
}

/** Set later than at the start of a process, it comes after the first heap: its young part grows to 110 MB instead of 20. */
const YOUNG_HEAP = '--max-semi-space-size=8';

/** Resolves when the child reports that it is ready. Throws E406 if it exits first. */
export async function startChild(params: ChildParams): Promise<StackChild> {
  const logFile = join(params.home, 'logs', `${params.name}.log`);
  const log = openSync(logFile, 'a');
  const child = underUmask(params.umask, () =>
    spawn(process.execPath, [YOUNG_HEAP, programFile(), ...params.args], {
      stdio: ['ignore', log, log, 'ipc'],
      env: { ...params.environment },
    }),
  );
  return new Promise((done, failed) => {
    child.on('message', (message: ChildNews) => {
      if (message.type === 'ready') done({ child, url: message.url, port: message.port, page: message.page });
      else params.onWire?.(message.count);
    });
    child.once('exit', (code, signal) => {
      failed(problem('E406', { what: `the ${params.name} exited (${code ?? signal})`, log: logFile }));
    });
    child.once('error', failed);
  });
}

/** A child inherits the umask that its parent has when it starts. */
function underUmask<T>(umask: number | undefined, start: () => T): T {
  if (umask === undefined) return start();
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
export function endWithStack(): void {
  const end = (): void => process.exit(EXIT.ok);
  process.once('disconnect', end);
  void started.then(() => process.off('disconnect', end));
}

const { promise: started, resolve: hasStarted } = Promise.withResolvers<void>();

/** Resolves when the stack asks this child to end, closes the channel, or is killed. */
export function untilStackIsGone(): Promise<void> {
  hasStarted();
  // The stack ends its children in order; a signal to the whole process group would end the worker too early.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  return new Promise((done) => {
    if (!process.connected) done();
    process.once('disconnect', () => done());
    process.on('message', (word) => word === STOP && done());
  });
}
