// Asks the service to cancel runs. A run that it will not cancel goes on, and its end comes like any other.

import type { Seen } from '../src/batch/messages.ts';
import { atOnce } from './at-once.ts';
import type { BatchPlace, Hands } from './hands.ts';

const AT_ONCE = 16;

export async function cancelRuns(
  hands: Hands,
  order: BatchPlace & { readonly runs: readonly Seen[] },
): Promise<void> {
  const { service } = await hands.open(order);
  const refused = await atOnce(order.runs, AT_ONCE, async (run) => {
    return (await service.cancelRun(run.runId)) ? [] : [run];
  });
  if (refused.flat().length > 0) {
    hands.log.warn({ batch: order.batch, runs: refused.flat() }, 'the service would not cancel runs');
  }
}
