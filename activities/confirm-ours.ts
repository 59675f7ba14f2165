import { activityInfo } from '@temporalio/activity';
import type { Deps } from './deps.ts';

/**
 * Throws if Temporal no longer waits for this attempt. An abandoned attempt, for example on a frozen worker, knows less than the
 * current one: at the end of a batch its files would name fewer duplicates, and at its start an older workflow run.
 */
export async function confirmOurs({ completion }: Pick<Deps, 'completion'>): Promise<void> {
  await completion.heartbeat(activityInfo().taskToken, undefined);
}
