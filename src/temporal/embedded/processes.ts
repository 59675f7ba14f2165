// The stack's own children: the same program as the user's command, told apart by its arguments. They talk over Node's
// channel, and end by themselves when it breaks.

import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { problem } from '../../errors/error.ts';

/** What a child tells the stack. */
export type ChildNews =
  | {
      readonly type: 'ready';
      readonly url: string | undefined;
      readonly port: number;
      /** Its page for people, with the secret that opens it. */
      readonly page?: string;
    }
  | { readonly type: 'onWire'; readonly count: number };

/** What a child is told that shall end with its work done. */
export const STOP = 'stop';

export type StackChild = {
  readonly child: ChildProcess;
  readonly url: string | undefined;
  readonly port: number;
  readonly page: string | undefined;
};

export type ChildOrder = {
  readonly name: 'worker' | 'service';
  readonly home: string;
  readonly words: readonly string[];
  /** All that it sees. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly onWire?: (count: number) => void;
  /** Where it is not that of the stack. */
  readonly umask?: number;
};

/** The program's starting file, beside package.json wherever this file was compiled to. */
export function programFile(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'bin', 'runsheet.mjs'))) folder = dirname(folder);
  return join(folder, 'bin', 'runsheet.mjs');
}

const childLog = (home: string, name: ChildOrder['name']): string => join(home, 'logs', `${name}.log`);

/** Resolves when the child says that it is ready. Throws E406 when it ends first. */
export async function startChild(order: ChildOrder): Promise<StackChild> {
  const logFile = childLog(order.home, order.name);
  const log = openSync(logFile, 'a');
  const child = underUmask(order.umask, () =>
    spawn(process.execPath, [programFile(), ...order.words], {
      stdio: ['ignore', log, log, 'ipc'],
      env: { ...order.environment },
    }),
  );
  return new Promise((done, failed) => {
    child.on('message', (news: ChildNews) => {
      if (news.type === 'ready') done({ child, url: news.url, port: news.port, page: news.page });
      else order.onWire?.(news.count);
    });
    child.once('exit', (code, signal) => {
      failed(problem('E406', { what: `the ${order.name} ended (${code ?? signal})`, log: logFile }));
    });
    child.once('error', failed);
  });
}

/** A child begins with the umask that its parent has at that moment. */
function underUmask<T>(umask: number | undefined, begin: () => T): T {
  if (umask === undefined) return begin();
  const before = process.umask(umask);
  try {
    return begin();
  } finally {
    process.umask(before);
  }
}
