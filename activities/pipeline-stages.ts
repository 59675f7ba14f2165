// The activities of a pipeline's workflow: they check whether a stage may begin, make its batch, and show the
// progress of all stages. A stage has one batch, which a retry finds again.

import { mkdtempDisposable } from 'node:fs/promises';
import { createWriteStream } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline as piped } from 'node:stream/promises';
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { BatchRef } from '../src/batch/workflow-ids.ts';
import type { BatchCall } from '../src/batches/create-once.ts';
import {
  batchOfStage,
  callOfStage,
  failureOf,
  openPipeline,
  PAGE,
  pickedInOf,
  picksOf,
  pipelineOfCall,
  requestOfStage,
  type PipelineFolder,
  type StageDefinition,
  type StageFailure,
  helpFor,
  reasonOf,
  stageStates,
  type StageState,
} from '../src/batches/pipeline/pipeline-folder.ts';
import { pipelinePage, type PipelineStage } from '../src/results/page/pipeline-page.ts';
import { errorMessage, isRunsheetError, problem } from '../src/errors/error.ts';
import { definedOnly } from '../src/options/defined-only.ts';
import { LOCAL } from '../src/host/local-address.ts';
import type { BatchFile } from '../src/store/batch-file.ts';
import { openBatchFolder } from '../src/store/batch-folders.ts';
import { createFrom, type NewBatch } from './create-batch.ts';
import { refuseElsewhere } from './create-firing.ts';
import type { Deps } from './deps.ts';
import { finalFailure } from './activity-failures.ts';

type PipelineRef = { readonly pipeline: string; readonly folder: string; readonly mark?: string };
type StageRef = PipelineRef & { readonly stage: string };
type StageDeps = Pick<Deps, 'log' | 'maker'>;

/** Fails until the stage may begin, and Temporal retries it. */
export async function awaitStage(deps: StageDeps, { stage, ...ref }: StageRef): Promise<void> {
  // An earlier try may have failed.
  await (await pipelineAt(deps, ref)).store.remove(failureOf(stage));
  refuseWaiting(await showStages(deps, ref), stage);
}

/** Throws a failure that Temporal retries. */
function refuseWaiting(states: readonly StageState[], stage: string): void {
  const waiting = states.find((state) => state.stage.name === stage)?.waitsFor;
  if (waiting === undefined) return;
  throw ApplicationFailure.create({
    message: `stage ${stage} waits for ${waiting}`,
    type: 'StageWaits',
    category: ApplicationFailureCategory.BENIGN,
  });
}

/** Fails permanently, with the code of the error, if another attempt would not help. */
export async function createStage(
  deps: StageDeps,
  { stage: name, findOnly, ...ref }: StageRef & { readonly findOnly?: true },
): Promise<NewBatch | undefined> {
  const opened = await pipelineAt(deps, ref);
  const stage = opened.file.stages.find((candidate) => candidate.name === name);
  if (stage === undefined)
    throw finalFailure(problem('E504', { what: `pipeline ${ref.pipeline} has no stage ${name}` }));
  await opened.store.remove(failureOf(name));
  // Rows of its source may have been added or sent again since the stage was checked.
  if (findOnly !== true) refuseWaiting(await stageStates(dirname(ref.folder), opened), name);
  const { base, api } = stage.request.service;
  refuseElsewhere(deps.maker.config, ref.folder, base);
  const ofStage = base === LOCAL ? {} : { apiUrl: base, api };
  const config = { ...deps.maker.config, out: dirname(ref.folder), ...ofStage };
  await using picked = await mkdtempDisposable(join(tmpdir(), 'runsheet-picks-'));
  const within = deps.maker.isEmbedded ? undefined : config;
  const call = await callFor({ out: config.out, within, folder: picked.path }, opened, stage);
  const only = findOnly === true || stage.from === undefined ? { findOnly: true as const } : {};
  const maker = { ...deps.maker, config };
  const made = await createFrom({ log: deps.log, maker }, call.sheet, () => ({ ...call, ...only }));
  if (made === undefined && findOnly !== true)
    throw finalFailure(problem('E504', { what: `batch ${call.sheet} is not in ${config.out}` }));
  await showStages(deps, ref);
  return made;
}

type StagePlace = {
  readonly out: string;
  /** The folders in which a worker may read files that rows name. */
  readonly within: BatchFrom['within'];
  /** The folder of the picks. */
  readonly folder: string;
};
type BatchFrom = NonNullable<BatchCall['from']>;

