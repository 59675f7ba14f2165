// The other end of the channel between the embedded stack and its children.

import { EXIT } from '../errors/error.ts';
import { STOP, type ChildNews } from '../temporal/embedded/processes.ts';

export function tellStack(news: ChildNews): void {
  if (process.connected) process.send?.(news);
}

/** While this child is still starting, the loss of the stack ends it on the spot: nothing is under way yet. */
export function endWithStack(): void {
  const end = (): void => process.exit(EXIT.ok);
  process.once('disconnect', end);
  void started.then(() => process.off('disconnect', end));
}

const { promise: started, resolve: hasStarted } = Promise.withResolvers<void>();

/** Resolves when the stack asks this child to end, lets go of the channel, or was killed. */
export function untilStackIsGone(): Promise<void> {
  hasStarted();
  // The stack decides when its children end; a signal to the whole group would be too early for the worker.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  return new Promise((done) => {
    if (!process.connected) done();
    process.once('disconnect', () => done());
    process.on('message', (word) => word === STOP && done());
  });
}
