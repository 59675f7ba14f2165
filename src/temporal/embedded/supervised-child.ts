// Supervises a child process: restarts it when it exits unexpectedly, with exponential backoff.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

export type Supervised<T extends { readonly child: ChildProcess }> = {
  /** The child that runs now. */
  readonly current: () => T;
  /** Asks the child to exit and waits; kills it if it does not exit in time. */
  stop(ask: (current: T) => void, withinMs: number): Promise<void>;
};

export type SuperviseParams<T> = {
  readonly start: () => Promise<T>;
  /** Called after each restart. */
  readonly onRestart: (current: T) => void;
  readonly onTrouble: (error: unknown) => void;
};

const PAUSE_MS = 200;
const PAUSE_MAX_MS = 10_000;
/** After this uptime the backoff starts from the beginning. */
const HEALTHY_MS = 30_000;

/** Rejects if the first start fails. */
export async function supervise<T extends { readonly child: ChildProcess }>(
  params: SuperviseParams<T>,
): Promise<Supervised<T>> {
  let current = await params.start();
  let isStopping = false;
  let starting: Promise<unknown> = Promise.resolve();

  const watch = async (): Promise<void> => {
    for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(PAUSE_MAX_MS, pauseMs * 2)) {
      const since = Date.now();
      await ended(current.child);
      if (Date.now() - since > HEALTHY_MS) pauseMs = PAUSE_MS;
      if (isStopping) return;
      await wait(pauseMs);
      if (isStopping) return;
      try {
        const started = params.start();
        starting = started.catch(() => undefined);
        current = await started;
        params.onRestart(current);
      } catch (error) {
        params.onTrouble(error);
      }
    }
  };
  void watch();

  return {
    current: () => current,
    stop: async (ask, withinMs) => {
      isStopping = true;
      // A child that is just being started must exit as well.
      await Promise.race([starting, wait(withinMs, undefined, { ref: false })]);
      if (hasEnded(current.child)) return;
      ask(current);
      const timer = setTimeout(() => current.child.kill('SIGKILL'), withinMs);
      await ended(current.child);
      clearTimeout(timer);
    },
  };
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

async function ended(child: ChildProcess): Promise<void> {
  if (!hasEnded(child)) await once(child, 'exit');
}
