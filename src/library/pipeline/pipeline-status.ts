// The status of a pipeline: its folder and batches, plus the progress that running batches have published.

import { correctionOf, nearest, problem } from '../../errors/error.ts';
import { listPipelines, openPipeline, type PipelineFolder } from '../../batches/pipeline/pipeline-folder.ts';
import { helpFor, reasonOf, stageStates, type StageState } from '../../batches/pipeline/pipeline-folder.ts';
import { pauseHint } from '../../batch/pausing/pause-hints.ts';
import type { WaitsFor } from '../../batch/pipeline/stages.ts';
import { notSucceeded } from '../../results/summary.ts';
import { statusNow, statusFromFolder, type BatchStatus } from '../handle/batch-status.ts';
import type { FoundBatch } from '../handle/found-batch.ts';
import type { ServerConnection } from '../servers.ts';
import type { Session } from '../session.ts';

export { listPipelines, type PipelineFolder };

/** `waiting`: see `waitsFor`. `starting`: its batch is about to be made. All further states are those of its batch. */
export type StageStatus = {
  readonly stage: string;
  readonly from: string | undefined;
  readonly state: BatchStatus['state'] | 'waiting' | 'starting' | 'failed';
  readonly waitsFor: WaitsFor | undefined;
  /** The batch, once it exists. */
  readonly batchFolder: FoundBatch | undefined;
  readonly status: BatchStatus | undefined;
  /** Why the stage does not advance, and the command that helps; both empty if no help is needed. */
  readonly reason: string;
  readonly help: string;
  /** Rows that ended without success, once it has ended. */
  readonly notSucceeded: number;
};

/** The pipeline with this name or unique prefix; the newest without a name. Throws E565. */
export async function findPipeline(out: string, name: string | undefined): Promise<PipelineFolder> {
  const exact = name === undefined ? undefined : await openPipeline(out, name);
  if (exact !== undefined) return exact;
  const pipelines = await listPipelines(out);
  const matching =
    name === undefined
      ? pipelines.slice(0, 1)
      : pipelines.filter(({ file }) => file.pipeline.startsWith(name));
  const [only] = matching;
  if (only !== undefined && matching.length === 1) return only;
  const names = pipelines.map(({ file }) => file.pipeline);
  const near = nearest(name ?? '', names);
  throw problem(
    'E565',
    { name: name ?? '', known: names, near },
    { correction: correctionOf(name ?? '', near) },
  );
}

/** Statuses in the order of the stages. */
export async function pipelineStatus(
  out: string,
  opened: PipelineFolder,
  connection: ServerConnection,
): Promise<readonly StageStatus[]> {
  const { session } = connection;
  // The workflow is asked first: once it has ended, everything is written.
  const workflow = session && ((await session.pipelines.status(opened.file)) ?? 'forgotten');
  const states = await stageStates(out, opened);
  return Promise.all(
    states.map(async (stageState) => {
      const { stage, batchFolder, failure, waitsFor } = stageState;
      const own = batchFolder && (await statusFromFolder(batchFolder));
      const status = batchFolder && own && (await statusNow(connection, batchFolder, own));
      const next = workflow === undefined || workflow === 'RUNNING' ? 'starting' : 'interrupted';
      const isStarting = workflow === 'RUNNING' && status?.state === 'interrupted';
      // An ending batch writes its summary last.
      const isEnding = status?.state === 'finished' && status.summary === undefined;
      const ofBatch = isStarting ? 'starting' : isEnding ? 'running' : status?.state;
      const state =
        ofBatch ?? (failure === undefined ? (waitsFor === undefined ? next : 'waiting') : 'failed');
      return {
        stage: stage.name,
        from: stage.from,
        state,
        waitsFor,
        batchFolder,
        status,
        ...(paused(session, status) ?? stands(opened, stageState, state)),
        notSucceeded: status?.summary === undefined ? 0 : notSucceeded(status.summary),
      };
    }),
  );
}

/** Why a stage does not advance. A failure of the pipeline is over once its batch runs. */
function stands({ file }: PipelineFolder, stageState: StageState, state: StageStatus['state']) {
  const isOver = stageState.batchFolder !== undefined && state !== 'interrupted';
  return isOver
    ? { reason: '', help: '' }
    : { reason: reasonOf(stageState), help: helpFor(file.pipeline, stageState) };
}

/** The reason and the help of a paused batch. */
function paused(session: Session | undefined, status: BatchStatus | undefined) {
  if (status?.state !== 'paused') return undefined;
  const { reason = '', pauses, budget } = status.progress ?? {};
  const endsServers = session?.stack !== undefined;
  const help = pauseHint(status.batch, pauses?.[0], endsServers, budget?.neededNano);
  return { reason, help };
}
