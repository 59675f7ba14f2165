// The child's end of the channel between the embedded stack and its child processes.

import { EXIT } from '../../errors/error.ts';
import { STOP, type ChildNews } from '../../temporal/embedded/processes.ts';

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
