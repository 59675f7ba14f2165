// Counts and names the worker processes that work on a batch. Each creates one file in the batch folder, so the count
// adds nothing to the history and survives the loss of Temporal's state.

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { jsonIn } from '../errors/outside-text.ts';
import { holderSchema, type Holder } from './holder.ts';
import { countContinued } from './passes.ts';
import type { Store } from './store.ts';

const WORKERS = 'workers';

const noteSchema = z.object({
  at: z.iso.datetime(),
  /** The worker; absent in notes of earlier versions. */
  holder: holderSchema.exactOptional(),
});

export type WorkerNote = z.infer<typeof noteSchema>;

/** Records once for each batch that this process works on it. Never throws. */
export function openWorkerNotes(holder: Holder): (store: Store) => Promise<void> {
  // With embedded servers, one worker works at a time: the servers restart it when it dies.
  const name = `${WORKERS}/${holder.kind}-${randomUUID()}.json`;
  const noted = new WeakMap<Store, Promise<void>>();
  const note = async (store: Store): Promise<void> => {
    try {
      await store.create(name, `${JSON.stringify({ at: new Date().toISOString(), holder })}\n`);
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
 * `workers`: the processes that worked on the batch. `restarts`: how many times its only worker was restarted; absent
 * if several workers could work at the same time, because a new worker may then be an additional one. Never too high.
 */
export type WorkerCount = { readonly workers: number; readonly restarts?: number };

/** undefined for a batch of a version that did not count workers. */
export async function countWorkers(store: Store): Promise<WorkerCount | undefined> {
  const names = await store.list(WORKERS);
  const workers = names.length;
  if (workers === 0) return undefined;
  const isOneAtATime = names.every((name) => name.startsWith('embedded-'));
  if (!isOneAtATime) return { workers };
  // A command that sends rows of an ended batch again brings its own worker.
  return { workers, restarts: Math.max(0, workers - 1 - (await countContinued(store))) };
}

/** The workers of a batch, newest first; unreadable notes are left out. */
export async function readWorkerNotes(store: Store): Promise<readonly WorkerNote[]> {
  const names = await store.list(WORKERS);
  const notes = await Promise.all(
    names.map(
      async (name) => noteSchema.safeParse(jsonIn((await store.read(`${WORKERS}/${name}`)) ?? '')).data,
    ),
  );
  return notes.filter((note) => note !== undefined).sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
}
