// A child process that is started again when it ends by itself, the later the oftener it did.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

export type Kept<T extends { readonly child: ChildProcess }> = {
  /** The one that lives now. */
  readonly current: () => T;
  /** Asks it to end and waits; kills it when it does not end in time. */
  stop(ask: (current: T) => void, withinMs: number): Promise<void>;
};

export type Keeping<T> = {
  readonly start: () => Promise<T>;
  /** Told whenever it had ended and lives again. */
  readonly onRestart: (current: T) => void;
  readonly onTrouble: (error: unknown) => void;
};

const PAUSE_MS = 200;
const PAUSE_MAX_MS = 10_000;
/** What lived this long before it ended has its past forgiven. */
const HEALTHY_MS = 30_000;

/** Rejects where the first start fails. */
export async function keepAlive<T extends { readonly child: ChildProcess }>(
  keeping: Keeping<T>,
): Promise<Kept<T>> {
  let current = await keeping.start();
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
        const started = keeping.start();
        starting = started.catch(() => undefined);
        current = await started;
        keeping.onRestart(current);
      } catch (error) {
        keeping.onTrouble(error);
      }
    }
  };
  void watch();

  return {
    current: () => current,
    stop: async (ask, withinMs) => {
      isStopping = true;
      // What is being started at this moment must end as well.
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
