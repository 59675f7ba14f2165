// Starts a pipeline, or finds the one that the same command has started. The batches of stages with a sheet are made first; they run
// once the workflow of the pipeline starts them.

import { createHash, randomBytes } from 'node:crypto';
import { preparingIn, withCopy } from '../../create-batch/copy-sheet.ts';
import { stemOf } from '../../create-batch/batch-id.ts';
import {
  createPipeline,
  failureOf,
  openPipeline,
  removePipeline,
  requestOfStage,
  writePipeline,
  type PipelineFolder,
  type StageDefinition,
  stageStates,
} from '../../create-batch/pipeline/pipeline-folder.ts';
import { refusePast } from '../../create-batch/batch-spec.ts';
import type { Source } from '../../create-batch/propose.ts';
import { list, problem } from '../../errors/error.ts';
import { named } from '../../options/kinds.ts';
import { PIPELINE_FILE } from '../../store/batch-file.ts';
import { settingsChanged } from '../../schedule/definition.ts';
import { locationOf, type BatchFolder } from '../../store/batch-folders.ts';
import { openStore } from '../../store/open-store.ts';
import type { FoundBatch } from '../handle/found-batch.ts';
import { refuseForeign } from '../start/foreign-batch.ts';
import type { Servers } from '../servers.ts';

export { requestOfStage, type StageDefinition };

export type AskedPipeline = {
  readonly pipeline: string;
  readonly stages: readonly StageDefinition[];
  readonly command?: readonly string[];
};

/** The hash of a sheet, which tells one pipeline of a job from another. */
export function sheetHash(
  { config }: Servers,
  rows: Extract<Source, { readonly path: string }>,
): Promise<string> {
  return withCopy(rows.path, { ...preparingIn(config), ...rows.copying }, async ({ sha256 }) => sha256);
}

const HASH_DIGITS = 8;

/** `poster-5f0c2a91`: the name of the job, and the hash of its sheets; also of the job, if no batch can have its name. */
export function pipelineNameOf(job: string, sheets: readonly string[]): string {
  const stem = stemOf(`${job}.job`);
  const name = named.isKept(job) ? job : stem;
  const hashed = JSON.stringify(name === job ? sheets : [job, ...sheets]);
  return `${name}-${createHash('sha256').update(hashed).digest('hex').slice(0, HASH_DIGITS)}`;
}

/** What an earlier command wrote down, and the batches of its stages that exist. Throws E566 if one was made with other settings, E602 if another asks for a time that has passed. */
export async function madeStages({ config: { out } }: Servers, asked: AskedPipeline): Promise<Made> {
  const known = await openPipeline(out, asked.pipeline);
  const states = known === undefined ? [] : await stageStates(out, known);
  const made = new Map<string, FoundBatch>();
  for (const { stage, found: batchFolder, summary } of states) {
    if (batchFolder === undefined) continue;
    refuseOther(asked, { batchFolder, stage, hasEnded: summary !== undefined });
    made.set(stage.name, batchFolder);
  }
  for (const stage of asked.stages) {
    const kept = known?.file.stages.find(({ name }) => name === stage.name);
    const waits = stage.from !== undefined && kept && stageChanges(kept, stage, false).length === 0;
    if (!made.has(stage.name) && waits !== true) refusePast(stage.request.settings);
  }
  return { known, made };
}

type OfStage = {
  readonly batchFolder: BatchFolder;
  /** What the pipeline has written down, or the name alone: batches of earlier releases keep no definition. */
  readonly stage: Pick<StageDefinition, 'name'>;
  readonly hasEnded: boolean;
};

/** Throws E566 if the batch of a stage was made with other settings than these. */
export function refuseOther(
  { pipeline, stages }: AskedPipeline,
  { batchFolder, stage, hasEnded }: OfStage,
): void {
  const asked = stages.find(({ name }) => name === stage.name);
  const made = (batchFolder.file.stage ?? stage) as StageDefinition;
  const changes = asked === undefined ? ['it is not in the job'] : stageChanges(made, asked, hasEnded);
  if (changes.length > 0) throw problem('E566', { pipeline, stage: stage.name, changes });
}

