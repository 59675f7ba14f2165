// Starts a pipeline, or finds the one that the same command has started. The batches of stages with a sheet are made first; they run
// once the workflow of the pipeline starts them.

import { createHash, randomBytes } from 'node:crypto';
import { withCopy } from '../../create-batch/copy-sheet.ts';
import {
  batchOfStage,
  callOfStage,
  failureOf,
  openPipeline,
  writePipeline,
  type PipelineFolder,
  type StageDefinition,
} from '../../create-batch/pipeline/pipeline-file.ts';
import { stageStates } from '../../create-batch/pipeline/stage-states.ts';
import { preparingIn } from '../../create-batch/copy-sheet.ts';
import type { Source } from '../../create-batch/propose.ts';
import type { BatchRequest } from '../../create-batch/batch-request.ts';
import { problem } from '../../errors/error.ts';
import { settingsChanged } from '../../schedule/definition.ts';
import { locationOf } from '../../store/batch-folders.ts';
import { openStore } from '../../store/open-store.ts';
import type { FoundBatch } from '../handle/found-batch.ts';
import type { Servers } from '../servers.ts';

export type { StageDefinition };

export type AskedPipeline = {
  readonly pipeline: string;
  readonly stages: readonly StageDefinition[];
};

/** The hash of a sheet, which tells one pipeline of a job from another. */
export function sheetHash(
  { config }: Servers,
  rows: Extract<Source, { readonly path: string }>,
): Promise<string> {
  return withCopy(rows.path, { ...preparingIn(config), ...rows.copying }, async ({ sha256 }) => sha256);
}

const HASH_DIGITS = 8;

/** `poster-5f0c2a91`: the name of the job, and the hash of its sheets. */
export const pipelineNameOf = (job: string, sheets: readonly string[]): string =>
  `${job}-${createHash('sha256').update(JSON.stringify(sheets)).digest('hex').slice(0, HASH_DIGITS)}`;

/** What the batch of a stage is asked for; the call finds it again. */
export const requestOfStage = (
  pipeline: string,
  { name, request, reuse }: StageDefinition,
): BatchRequest => ({
  ...request,
  name: batchOfStage(pipeline, name),
  madeFor: callOfStage(pipeline, name),
  again: reuse === 'again',
});

/** The batches of its stages that exist. Throws E566 if one was made with other settings. */
export async function madeStages(
  { config: { out } }: Servers,
  { pipeline, stages }: AskedPipeline,
): Promise<ReadonlyMap<string, FoundBatch>> {
  const known = await openPipeline(out, pipeline);
  const file = { pipeline, stages, mark: '', createdAt: '' };
  const states = await stageStates(out, known ?? { file, ...placeOf(out, pipeline) });
  const made = new Map<string, FoundBatch>();
  for (const { stage, found } of states) {
    if (found === undefined) continue;
    const asked = stages.find(({ name }) => name === stage.name);
    const changes =
      asked === undefined ? ['it is not in the job'] : settingsChanged(lasting(stage), lasting(asked));
    if (changes.length > 0) throw problem('E566', { pipeline, stage: stage.name, changes });
    made.set(stage.name, found);
  }
  return made;
}

/** Each command says anew how long from now a deadline is. */
function lasting({ request, ...stage }: StageDefinition): object {
  const { deadlineAt: _deadline, ...settings } = request.settings;
  return { ...stage, request: { ...request, settings } };
}

const placeOf = (out: string, pipeline: string) => {
  const folder = locationOf(out, pipeline);
  return { folder, store: openStore(folder) };
};

/** What its workflow was started with. */
const orderOf = ({ stages }: Pick<AskedPipeline, 'stages'>): string =>
  stages.map(({ name, from }) => (from === undefined ? name : `${name} from ${from}`)).join(', ');

/** Writes down what is asked for, and starts the workflow unless it runs or has nothing left to do. Throws E602 if it runs with other stages. */
export async function startPipeline(servers: Servers, asked: AskedPipeline): Promise<PipelineFolder> {
  const { out } = servers.config;
  const { pipeline, stages } = asked;
  const known = await openPipeline(out, pipeline);
  const { folder, store } = placeOf(out, pipeline);
  const mark = known?.file.mark ?? randomBytes(8).toString('hex');
  const createdAt = known?.file.createdAt ?? new Date().toISOString();
  const file = { pipeline, mark, createdAt, stages };
  const session = await servers.open(stages.some(({ request }) => request.service.base === 'local'));
  const isRunning = (await session.pipelines.status({ pipeline, mark })) === 'RUNNING';
  if (isRunning && known !== undefined && orderOf(known.file) !== orderOf(file))
    throw problem('E602', {
      what: `pipeline ${pipeline} runs with other stages: ${orderOf(known.file)}`,
      hint: `cancel it first, then give this command again: runsheet pipeline cancel ${pipeline}`,
    });
  await writePipeline(store, file);
  const opened = { file, store, folder };
  const states = await stageStates(out, opened);
  if (states.every(({ summary }) => summary !== undefined)) return opened;
  if (!isRunning) for (const { name } of stages) await store.remove(failureOf(name));
  await session.pipelines.start({
    pipeline,
    mark,
    folder,
    stages: stages.map(({ name, from, request }) => ({ name, from, workerTag: request.settings.workerTag })),
  });
  return opened;
}
