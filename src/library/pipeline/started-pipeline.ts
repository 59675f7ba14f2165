// Starts a pipeline, or finds the one that the same command has started. The batches of stages with a sheet are made first; they run
// once the workflow of the pipeline starts them.

import { createHash, randomBytes } from 'node:crypto';
import { preparingIn, withCopy } from '../../create-batch/copy-sheet.ts';
import {
  batchOfStage,
  callOfStage,
  createPipeline,
  failureOf,
  openPipeline,
  writePipeline,
  type PipelineFolder,
  type StageDefinition,
} from '../../create-batch/pipeline/pipeline-file.ts';
import { stageStates } from '../../create-batch/pipeline/stage-states.ts';
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
export const requestOfStage = (pipeline: string, { name, request }: StageDefinition): BatchRequest => ({
  ...request,
  name: batchOfStage(pipeline, name),
  madeFor: callOfStage(pipeline, name),
  // A new batch beside one that has the name would not be found; the answers say that its rows are bought again.
  again: false,
});

/** What an earlier command wrote down, and the batches of its stages that exist. Throws E566 if one was made with other settings. */
export async function madeStages(
  { config: { out } }: Servers,
  { pipeline, stages }: AskedPipeline,
): Promise<Made> {
  const known = await openPipeline(out, pipeline);
  const states = known === undefined ? [] : await stageStates(out, known);
  const made = new Map<string, FoundBatch>();
  for (const { stage, found } of states) {
    if (found === undefined) continue;
    const asked = stages.find(({ name }) => name === stage.name);
    const changes =
      asked === undefined ? ['it is not in the job'] : settingsChanged(lasting(stage), lasting(asked));
    if (changes.length > 0) throw problem('E566', { pipeline, stage: stage.name, changes });
    made.set(stage.name, found);
  }
  return { known, made };
}

type Made = {
  readonly known: PipelineFolder | undefined;
  readonly made: ReadonlyMap<string, FoundBatch>;
};

/** Each command says anew how long from now a deadline is. */
function lasting({ request, ...stage }: StageDefinition): object {
  const { deadlineAt: _deadline, ...settings } = request.settings;
  return { ...stage, request: { ...request, settings } };
}

/** What its workflow was started with. */
const orderOf = ({ stages }: Pick<AskedPipeline, 'stages'>): string =>
  stages.map(({ name, from }) => (from === undefined ? name : `${name} from ${from}`)).join(', ');

/** Writes down what is asked for, before a batch is made of it. Throws E602 if the pipeline runs with other stages. */
export async function recordPipeline(
  servers: Servers,
  asked: AskedPipeline,
  known: PipelineFolder | undefined,
): Promise<PipelineFolder> {
  if (known === undefined) return recordFirst(servers, asked);
  if (orderOf(known.file) !== orderOf(asked)) {
    const session = await servers.open(isLocal(asked));
    if ((await session.pipelines.status(known.file)) === 'RUNNING')
      throw problem('E602', {
        what: `pipeline ${asked.pipeline} runs with other stages: ${orderOf(known.file)}`,
        hint: `cancel it first, then give this command again: runsheet pipeline cancel ${asked.pipeline}`,
      });
  }
  const file = { ...known.file, ...asked };
  await writePipeline(known.store, file);
  return { ...known, file };
}

/** Another command may be faster. */
async function recordFirst({ config: { out } }: Servers, asked: AskedPipeline): Promise<PipelineFolder> {
  const { pipeline, stages } = asked;
  const folder = locationOf(out, pipeline);
  const store = openStore(folder);
  const file = { ...asked, mark: randomBytes(8).toString('hex'), createdAt: new Date().toISOString() };
  if (await createPipeline(store, file)) return { file, store, folder };
  const other = await openPipeline(out, pipeline);
  const changes =
    other && settingsChanged({ stages: other.file.stages.map(lasting) }, { stages: stages.map(lasting) });
  if (other !== undefined && changes?.length === 0) return other;
  throw problem('E602', {
    what: `another command has begun pipeline ${pipeline} with other settings`,
    hint: `follow it: runsheet pipeline follow ${pipeline}`,
  });
}

export const isLocal = ({ stages }: Pick<AskedPipeline, 'stages'>): boolean =>
  stages.some(({ request }) => request.service.base === 'local');

/** Starts the workflow unless it has nothing left to do. One that runs takes up the stages that failed. */
export async function startPipeline(servers: Servers, recorded: PipelineFolder): Promise<PipelineFolder> {
  const { out } = servers.config;
  const session = await servers.open(isLocal(recorded.file));
  // Another command may have corrected it since it was read.
  const opened = (await openPipeline(out, recorded.file.pipeline)) ?? recorded;
  const { pipeline, mark, stages } = opened.file;
  const states = await stageStates(out, opened);
  if (states.every(({ summary }) => summary !== undefined)) return opened;
  for (const { name } of stages) await opened.store.remove(failureOf(name));
  await session.pipelines.start({
    pipeline,
    mark,
    folder: opened.folder,
    stages: stages.map(({ name, from, request }) => ({ name, from, workerTag: request.settings.workerTag })),
  });
  return opened;
}
