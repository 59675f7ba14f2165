// Starts a batch or attaches to it (R20). The folder is checked too, because Temporal may have deleted the
// workflow after its retention period.

import { dirname } from 'node:path';
import { shownBatch } from '../../batch/shown/shown-batch.ts';
import { BY_RESUME_ONLY } from '../../batch/pausing/pause-kinds.ts';
import type { Progress } from '../../batch/shown/progress.ts';
import { isRunsheetError, problem, type RunsheetError } from '../../errors/error.ts';
import { placeReused } from '../../batches/reuse/reuse-rows.ts';
import { readStarted, STARTED_FILE } from '../../store/started.ts';
import { readSummary, summarizedPass, type Summary } from '../../results/summary.ts';
import { openBatchFolder } from '../../store/batch-folders.ts';
import { newestPass, readContinued } from '../../store/passes.ts';
import type { ListedBatch } from '../../temporal/batch-client.ts';
import { refOf, type FoundBatch } from '../handle/found-batch.ts';
import type { Session } from '../session.ts';
import { heldElsewhere, isSuperseded, whoHas, type Here } from './who-has.ts';
import type { CommandOptions } from '../../temporal/batch-control.ts';

export const isStarted = ({ store }: FoundBatch): Promise<boolean> => store.exists(STARTED_FILE);

/** The summary of a batch; undefined until it has ended. */
export const summaryOfDone = (batchFolder: FoundBatch): Promise<Summary | undefined> =>
  readSummary(batchFolder.store);

type Starting = {
  /** Throws if a batch unknown to Temporal must not be started. */
  readonly refuseStart?: () => void;
  readonly leavesPaused?: boolean;
};

/**
 * Starts the batch unless it was started before, and resumes a paused one unless the caller does. Throws E503 if Temporal no longer
 * has a started batch, E507 if the workflow uses another folder, E508 if it ended without results, E548 if other servers have the batch.
 */
export async function startOrAttach(
  { batches, here }: Session,
  batchFolder: FoundBatch,
  { refuseStart, leavesPaused = false }: Starting = {},
): Promise<'started' | 'attached'> {
  const { batch, folder, store, file } = batchFolder;
  const ref = refOf(batchFolder);
  let execution = await batches.find(ref);
  const ended = execution?.status === 'RUNNING' ? undefined : await endedBefore(store);
  if (ended !== undefined) {
    if (execution === undefined) refuseStart?.();
    else await refuseElsewhere(execution, batchFolder, here);
    const continued = { continues: ended.newest };
    if ((await batches.start(ref, continued, shownBatch(file))) === 'started') return 'started';
    // A concurrent command started it first.
    execution = await batches.find(ref);
  }
  await refuseHeldElsewhere(execution, batchFolder, here);
  // The workflow creates started.json before it sends anything.
  if (execution === undefined && (await isStarted(batchFolder))) {
    const { by } = await whoHas(batchFolder, here);
    throw problem('E503', { batch, folder, had: by === 'unnamed' ? 'unnamed' : 'here' });
  }
  if (execution === undefined) {
    refuseStart?.();
    await placeReused(batchFolder);
    if ((await batches.start(ref, undefined, shownBatch(file))) === 'started') return 'started';
  }
  if (execution !== undefined) await refuseOther(execution, batchFolder, here);
  const { progress } = await batches.status(ref);
  if (!leavesPaused) await resumeIfPaused(batches, batchFolder, progress);
  // A killed command may have added a pass that the batch does not know.
  const newest = await newestPass(store);
  if (progress !== undefined && progress.pass < newest) await batches.retry(ref, newest);
  return 'attached';
}

/**
 * The newest pass of a batch that ended before taking it. Undefined if the batch has not ended, ended with
 * all passes, or was continued before: then rows may have been sent, and only a rebuild knows.
 */
async function endedBefore(store: FoundBatch['store']): Promise<{ readonly newest: number } | undefined> {
  const [ended, newest] = await Promise.all([summarizedPass(store), newestPass(store)]);
  if (ended === undefined || ended >= newest) return undefined;
  return (await readContinued(store, ended)) === undefined ? { newest } : undefined;
}

