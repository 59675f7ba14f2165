// How far the stages of a pipeline are, by its folder and those of its batches: nothing else keeps it.

import { waitsFor, type StageBatch, type WaitsFor } from '../../batch/pipeline/stages.ts';
import { notSucceeded, readSummary, retryOf, type Summary } from '../../results/summary.ts';
import { shellWord } from '../../errors/outside-text.ts';
import { openBatchFolder, type BatchFolder } from '../../store/batch-folders.ts';
import {
  batchOfStage,
  callOfStage,
  picksOf,
  readFailure,
  type PipelineFolder,
  type StageDefinition,
  type StageFailure,
} from './pipeline-file.ts';

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
