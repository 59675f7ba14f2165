// The folder of a pipeline, beside those of its batches. Everything that a pipeline needs to continue is in it or in its batches.
//
//   poster/pipeline.json        what it was asked for
//   poster/picks/finals         the rows that the user has picked for a stage
//   poster/picked-in/finals     the folder in which their cells name files
//   poster/failures/finals.json why a stage made no batch
//   poster/index.html           its page

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
  /** The hash of its own sheet, which the command has made a batch of. */
  readonly sheet?: string;
  readonly pick: boolean;
  readonly partial: boolean;
  readonly each: 'row' | 'file';
  readonly reuse: ReuseWish;
  readonly request: Omit<BatchRequest, 'again' | 'madeFor' | 'name' | 'stage'>;
  /** It counts from when the batch is made: a stage may begin days after the command. */
  readonly deadlineMs?: number;
};

export type PipelineFile = {
  readonly pipeline: string;
  readonly stages: readonly StageDefinition[];
  /** The words after `run` that give its job again, from any folder. */
  readonly command?: readonly string[];
  /** Separates pipelines of one name in a cluster. */
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

/** What the batch of a stage is asked for; the call finds it again. */
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
    // A new batch beside one that has the name would not be found; the answers say that its rows are bought again.
    again: false,
  };
}

/** The name of the call that makes the batch of a stage. */
export const callOfStage = (pipeline: string, stage: string): string => `pipeline ${pipeline} stage ${stage}`;

/** The name of the pipeline that the call makes a batch for; undefined for all other calls. */
export const pipelineOfCall = (call: string | undefined): string | undefined =>
  /^pipeline (\S+) stage \S+$/.exec(call ?? '')?.[1];

/** Its other parts were checked when it was written. */
const fileSchema = z.looseObject({
  pipeline: z.string(),
  mark: z.string().regex(/^[0-9a-f]{16}$/),
  stages: z.array(z.looseObject({ name: z.string() })).min(1),
});

/** undefined if there is no such pipeline. Throws E504 for a file that is none. */
export async function openPipeline(out: string, pipeline: string): Promise<PipelineFolder | undefined> {
  const folder = locationOf(out, pipeline);
  const store = openStore(folder);
  const text = await store.read(FILE);
  if (text === undefined) return undefined;
  const read = fileSchema.safeParse(jsonIn(text));
  if (!read.success) throw problem('E504', { what: `${FILE} in ${folder} is damaged` });
  return { file: read.data as unknown as PipelineFile, store, folder };
}

/** All pipelines, newest first, without those whose file is damaged or of another program. */
export const listPipelines = (out: string): Promise<readonly PipelineFolder[]> =>
  listFolders(out, openPipeline, (_, error) => {
    if (!isRunsheetError(error, 'E504')) throw error;
  });

/** False if another command has written it. */
export const createPipeline = (store: Store, file: PipelineFile): Promise<boolean> =>
  store.create(FILE, textOf(file));

/** Writes what it is asked for, instead of what it was asked for before. */
export const writePipeline = (store: Store, file: PipelineFile): Promise<void> =>
  store.write(FILE, textOf(file), 'synced');

export const removePipeline = (store: Store): Promise<void> => store.remove(FILE);

const textOf = (file: PipelineFile): string => `${JSON.stringify(file, undefined, 2)}\n`;

/** Why the stage has made no batch. */
export type StageFailure = { readonly code?: string; readonly message: string };

async function readFailure(store: Store, stage: string): Promise<StageFailure | undefined> {
  const text = await store.read(failureOf(stage));
  return text === undefined ? undefined : (jsonIn(text) as StageFailure);
}

export type StageState = {
  readonly stage: StageDefinition;
  readonly batch: string;
  readonly found: BatchFolder | undefined;
  readonly summary: Summary | undefined;
  /** Of the stage that it is from. */
  readonly source: Summary | undefined;
  readonly waitsFor: WaitsFor | undefined;
  readonly failure: StageFailure | undefined;
};

/** In the order of the stages. */
export async function stageStates(
  out: string,
  { file, store }: PipelineFolder,
): Promise<readonly StageState[]> {
  const { pipeline, stages } = file;
  const read = await Promise.all(
    stages.map(async (stage) => {
      const batch = batchOfStage(pipeline, stage.name);
      const found = await openBatchFolder(out, batch);
      const isOwn = found?.file.madeFor === callOfStage(pipeline, stage.name);
      const summary = isOwn ? await readSummary(found.store) : undefined;
      const failure = await readFailure(store, stage.name);
      const isPicked = stage.pick && (await store.exists(picksOf(stage.name)));
      return { stage, batch, found: isOwn ? found : undefined, summary, failure, isPicked };
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

const stageBatch = ({ found, summary }: Pick<StageState, 'found' | 'summary'>): StageBatch | undefined =>
  found && {
    hasEnded: summary !== undefined,
    succeeded: summary?.outcomes.succeeded ?? 0,
    notSucceeded: summary === undefined ? 0 : notSucceeded(summary),
  };

/** Why a stage does not advance; '' if it does. */
export function reasonOf({ stage, failure, found, summary, waitsFor: what }: StageState): string {
  const { from = '' } = stage;
  if (failure !== undefined && summary === undefined)
    return [failure.code, failure.message].filter(Boolean).join(': ');
  if (found !== undefined) return '';
  if (what === 'source') return `after ${from}`;
  if (what === 'picks') return `for picks of ${from}`;
  return what === 'repair' ? `for the rows of ${from} that did not succeed` : '';
}

/** The command that helps where a stage waits for the user; '' if it does not, or if its file has to be corrected first. */
export function helpFor(
  pipeline: string,
  { stage, batch, failure, found, summary, source, waitsFor: what }: StageState,
): string {
  if (failure !== undefined && found !== undefined && summary === undefined)
    return `runsheet resume ${shellWord(batch)}`;
  if (found !== undefined || failure !== undefined) return '';
  if (what === 'picks')
    return `runsheet pick ${shellWord(pipeline)} ${shellWord(stage.name)} --picks picks.csv`;
  if (what !== 'repair') return '';
  const again = source && retryOf(source);
  const words = [again === undefined ? 'rows' : 'retry', shellWord(batchOfStage(pipeline, stage.from ?? ''))];
  return ['runsheet', ...words, ...(again ? [again] : [])].join(' ');
}
