// Starts a pipeline, or finds the one that the same command started. Batches of stages with a sheet are
// created first, and run once the pipeline's workflow starts them.

import { createHash, randomBytes } from 'node:crypto';
import { withCopy } from '../../batches/copy-sheet.ts';
import { preparingIn } from '../../batches/incoming-folder.ts';
import { stemOf } from '../../batches/batch-id.ts';
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
} from '../../batches/pipeline/pipeline-folder.ts';
import { refusePast } from '../../batches/batch-spec.ts';
import type { ProposalSource } from '../../batches/propose.ts';
import { list, problem } from '../../errors/error.ts';
import { named } from '../../options/kinds.ts';
import { PIPELINE_FILE } from '../../store/batch-file.ts';
import { settingsChanged } from '../../schedule/schedule-definition.ts';
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

/** The hash of a sheet, which distinguishes the pipelines of one job. */
export function sheetHash(
  { config }: Servers,
  rows: Extract<ProposalSource, { readonly path: string }>,
): Promise<string> {
  return withCopy(rows.path, { ...preparingIn(config), ...rows.copying }, async ({ sha256 }) => sha256);
}

const HASH_DIGITS = 8;

/**
 * `poster-5f0c2a91`: the name of the job and the hash of its sheets. The hash covers the job's name too if
 * no batch can have that name.
 */
export function pipelineNameOf(job: string, sheets: readonly string[]): string {
  const stem = stemOf(`${job}.job`);
  const name = named.isKept(job) ? job : stem;
  const hashed = JSON.stringify(name === job ? sheets : [job, ...sheets]);
  return `${name}-${createHash('sha256').update(hashed).digest('hex').slice(0, HASH_DIGITS)}`;
}

/**
 * The pipeline that an earlier command recorded, and the existing batches of its stages. Throws E566 if a
 * batch was made with other settings, E602 if a new one needs a deadline that has passed.
 */
export async function madeStages({ config: { out } }: Servers, request: AskedPipeline): Promise<MadeStages> {
  const existing = await openPipeline(out, request.pipeline);
  const states = existing === undefined ? [] : await stageStates(out, existing);
  const made = new Map<string, FoundBatch>();
  for (const { stage, batchFolder, summary } of states) {
    if (batchFolder === undefined) continue;
    refuseOther(request, { batchFolder, stage, hasEnded: summary !== undefined });
    made.set(stage.name, batchFolder);
  }
  for (const stage of request.stages) {
    const kept = existing?.file.stages.find(({ name }) => name === stage.name);
    const waits = stage.from !== undefined && kept && stageChanges(kept, stage, false).length === 0;
    if (!made.has(stage.name) && waits !== true) refusePast(stage.request.settings);
  }
  return { known: existing, made };
}

type OfStage = {
  readonly batchFolder: BatchFolder;
  /** The recorded stage, or its name alone: batches of earlier releases have no definition. */
  readonly stage: Pick<StageDefinition, 'name'>;
  readonly hasEnded: boolean;
};

/** Throws E566 if the batch of a stage was made with settings that differ from these. */
export function refuseOther(
  { pipeline, stages }: AskedPipeline,
  { batchFolder, stage, hasEnded }: OfStage,
): void {
  const wanted = stages.find(({ name }) => name === stage.name);
  const made = (batchFolder.file.stage ?? stage) as StageDefinition;
  const changes = wanted === undefined ? ['it is not in the job'] : stageChanges(made, wanted, hasEnded);
  if (changes.length > 0) throw problem('E566', { pipeline, stage: stage.name, changes });
}

function stageChanges(made: StageDefinition, wanted: StageDefinition, hasEnded: boolean): readonly string[] {
  const [{ sheet: before, ...old }, { sheet: after, ...wantedSettings }] = hasEnded
    ? [withoutLimits(made), withoutLimits(wanted)]
    : [made, wanted];
  return [
    ...(before === after ? [] : ['its sheet had other content']),
    ...settingsChanged(old, wantedSettings),
  ];
}

/** Limits mean nothing to a batch that has ended. */
const withoutLimits = (stage: StageDefinition) => ({
  ...stage,
  deadlineMs: undefined,
  request: { ...stage.request, settings: undefined },
});

