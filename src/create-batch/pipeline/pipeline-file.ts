// The folder of a pipeline, beside those of its batches. Everything that a pipeline needs to continue is in it or in its batches.
//
//   poster/pipeline.json        what it was asked for
//   poster/picks/finals         the rows that the user has picked for a stage
//   poster/picked-in/finals     the folder in which their cells name files
//   poster/failures/finals.json why a stage made no batch
//   poster/index.html           its page

import { z } from 'zod';
import { jsonIn } from '../../errors/outside-text.ts';
import type { Stage } from '../../batch/pipeline/stages.ts';
import { isRunsheetError, problem } from '../../errors/error.ts';
import { PIPELINE_FILE } from '../../store/batch-file.ts';
import { listFolders, locationOf } from '../../store/batch-folders.ts';
import { openStore } from '../../store/open-store.ts';
import type { Store } from '../../store/store.ts';
import type { BatchRequest } from '../batch-request.ts';
import type { ReuseWish } from '../questions.ts';

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

export async function readFailure(store: Store, stage: string): Promise<StageFailure | undefined> {
  const text = await store.read(failureOf(stage));
  return text === undefined ? undefined : (jsonIn(text) as StageFailure);
}