/** The error that describes the other servers holding the batch; undefined if there are none, or if the batch has ended. */
export async function elsewhere(batchFolder: FoundBatch, here: Here): Promise<RunsheetError | undefined> {
  if (
    (await summaryOfDone(batchFolder)) !== undefined ||
    (await endedBefore(batchFolder.store)) !== undefined
  )
    return undefined;
  const has = await whoHas(batchFolder, here);
  return has.by === 'others' ? heldElsewhere(batchFolder, has.others, here.holder) : undefined;
}

/** A batch that these servers know may have been taken over. */
async function refuseHeldElsewhere(
  execution: ListedBatch | undefined,
  batchFolder: FoundBatch,
  here: Here,
): Promise<void> {
  const isOurs =
    execution !== undefined && !isSuperseded(execution, await readStarted(batchFolder.store), here.holder);
  const error = isOurs ? undefined : await elsewhere(batchFolder, here);
  if (error !== undefined) throw error;
}

/** Whether servers run the batch. Throws E507 and E508 as {@link startOrAttach}. */
export async function isUnderWay(
  { batches, isWorking, here }: Pick<Session, 'batches' | 'isWorking' | 'here'>,
  batchFolder: FoundBatch,
): Promise<boolean> {
  if (!isWorking()) return false;
  const execution = await batches.find(refOf(batchFolder));
  if (execution === undefined || isSuperseded(execution, await readStarted(batchFolder.store), here.holder))
    return false;
  await refuseOther(execution, batchFolder, here);
  return true;
}

async function refuseElsewhere(
  { folder }: ListedBatch,
  { batch, folder: own }: FoundBatch,
  here: Here,
): Promise<void> {
  if (folder === own) return;
  const out = dirname(folder);
  // Workers of a cluster may have folders that this machine does not have.
  if (here.holder.kind === 'embedded' && (await isGone(out, batch)))
    throw problem('E507', { batch, folder: out, isGone: true });
  throw problem('E507', { batch, folder: out }, { correction: { add: [['--out', out]] } });
}

/** An unreadable folder is not gone. */
const isGone = (out: string, batch: string): Promise<boolean> =>
  openBatchFolder(out, batch).then(
    (batchFolder) => batchFolder === undefined,
    () => false,
  );

/** The workflow may belong to a copy of the folder, have ended before the newest pass, or have ended without writing here. */
async function refuseOther(execution: ListedBatch, batchFolder: FoundBatch, here: Here): Promise<void> {
  await refuseElsewhere(execution, batchFolder, here);
  const { batch } = batchFolder;
  const { folder, status } = execution;
  if (status === 'RUNNING' || (await summaryOfDone(batchFolder)) !== undefined) return;
  // A killed command may have added a pass after the end.
  if ((await endedBefore(batchFolder.store)) !== undefined) throw problem('E516', { batch });
  throw problem('E508', { batch, folder, status });
}

async function resumeIfPaused(
  batches: Session['batches'],
  batchFolder: FoundBatch,
  progress: Progress | undefined,
): Promise<void> {
  // Only `resume` ends a user's pause, or a pause at a limit that the user set.
  const isByUser = progress?.pauses.some(({ kind }) => BY_RESUME_ONLY.has(kind));
  if (progress?.state !== 'paused' || isByUser) return;
  await batches.resume(refOf(batchFolder)).catch((error: unknown) => {
    // Without a worker, the signal waits, and following the batch reports that.
    const isKnown = (['E512', 'E513', 'E518'] as const).some((code) => isRunsheetError(error, code));
    if (!isKnown) throw error;
  });
}

/**
 * Signals a pass whose file exists; starts the batch if it has ended. Returns once the batch has the pass.
 * A killed command loses nothing, because the next one that starts or attaches to the batch repeats the
 * signal. Without a pass, the batch is only started or attached to.
 */
export async function signalPass(
  session: Session,
  batchFolder: FoundBatch,
  pass: number | undefined,
  options: CommandOptions = {},
): Promise<void> {
  if (pass === undefined) return void (await startOrAttach(session, batchFolder));
  const ref = refOf(batchFolder);
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
    // A concurrent command may have finished the pass meanwhile.
    const how = await startOrAttach(session, batchFolder);
    if (how === 'started' || ((await summarizedPass(batchFolder.store)) ?? 0) >= pass) return;
  }
}