type MadeStages = {
  readonly known: PipelineFolder | undefined;
  readonly made: ReadonlyMap<string, FoundBatch>;
};

/** The order of stages with which the workflow was started. */
const orderOf = ({ stages }: Pick<AskedPipeline, 'stages'>): string =>
  stages.map(({ name, from }) => (from === undefined ? name : `${name} from ${from}`)).join(', ');

/** Records the request before a batch is made of it. Throws E602 if the pipeline runs with other stages. */
export async function recordPipeline(
  servers: Servers,
  request: AskedPipeline,
  existing: PipelineFolder | undefined,
): Promise<PipelineFolder> {
  if (existing === undefined) return recordFirst(servers, request);
  if (orderOf(existing.file) !== orderOf(request)) {
    const session = await servers.open(isLocal(request));
    if ((await session.pipelines.status(existing.file)) === 'RUNNING')
      throw problem('E602', {
        what: `pipeline ${request.pipeline} runs with other stages: ${orderOf(existing.file)}`,
        hint: `cancel it first, then give this command again: runsheet pipeline cancel ${request.pipeline}`,
      });
  }
  const file = { ...existing.file, ...request };
  await writePipeline(existing.store, file);
  return { ...existing, file };
}

/** Removes a first record if no batch was made of it: an empty pipeline would block the next command. */
export async function withdrawPipeline({ config }: Servers, recorded: PipelineFolder): Promise<void> {
  const states = await stageStates(config.out, recorded);
  if (states.every(({ batchFolder }) => batchFolder === undefined)) await removePipeline(recorded.store);
}

/** Returns the pipeline of the command that records it first. */
async function recordFirst({ config: { out } }: Servers, request: AskedPipeline): Promise<PipelineFolder> {
  const { pipeline, stages } = request;
  const folder = locationOf(out, pipeline);
  const store = openStore(folder);
  // Cleaning a pipeline removes its folder, so the folder must contain nothing else.
  const content = [...(await store.list('')), ...(await store.folders(''))];
  if (content.length > 0 && !content.includes(PIPELINE_FILE))
    throw problem('E602', {
      what: `the folder ${folder} of pipeline ${pipeline} has other content: ${list(content.slice(0, 3))}`,
      hint: 'give the pipeline another name in its job: name = "…"',
    });
  const file = { ...request, mark: randomBytes(8).toString('hex'), createdAt: new Date().toISOString() };
  if (await createPipeline(store, file)) return { file, store, folder };
  const rival = await openPipeline(out, pipeline);
  const changes = rival && settingsChanged({ stages: rival.file.stages }, { stages });
  if (rival !== undefined && changes?.length === 0) return rival;
  throw problem('E602', {
    what: `another command has begun pipeline ${pipeline} with other settings`,
    hint: 'give this command again: it compares its settings with those of the pipeline',
  });
}

export const isLocal = ({ stages }: Pick<AskedPipeline, 'stages'>): boolean =>
  stages.some(({ request }) => request.service.base === 'local');

/** Throws E548 if other servers hold one of its batches, because they also have its workflow. */
export async function refuseElsewhere(servers: Servers, opened: PipelineFolder): Promise<void> {
  const states = await stageStates(servers.config.out, opened);
  for (const { batchFolder } of states)
    if (batchFolder !== undefined) await servers.refuseElsewhere(batchFolder);
}

/** Starts the workflow unless nothing is left to do. A running workflow takes up failed stages again. */
export async function startPipeline(servers: Servers, recorded: PipelineFolder): Promise<PipelineFolder> {
  const { out } = servers.config;
  await refuseElsewhere(servers, recorded);
  const session = await servers.open(isLocal(recorded.file));
  // A concurrent command may have changed or withdrawn the pipeline since it was read.
  await createPipeline(recorded.store, recorded.file);
  const opened = (await openPipeline(out, recorded.file.pipeline)) ?? recorded;
  const { pipeline, mark, stages } = opened.file;
  const states = await stageStates(out, opened);
  if (states.every(({ summary }) => summary !== undefined)) return opened;
  const open = states.flatMap(({ batchFolder, summary }) => (summary === undefined && batchFolder) || []);
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
