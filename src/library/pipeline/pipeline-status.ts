// How far a pipeline is: what its folder and its batches show, and what the workflows of batches that run have published.

import { correctionOf, nearest, problem } from '../../errors/error.ts';
import {
  listPipelines,
  openPipeline,
  type PipelineFolder,
} from '../../create-batch/pipeline/pipeline-folder.ts';
import {
  helpFor,
  reasonOf,
  stageStates,
  type StageState,
} from '../../create-batch/pipeline/pipeline-folder.ts';
import { pauseHint } from '../../batch/pausing/pause-kinds.ts';
import type { WaitsFor } from '../../batch/pipeline/stages.ts';
import { notSucceeded } from '../../results/summary.ts';
import { statusNow, statusFromFolder, type BatchStatus } from '../handle/batch-status.ts';
import type { FoundBatch } from '../handle/found-batch.ts';
import type { Asked } from '../servers.ts';
import type { Session } from '../session.ts';

export { listPipelines, type PipelineFolder };

/** `waiting`: for what `waitsFor` says. `starting`: its batch will be made. All others are those of its batch. */
export type StageStatus = {
  readonly stage: string;
  readonly from: string | undefined;
  readonly state: BatchStatus['state'] | 'waiting' | 'starting' | 'failed';
  readonly waitsFor: WaitsFor | undefined;
  /** Its batch, once it is made. */
  readonly batchFolder: FoundBatch | undefined;
  readonly status: BatchStatus | undefined;
  /** Why it does not advance, and the command that helps; '' if it does, or if no help is needed. */
  readonly reason: string;
  readonly help: string;
  /** Rows that ended without success, once it has ended. */
  readonly notSucceeded: number;
};

/** The pipeline of this name, or the only one whose name begins so; the newest without a name. Throws E565. */
export async function findPipeline(out: string, name: string | undefined): Promise<PipelineFolder> {
  const exact = name === undefined ? undefined : await openPipeline(out, name);
  if (exact !== undefined) return exact;
  const all = await listPipelines(out);
  const matching =
    name === undefined ? all.slice(0, 1) : all.filter(({ file }) => file.pipeline.startsWith(name));
  const [only] = matching;
  if (only !== undefined && matching.length === 1) return only;
  const known = all.map(({ file }) => file.pipeline);
  const near = nearest(name ?? '', known);
  throw problem('E565', { name: name ?? '', known, near }, { correction: correctionOf(name ?? '', near) });
}

/** In the order of the stages. */
export async function pipelineStatus(
  out: string,
  opened: PipelineFolder,
  asked: Asked,
): Promise<readonly StageStatus[]> {
  const { session } = asked;
  // In this order: a workflow that has ended wrote everything before.
  const workflow = session && ((await session.pipelines.status(opened.file)) ?? 'forgotten');
  const states = await stageStates(out, opened);
  return Promise.all(
    states.map(async (one) => {
      const { stage, found: batchFolder, failure, waitsFor } = one;
      const own = batchFolder && (await statusFromFolder(batchFolder));
      const status = batchFolder && own && (await statusNow(asked, batchFolder, own));
      const next = workflow === undefined || workflow === 'RUNNING' ? 'starting' : 'interrupted';
      const isStarting = workflow === 'RUNNING' && status?.state === 'interrupted';
      // A batch that has ended writes its summary last.
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
        ...(paused(session, status) ?? stands(opened, one, state)),
        notSucceeded: status?.summary === undefined ? 0 : notSucceeded(status.summary),
      };
    }),
  );
}

/** Why a stage stands. A failure of the pipeline is over once something runs its batch. */
function stands({ file }: PipelineFolder, one: StageState, state: StageStatus['state']) {
  const isOver = one.found !== undefined && state !== 'interrupted';
  return isOver ? { reason: '', help: '' } : { reason: reasonOf(one), help: helpFor(file.pipeline, one) };
}

/** Of a batch that waits. */
function paused(session: Session | undefined, status: BatchStatus | undefined) {
  if (status?.state !== 'paused') return undefined;
  const { reason = '', pauses, budget } = status.progress ?? {};
  const endsServers = session?.stack !== undefined;
  const help = pauseHint(status.batch, pauses?.[0], endsServers, budget?.neededNano);
  return { reason, help };
}
