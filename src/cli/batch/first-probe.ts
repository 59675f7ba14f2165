// Waits for what a batch finds first after it was resumed: the service may still refuse the key that the batch was paused for.

import { setTimeout as wait } from 'node:timers/promises';
import type { Progress } from '../../batch/shown/progress.ts';
import { problem } from '../../errors/error.ts';
import { pauseHint } from '../../batch/pausing/pause-kinds.ts';
import type { FoundBatch } from '../../library/handle/found-batch.ts';
import { shownProgress } from '../../library/handle/shown-progress.ts';

/** A POST that is refused is answered within milliseconds; one that takes longer says nothing yet. */
const WITHIN_MS = 5_000;
const EVERY_MS = 100;

/** The latest progress that `read` returns, as soon as the service has answered or the batch is paused again. */
export async function firstProbe(
  read: () => Promise<Progress | undefined>,
  resumed: Progress,
  withinMs = WITHIN_MS,
): Promise<Progress> {
  let latest = resumed;
  const until = performance.now() + withinMs;
  while (!isDecided(latest, resumed) && performance.now() < until) {
    await wait(EVERY_MS);
    // A server that is away now was there when it took the command.
    latest = (await read().catch(() => undefined)) ?? latest;
  }
  return latest;
}

/** Whether the batch is paused again, has got an answer to a POST, or has none to send. */
function isDecided(
  { state, ledger, unsent, retrying, sending }: Progress,
  { ledger: before }: Progress,
): boolean {
  const isAnswered = ledger.accepted + ledger.rejected > before.accepted + before.rejected;
  return state !== 'running' || isAnswered || unsent + retrying + sending === 0;
}

/** Throws E501 with the reason and the command that helps if the batch is paused. */
export async function refusePaused(found: FoundBatch, latest: Progress): Promise<void> {
  if (latest.state !== 'paused') return;
  const { reason = '', pauses, maxCostNano } = await shownProgress(found, latest);
  const hint = pauseHint(found.batch, pauses[0]?.kind, false, maxCostNano);
  throw problem('E501', { batch: found.batch, reason, hint });
}
