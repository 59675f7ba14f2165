// Starting a batch, or finding it again (R20): the folder remembers longer than Temporal does.

import { dirname } from 'node:path';
import { problem, RunsheetError } from '../errors.ts';
import { STARTED_FILE } from '../store/batch-file.ts';
import { readSummary, type Summary } from '../results/summary.ts';
import type { Known } from '../temporal/batches.ts';
import type { FoundBatch } from './batch-name.ts';
import type { Session } from './session.ts';

/** The summary of a batch that is done; undefined while it is not. */
export const summaryOfDone = (found: FoundBatch): Promise<Summary | undefined> => readSummary(found.store);

/**
 * Starts the batch unless it was started before, and lets a paused one go on. Throws E503 where nobody knows it, E507 and
 * E508 where Temporal knows another one of that id.
 */
export async function begin({ batches }: Session, found: FoundBatch): Promise<'started' | 'attached'> {
  const { batch, folder, store } = found;
  const known = await batches.find(batch);
  // The workflow's first act is to leave its mark in the folder; without one nothing was ever sent.
  if (known === undefined && (await store.exists(STARTED_FILE))) throw problem('E503', { batch, folder });
  if (known === undefined && (await batches.start({ batch, folder })) === 'started') return 'started';
  if (known !== undefined) await refuseOther(known, found);
  await goOnIfPaused(batches, batch);
  return 'attached';
}

/** Whether Temporal knows the batch as one that goes on here. Throws E507 and E508 as {@link begin}. */
export async function isUnderWay({ batches }: Session, found: FoundBatch): Promise<boolean> {
  const known = await batches.find(found.batch);
  if (known !== undefined) await refuseOther(known, found);
  return known !== undefined;
}

/** The workflow of that id may belong to another folder, or have ended without this one. */
async function refuseOther({ folder, status }: Known, found: FoundBatch): Promise<void> {
  const { batch } = found;
  if (folder !== found.folder) throw problem('E507', { batch, folder: dirname(folder) });
  if (status !== 'RUNNING' && (await summaryOfDone(found)) === undefined)
    throw problem('E508', { batch, folder, status });
}

async function goOnIfPaused(batches: Session['batches'], batch: string): Promise<void> {
  const { view } = await batches.standing(batch);
  if (view?.state !== 'paused') return;
  await batches.resume(batch).catch((error: unknown) => {
    // Where no worker hears it the order waits, and following the batch says so.
    if (!(error instanceof RunsheetError) || error.code !== 'E512') throw error;
  });
}
