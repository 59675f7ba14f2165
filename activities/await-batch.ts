// Reads the end of a batch for a workflow that awaits it.

import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { BatchRef } from '../src/batch/workflow-ids.ts';
import { problem, RunsheetError } from '../src/errors/error.ts';
import {
  notSucceeded,
  readLatestSummary,
  readSummary,
  summarizedPass,
  type Summary,
} from '../src/results/summary.ts';
import { readContinued } from '../src/store/passes.ts';
import type { Deps } from './deps.ts';
import { finalFailure } from './activity-failures.ts';

/** The content of summary.json, with the folder; `ok`: every row succeeded. */
export type EndedBatch = Summary & { readonly folder: string; readonly ok: boolean };

/** Errors that say that there is no such batch, or none that this worker may read. */
const FINAL: ReadonlySet<string> = new Set(['E411', 'E502', 'E504', 'E514']);

/**
 * Fails until the batch has ended, so that Temporal retries it. Once no workflow runs the batch, nothing will write
 * its results: then it fails for good with E411 or E504 if the folder cannot be read, with E508 if there are no
 * results, and with E503 if Temporal has forgotten the batch as well.
 */
export async function awaitBatch(deps: Deps, ref: BatchRef): Promise<EndedBatch> {
  // The status is read first: a workflow that has ended wrote its summary before.
  const status = await deps.statusOf(ref);
  const summary = await summaryAt(deps, ref, status === 'RUNNING').catch((error: unknown) => {
    // A batch that runs waits for its folder as well, which may be on a disk that is away.
    const isFinal = status !== 'RUNNING' && error instanceof RunsheetError && FINAL.has(error.code);
    throw isFinal ? finalFailure(error) : error;
  });
  if (summary !== undefined) return { ...summary, folder: ref.folder, ok: notSucceeded(summary) === 0 };
  // A pass may have been started since.
  const now = status === 'RUNNING' ? status : await deps.statusOf(ref);
  if (now === undefined) throw finalFailure(problem('E503', ref));
  if (now !== 'RUNNING' && now === status) throw finalFailure(problem('E508', { ...ref, status }));
  throw ApplicationFailure.create({
    message: `batch ${ref.batch} has not ended`,
    type: 'NotEnded',
    category: ApplicationFailureCategory.BENIGN,
  });
}

/** A pass that a command added, and that no workflow has begun, does not undo the end before it. */
async function summaryAt(deps: Deps, ref: BatchRef, isRunning: boolean): Promise<Summary | undefined> {
  const { store } = await deps.open(ref);
  const summary = await readSummary(store);
  if (summary !== undefined || isRunning) return summary;
  const ended = await summarizedPass(store);
  const isContinued = ended === undefined || (await readContinued(store, ended)) !== undefined;
  return isContinued ? undefined : readLatestSummary(store);
}
