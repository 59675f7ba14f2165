// Counts the worker processes that work on a batch. Each creates one file in the batch folder, so the count costs no history
// and survives the loss of Temporal's state.

import { randomUUID } from 'node:crypto';
import { countContinued } from './passes.ts';
import type { Store } from './store.ts';

const WORKERS = 'workers';

/** `embedded`: one worker at a time, which the embedded servers start again when it dies. */
export type WorkerKind = 'embedded' | 'cluster';

/** Notes once for each batch that this process works on it. Never throws. */
export function openWorkerNotes(kind: WorkerKind): (store: Store) => Promise<void> {
  const name = `${WORKERS}/${kind}-${randomUUID()}.json`;
  const noted = new WeakMap<Store, Promise<void>>();
  const note = async (store: Store): Promise<void> => {
    try {
      await store.create(name, `${JSON.stringify({ at: new Date().toISOString() })}\n`);
    } catch {
      // The activity itself reports a folder that takes no writes; the next activity tries again.
      noted.delete(store);
    }
  };
  return (store) => {
    const before = noted.get(store);
    if (before !== undefined) return before;
    const now = note(store);
    noted.set(store, now);
    return now;
  };
}

/**
 * `workers`: the processes that worked on the batch. `restarts`: how often its only worker was started again; absent if
 * several workers could work at the same time, because a new worker may then be one that was added. Never too high.
 */
export type WorkerCount = { readonly workers: number; readonly restarts?: number };

/** undefined for a batch of a version that did not count them. */
export async function countWorkers(store: Store): Promise<WorkerCount | undefined> {
  const names = await store.list(WORKERS);
  const workers = names.length;
  if (workers === 0) return undefined;
  const isOneAtATime = names.every((name) => name.startsWith('embedded-'));
  if (!isOneAtATime) return { workers };
  // A command that sends rows of an ended batch again brings its own worker.
  return { workers, restarts: Math.max(0, workers - 1 - (await countContinued(store))) };
}
