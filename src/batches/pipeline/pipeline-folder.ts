// The folder of a pipeline, beside the folders of its batches. A pipeline continues from these folders alone.
//
//   poster/pipeline.json        the request
//   poster/picks/finals         the rows that the user picked for a stage
//   poster/picked-in/finals     the folder from which cells of the picks name files
//   poster/failures/finals.json why a stage made no batch
//   poster/index.html           the page of the pipeline

import { z } from 'zod';
import { jsonIn, shellWord } from '../../errors/outside-text.ts';
import { type Stage, waitsFor, type StageBatch, type WaitsFor } from '../../batch/pipeline/stages.ts';
import { isRunsheetError, problem } from '../../errors/error.ts';
import { PIPELINE_FILE } from '../../store/batch-file.ts';
import { listFolders, locationOf, openBatchFolder, type BatchFolder } from '../../store/batch-folders.ts';
import { openStore } from '../../store/open-store.ts';
import type { Store } from '../../store/store.ts';
import type { BatchRequest } from '../batch-request.ts';
import type { ReuseWish } from '../questions.ts';
import { notSucceeded, readSummary, retryOf, type Summary } from '../../results/summary.ts';

export type StageDefinition = Stage & {
  /** The hash of the stage's own sheet, from which the command made a batch. */
  readonly sheet?: string;
  readonly pick: boolean;
  readonly partial: boolean;
  readonly each: 'row' | 'file';
  readonly reuse: ReuseWish;
  readonly request: Omit<BatchRequest, 'again' | 'madeFor' | 'name' | 'stage'>;
  /** Counted from the creation of the batch, because a stage may begin days after the command. */
  readonly deadlineMs?: number;
};

export type PipelineFile = {
  readonly pipeline: string;
  readonly stages: readonly StageDefinition[];
  /** The words after `run` that repeat the job from any folder. */
  readonly command?: readonly string[];
  /** Tells apart pipelines of the same name in a cluster. */
  readonly mark: string;
  readonly createdAt: string;
};

export type PipelineFolder = {
  readonly file: PipelineFile;
  readonly store: Store;
  readonly folder: string;
};

const FILE = PIPELINE_FILE;
export const PAGE = 'index.html';
export const picksOf = (stage: string): string => `picks/${stage}`;
export const pickedInOf = (stage: string): string => `picked-in/${stage}`;
export const failureOf = (stage: string): string => `failures/${stage}.json`;

export const batchOfStage = (pipeline: string, stage: string): string => `${pipeline}-${stage}`;

/** The request for the batch of a stage; its call (`madeFor`) finds the batch again. */
export function requestOfStage(pipeline: string, stage: StageDefinition): BatchRequest {
  const { name, request, deadlineMs } = stage;
  return {
    ...request,
    settings: {
      ...request.settings,
      ...(deadlineMs === undefined ? {} : { deadlineAt: Date.now() + deadlineMs }),
    },
    name: batchOfStage(pipeline, name),
    madeFor: callOfStage(pipeline, name),
    stage,
    // With `again`, the batch would get another name and not be found; the answers already allow buying rows again.
    again: false,
  };
}

/** The name of the call that makes the batch of a stage. */
export const callOfStage = (pipeline: string, stage: string): string => `pipeline ${pipeline} stage ${stage}`;

/** The pipeline for which the call makes a batch; undefined for other calls. */
export const pipelineOfCall = (call: string | undefined): string | undefined =>
  /^pipeline (\S+) stage \S+$/.exec(call ?? '')?.[1];

/** The other parts of the file were checked when it was written. */
const fileSchema = z.looseObject({
  pipeline: z.string(),
  mark: z.string().regex(/^[0-9a-f]{16}$/),
  stages: z.array(z.looseObject({ name: z.string() })).min(1),
});

/** undefined if there is no such pipeline. Throws E504 for a damaged file. */
export async function openPipeline(out: string, pipeline: string): Promise<PipelineFolder | undefined> {
  const folder = locationOf(out, pipeline);
  const store = openStore(folder);
  const text = await store.read(FILE);
  if (text === undefined) return undefined;
  const read = fileSchema.safeParse(jsonIn(text));
  if (!read.success) throw problem('E504', { what: `${FILE} in ${folder} is damaged` });
  return { file: read.data as unknown as PipelineFile, store, folder };
}

