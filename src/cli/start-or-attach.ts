// Starting a batch, or finding it again (R20): the folder remembers longer than Temporal does.

import { dirname } from 'node:path';
import { isRunsheetError, problem, type RunsheetError } from '../errors/error.ts';
import { STARTED_FILE } from '../store/batch-file.ts';
import { readSummary, type Summary } from '../results/summary.ts';
import type { Known } from '../temporal/batch-client.ts';
import { refOf, type FoundBatch } from './batch-name.ts';
import type { Session } from './session.ts';

/** The summary of a batch that is done; undefined while it is not. */
export const summaryOfDone = (found: FoundBatch): Promise<Summary | undefined> => readSummary(found.store);

/**
 * Starts the batch unless it was started before, and lets a paused one go on. Throws E503 where Temporal does not know a batch
 * that was started, E507 and E508 where it knows it as one of another folder, or as ended.
 */
export async function startOrAttach(
  { batches }: Session,
  found: FoundBatch,
): Promise<'started' | 'attached'> {
  const { batch, folder, store } = found;
  const ref = refOf(found);
  const known = await batches.find(ref);
  // The workflow's first act is to create started.json in the folder; without it nothing was ever sent.
  if (known === undefined && (await store.exists(STARTED_FILE))) throw problem('E503', { batch, folder });
  if (known === undefined && (await batches.start(ref)) === 'started') return 'started';
  if (known !== undefined) await refuseOther(known, found);
  await resumeIfPaused(batches, found);
  return 'attached';
}

/** For commands that only read: they start nothing. */
export const notRunning = ({ batch }: FoundBatch): RunsheetError => problem('E516', { batch });

/** Whether Temporal knows the batch as one that goes on here. Throws E507 and E508 as {@link startOrAttach}. */
export async function isUnderWay({ batches }: Session, found: FoundBatch): Promise<boolean> {
  const known = await batches.find(refOf(found));
  if (known !== undefined) await refuseOther(known, found);
  return known !== undefined;
}

/** The workflow may belong to a copy of the folder, or have ended without this one. */
async function refuseOther({ folder, status }: Known, found: FoundBatch): Promise<void> {
  const { batch } = found;
  if (folder !== found.folder) throw problem('E507', { batch, folder: dirname(folder) });
  if (status !== 'RUNNING' && (await summaryOfDone(found)) === undefined)
    throw problem('E508', { batch, folder, status });
}

async function resumeIfPaused(batches: Session['batches'], found: FoundBatch): Promise<void> {
  const { progress } = await batches.status(refOf(found));
  if (progress?.state !== 'paused') return;
  await batches.resume(refOf(found)).catch((error: unknown) => {
    // Where no worker acknowledges it the command waits, and following the batch says so.
    if (!isRunsheetError(error, 'E512')) throw error;
  });
}
