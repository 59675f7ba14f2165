// Tells a batch of a pass whose file exists. A command that is killed before this loses nothing: the next one that starts or
// attaches to the batch tells it.

import { isRunsheetError } from '../../errors/error.ts';
import { summarizedPass } from '../../results/summary.ts';
import type { CommandOptions } from '../../temporal/batch-control.ts';
import { refOf, type FoundBatch } from '../handle/found-batch.ts';
import type { Session } from '../session.ts';
import { startOrAttach } from './start-or-attach.ts';

/** Returns when the batch has the pass; starts it if it has ended. Without a pass it is only started, or attached to. */
export async function signalPass(
  session: Session,
  found: FoundBatch,
  pass: number | undefined,
  options: CommandOptions = {},
): Promise<void> {
  if (pass === undefined) return void (await startOrAttach(session, found));
  const ref = refOf(found);
  for (;;) {
    if (await session.batches.isRunning(ref)) {
      try {
        await session.batches.retry(ref, pass, options);
        return;
      } catch (error) {
        // The batch ended before the signal arrived.
        if (!isRunsheetError(error, 'E513')) throw error;
      }
    }
    // Another command may have brought the pass to its end meanwhile.
    const how = await startOrAttach(session, found);
    if (how === 'started' || ((await summarizedPass(found.store)) ?? 0) >= pass) return;
  }
}