/** Lists the pipelines, newest first; skips files that are damaged or of another program. */
export const listPipelines = (out: string): Promise<readonly PipelineFolder[]> =>
  listFolders(out, openPipeline, (_, error) => {
    if (!isRunsheetError(error, 'E504')) throw error;
  });

/** False if another command has written it. */
export const createPipeline = (store: Store, file: PipelineFile): Promise<boolean> =>
  store.create(FILE, textOf(file));

/** Replaces the request of the pipeline. */
export const writePipeline = (store: Store, file: PipelineFile): Promise<void> =>
  store.write(FILE, textOf(file), 'synced');

export const removePipeline = (store: Store): Promise<void> => store.remove(FILE);

const textOf = (file: PipelineFile): string => `${JSON.stringify(file, undefined, 2)}\n`;

/** Why a stage has made no batch. */
export type StageFailure = { readonly code?: string; readonly message: string };

async function readFailure(store: Store, stage: string): Promise<StageFailure | undefined> {
  const text = await store.read(failureOf(stage));
  return text === undefined ? undefined : (jsonIn(text) as StageFailure);
}

export type StageState = {
  readonly stage: StageDefinition;
  readonly batch: string;
  readonly batchFolder: BatchFolder | undefined;
  readonly summary: Summary | undefined;
  /** The summary of the stage from which this one takes its rows. */
  readonly source: Summary | undefined;
  readonly waitsFor: WaitsFor | undefined;
  readonly failure: StageFailure | undefined;
};

/** The state of each stage, in the order of the file. */
export async function stageStates(
  out: string,
  { file, store }: PipelineFolder,
): Promise<readonly StageState[]> {
  const { pipeline, stages } = file;
  const read = await Promise.all(
    stages.map(async (stage) => {
      const batch = batchOfStage(pipeline, stage.name);
      const batchFolder = await openBatchFolder(out, batch);
      const isOwn = batchFolder?.file.madeFor === callOfStage(pipeline, stage.name);
      const summary = isOwn ? await readSummary(batchFolder.store) : undefined;
      const failure = await readFailure(store, stage.name);
      const isPicked = stage.pick && (await store.exists(picksOf(stage.name)));
      return { stage, batch, batchFolder: isOwn ? batchFolder : undefined, summary, failure, isPicked };
    }),
  );
  return read.map(({ isPicked, ...state }) => {
    const { from, pick, partial, request } = state.stage;
    const takesSucceeded = request?.options.where === undefined;
    const before = read.find(({ stage }) => stage.name === from);
    const source = before && stageBatch(before);
    const facts = { batch: stageBatch(state), source, hasSource: from !== undefined };
    return {
      ...state,
      source: before?.summary,
      waitsFor: waitsFor({ ...facts, pick, isPicked, partial, takesSucceeded }),
    };
  });
}

const stageBatch = ({
  batchFolder,
  summary,
}: Pick<StageState, 'batchFolder' | 'summary'>): StageBatch | undefined =>
  batchFolder && {
    hasEnded: summary !== undefined,
    succeeded: summary?.outcomes.succeeded ?? 0,
    notSucceeded: summary === undefined ? 0 : notSucceeded(summary),
  };

/** Why a stage does not advance; '' if it does. */
export function reasonOf({ stage, failure, batchFolder, summary, waitsFor: what }: StageState): string {
  const { from = '' } = stage;
  if (failure !== undefined && summary === undefined)
    return [failure.code, failure.message].filter(Boolean).join(': ');
  if (batchFolder !== undefined) return '';
  if (what === 'source') return `after ${from}`;
  if (what === 'picks') return `for picks of ${from}`;
  return what === 'repair' ? `for the rows of ${from} that did not succeed` : '';
}

/** The command that the user has to run next; '' if the stage waits for nobody, or if a file has to be corrected first. */
export function helpFor(
  pipeline: string,
  { stage, batch, failure, batchFolder, summary, source, waitsFor: what }: StageState,
): string {
  if (failure !== undefined && batchFolder !== undefined && summary === undefined)
    return `runsheet resume ${shellWord(batch)}`;
  if (batchFolder !== undefined || failure !== undefined) return '';
  if (what === 'picks')
    return `runsheet pick ${shellWord(pipeline)} ${shellWord(stage.name)} --picks picks.csv`;
  if (what !== 'repair') return '';
  const again = source && retryOf(source);
  const words = [again === undefined ? 'rows' : 'retry', shellWord(batchOfStage(pipeline, stage.from ?? ''))];
  return ['runsheet', ...words, ...(again ? [again] : [])].join(' ');
}
