// The child's end of the channel between the embedded stack and its child processes.

import { once } from 'node:events';
import { EXIT } from '../../errors/error.ts';
import { type Begin, type ChildNews, STOP, WORK } from './processes.ts';

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

/** Resolves when the stack wants batches to run; not if it ends before. */
export async function awaitWork(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  process.on('message', (word) => word === WORK && resolve());
  return promise;
}

/** How long a child whose stack was killed finishes its work; Temporal lives a little longer. */
export const ORPHAN_DRAIN_MS = 5_000;
