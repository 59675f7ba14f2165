// Sends one group of attempts.

import type { Command } from '../src/batch/commands.ts';
import type { Event } from '../src/batch/events.ts';
import type { BatchRuntime, Scope } from './batch-runtime.ts';
import { isLong } from './continue-batch.ts';
import { resultOfFailed } from './failed-group.ts';

/** The groups in flight; cancelling a scope asks the group's worker to start no further POST. */
export type GroupScopes = Map<number, Scope>;

export async function sendGroup(
  runtime: BatchRuntime,
  groups: GroupScopes,
  { group, attempts, mayWait }: Extract<Command, { type: 'send' }>,
  summary: string | undefined,
): Promise<Event> {
  const scope = runtime.openScope();
  groups.set(group, scope);
  try {
    // A workflow run with a long history needs a moment without a group (R17).
    const waits = mayWait && !isLong(runtime) ? { mayWait } : {};
    const result = await scope.run(async () => runtime.activities.queueRuns({ attempts, ...waits }, summary));
    return { type: 'groupEnded', group, ...result, rest: 'unconfirmed' };
  } catch (error) {
    return { type: 'groupEnded', group, ...resultOfFailed(error) };
  } finally {
    groups.delete(group);
  }
}