function stageChanges(made: StageDefinition, asked: StageDefinition, hasEnded: boolean): readonly string[] {
  const [{ sheet: before, ...old }, { sheet: after, ...given }] = hasEnded
    ? [withoutLimits(made), withoutLimits(asked)]
    : [made, asked];
  return [...(before === after ? [] : ['its sheet had other content']), ...settingsChanged(old, given)];
}

/** They mean nothing to a batch that has ended. */
const withoutLimits = (stage: StageDefinition) => ({
  ...stage,
  deadlineMs: undefined,
  request: { ...stage.request, settings: undefined },
});

type Made = {
  readonly known: PipelineFolder | undefined;
  readonly made: ReadonlyMap<string, FoundBatch>;
};

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

/** Undoes a first record if no batch was made of it: a pipeline without one would be in the way of the next command. */
export async function withdrawPipeline({ config }: Servers, recorded: PipelineFolder): Promise<void> {
  const states = await stageStates(config.out, recorded);
  if (states.every(({ found: batchFolder }) => batchFolder === undefined))
    await removePipeline(recorded.store);
}

/** Another command may be faster. */
async function recordFirst({ config: { out } }: Servers, asked: AskedPipeline): Promise<PipelineFolder> {
  const { pipeline, stages } = asked;
  const folder = locationOf(out, pipeline);
  const store = openStore(folder);
  // To clean the pipeline removes its folder, so nothing else may be in it.
  const others = [...(await store.list('')), ...(await store.folders(''))];
  if (others.length > 0 && !others.includes(PIPELINE_FILE))
    throw problem('E602', {
      what: `the folder ${folder} of pipeline ${pipeline} has other content: ${list(others.slice(0, 3))}`,
      hint: 'give the pipeline another name in its job: name = "…"',
    });
  const file = { ...asked, mark: randomBytes(8).toString('hex'), createdAt: new Date().toISOString() };
  if (await createPipeline(store, file)) return { file, store, folder };
  const other = await openPipeline(out, pipeline);
  const changes = other && settingsChanged({ stages: other.file.stages }, { stages });
  if (other !== undefined && changes?.length === 0) return other;
  throw problem('E602', {
    what: `another command has begun pipeline ${pipeline} with other settings`,
    hint: 'give this command again: it compares its settings with those of the pipeline',
  });
}

export const isLocal = ({ stages }: Pick<AskedPipeline, 'stages'>): boolean =>
  stages.some(({ request }) => request.service.base === 'local');

/** Throws E548 if other servers have one of its batches: they have its workflow, too. */
export async function refuseElsewhere(servers: Servers, opened: PipelineFolder): Promise<void> {
  const states = await stageStates(servers.config.out, opened);
  for (const { found: batchFolder } of states)
    if (batchFolder !== undefined) await servers.refuseElsewhere(batchFolder);
}

/** Starts the workflow unless it has nothing left to do. One that runs takes up the stages that failed. */
export async function startPipeline(servers: Servers, recorded: PipelineFolder): Promise<PipelineFolder> {
  const { out } = servers.config;
  await refuseElsewhere(servers, recorded);
  const session = await servers.open(isLocal(recorded.file));
  // Another command may have corrected it since it was read, or withdrawn it.
  await createPipeline(recorded.store, recorded.file);
  const opened = (await openPipeline(out, recorded.file.pipeline)) ?? recorded;
  const { pipeline, mark, stages } = opened.file;
  const states = await stageStates(out, opened);
  if (states.every(({ summary }) => summary !== undefined)) return opened;
  const open = states.flatMap(
    ({ found: batchFolder, summary }) => (summary === undefined && batchFolder) || [],
  );
  if (open.length > 0 && (await session.pipelines.status(opened.file)) === undefined)
    for (const batchFolder of open) refuseForeign(servers.config, batchFolder);
  for (const { name } of stages) await opened.store.remove(failureOf(name));
  await session.pipelines.start({
    pipeline,
    mark,
    folder: opened.folder,
    stages: stages.map(({ name, from }) => ({ name, ...(from !== undefined && { from }) })),
  });
  return opened;
}
