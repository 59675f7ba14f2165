// Signals a batch's reports to its pool. Both are workflows of one namespace, so no worker stands between them.

import type { Command } from '../src/batch/commands.ts';
import type { Event } from '../src/batch/events.ts';
import type { BatchRuntime } from './batch-runtime.ts';

/** The batch ends when its last report has arrived, or cannot arrive. */
export type Told = { last: Promise<unknown>; inFlight: number };

export async function report(
  runtime: BatchRuntime,
  told: Told,
  { pool, usage }: Extract<Command, { type: 'reportUsage' }>,
): Promise<Event | undefined> {
  const sending = runtime
    .nonCancellable(async () => runtime.signalPool(pool, usage))
    .then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
  told.last = Promise.all([told.last, sending]);
  told.inFlight += 1;
  const failure = await sending;
  told.inFlight -= 1;
  if (usage.left) return undefined;
  return { type: 'usageReported', ...(failure === undefined ? {} : { failure }) };
}