async function callFor(
  { out, within, folder }: StagePlace,
  { file: { pipeline }, store }: PipelineFolder,
  stage: StageDefinition,
): Promise<BatchCall> {
  const { name, from, pick, each, reuse } = stage;
  const { service, ...wanted } = requestOfStage(pipeline, stage);
  const batch = batchOfStage(pipeline, name);
  const sourceBatch =
    from === undefined ? undefined : await openBatchFolder(out, batchOfStage(pipeline, from));
  const pickedIn = pick ? await store.read(pickedInOf(name)) : undefined;
  const picks = pick ? definedOnly({ path: join(folder, 'picks'), folder: pickedIn }) : undefined;
  if (picks !== undefined) await piped(store.open(picksOf(name)), createWriteStream(picks.path));
  return {
    sheet: batch,
    callId: callOfStage(pipeline, name),
    request: { ...wanted, answers: { elsewhere: 'again', lowBudget: 'accept', ...wanted.answers } },
    reuse,
    ...(service.base === LOCAL ? { service: LOCAL } : {}),
    // A pipeline is a job.
    ...(sourceBatch && {
      from: definedOnly({ batchFolder: sourceBatch, each, picks, within, isJobs: true }),
    }),
  };
}

/** Wakes the pipeline of the batch, whose stages may wait for its rows. If that fails, they look later. */
export async function wakePipeline(
  deps: Pick<Deps, 'wakePipeline' | 'log'>,
  { batch, folder }: BatchRef,
  { madeFor }: Pick<BatchFile, 'madeFor'>,
): Promise<void> {
  const pipeline = pipelineOfCall(madeFor);
  if (pipeline === undefined) return;
  try {
    const opened = await openPipeline(dirname(folder), pipeline);
    if (opened !== undefined) await deps.wakePipeline(opened.file);
  } catch (error) {
    deps.log.warn(
      { batch, pipeline, error: errorMessage(error) },
      'the end could not be signalled to the pipeline',
    );
  }
}

/** Stores the reason why a stage has made no batch, and writes the page of the pipeline. */
export async function showPipeline(
  deps: StageDeps,
  { failed, ...ref }: PipelineRef & { readonly failed?: StageFailure & { readonly stage: string } },
): Promise<void> {
  try {
    if (failed !== undefined) {
      const { stage, code, message } = failed;
      const { store } = await pipelineAt(deps, ref);
      await store.write(failureOf(stage), `${JSON.stringify({ code, message })}\n`);
    }
    await showStages(deps, ref);
  } catch (error) {
    // A page that cannot be written does not keep a pipeline from its end: its folder is gone, or has taken no write
    // for some minutes.
    const isFinal = error instanceof ApplicationFailure && error.nonRetryable === true;
    if (!isFinal && activityInfo().attempt < SHOW_TRIES) throw error;
    deps.log.warn({ ...ref, error: errorMessage(error) }, 'the pipeline could not be shown');
  }
}

/** How many tries the page gets: with the waits between them, about five minutes. */
const SHOW_TRIES = 12;

/** Writes the page if a stage has changed. */
async function showStages(deps: StageDeps, ref: PipelineRef): Promise<readonly StageState[]> {
  const opened = await pipelineAt(deps, ref);
  const states = await stageStates(dirname(ref.folder), opened);
  const stages = states.map((state) => pageStage(ref.pipeline, state));
  const page = await pipelinePage(ref.pipeline, stages, await opened.store.read(PAGE));
  if (page !== undefined) await opened.store.write(PAGE, page);
  return states;
}

function pageStage(pipeline: string, state: StageState): PipelineStage {
  const { stage, batchFolder: batch, summary, failure } = state;
  const word =
    summary !== undefined
      ? 'finished'
      : failure !== undefined
        ? 'failed'
        : batch !== undefined
          ? 'running'
          : state.waitsFor === undefined
            ? 'starting'
            : 'waiting';
  return {
    name: stage.name,
    deployment: stage.request.deployment,
    state: word,
    reason: reasonOf(state),
    help: helpFor(pipeline, state),
    batch: batch && state.batch,
    rows: summary?.rows ?? batch?.file.sheet.rows,
    outcomes: summary?.outcomes,
    costUsd: summary?.total_cost_usd ?? undefined,
  };
}

async function pipelineAt(
  { maker }: Pick<Deps, 'maker'>,
  { pipeline, folder, mark }: PipelineRef,
): Promise<PipelineFolder> {
  refuseElsewhere(maker.config, folder, LOCAL);
  const opened = await openPipeline(dirname(folder), pipeline).catch((error: unknown) => {
    // Retrying does not repair a damaged file.
    throw isRunsheetError(error, 'E504') ? finalFailure(error) : error;
  });
  // The folder was removed, and nothing brings it back.
  if (opened === undefined)
    throw finalFailure(problem('E504', { what: `there is no pipeline.json in ${folder}` }));
  if (mark !== undefined && mark !== opened.file.mark)
    throw finalFailure(problem('E504', { what: `${folder} has another pipeline of this name` }));
  return opened;
}
