// Restarts a batch that Temporal lost, or that no longer responds, from its parts and the service's run list (R20).

import { shownBatch } from '../../batch/shown/shown-batch.ts';
import { assertQuiet, endQuiet, readBackToStart } from '../../audit/read-back.ts';
import { rebuild, type Rebuilt } from '../../audit/rebuild.ts';
import { placeReused } from '../../create-batch/reuse/reuse-rows.ts';
import { problem } from '../../errors/error.ts';
import type { Config } from '../../host/config.ts';
import { summarizedPass } from '../../results/summary.ts';
import { openServices } from '../../run-service/open-services.ts';
import { openTransport } from '../../run-service/transport.ts';
import { replaceStarted } from '../../store/batch-file.ts';
import { createContinued, createPass, newestPass } from '../../store/passes.ts';
import { refOf, type FoundBatch } from '../handle/found-batch.ts';
import type { Session } from '../session.ts';

/** How many rows are done, have a run, and will be sent again; and whether a user's pause or cancel stays in force. */
export type RebuiltRows = Omit<Rebuilt, 'snapshot'>;

/** Throws E511 for a batch that cannot be rebuilt, or was not quiet for long enough. */
export async function rebuildBatch(
  config: Config,
  session: Session,
  found: FoundBatch,
): Promise<RebuiltRows> {
  const { batch, file, store } = found;
  const ref = refOf(found);
  await placeReused(found);
  const now = Date.now();
  const pass = (await newestPass(store)) + 1;
  // Throws what is missing before the workflow is terminated.
  const rebuilt = await rebuild({
    store,
    file,
    service: openServices(config, openTransport(4)).at(file.service),
    back: await readBackToStart(store, now),
    pass,
    now,
  });
  const isRunning = await session.batches.isRunning(ref);
  if (isRunning) {
    // A running workflow may have sent requests until now, so the quiet period starts again.
    await endQuiet(store);
    await session.batches.terminate(ref);
  }
  await assertQuiet(found, isRunning ? Date.now() : now);
  const ended = await summarizedPass(store);
  // From now on its last results are no state to continue from.
  if (ended !== undefined)
    await createContinued(store, ended, { workflowId: 'rebuilt', runId: String(pass) });
  const isOurs = await createPass(store, pass, {
    at: new Date().toISOString(),
    kind: 'recover',
    segments: [],
  });
  if (!isOurs) throw problem('E511', { batch, reason: 'another command is rebuilding it' });
  await session.batches.start(ref, { snapshot: rebuilt.snapshot }, shownBatch(file), file.workerTag);
  // From now on workers accept tasks of this execution only.
  await replaceStarted(store, () => session.batches.firstRun(ref));
  await endQuiet(store);
  const { snapshot: _, ...rows } = rebuilt;
  return rows;
}
