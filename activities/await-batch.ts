// Reads how a batch has ended, for the workflow that awaits it.

import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { BatchRef } from '../src/batch/batch-ref.ts';
import { problem } from '../src/errors/error.ts';
import { notSucceeded, readSummary, type Summary } from '../src/results/summary.ts';
import type { Deps } from './deps.ts';

/** The content of summary.json, with the folder; `ok`: every row succeeded. */
export type EndedBatch = Summary & { readonly folder: string; readonly ok: boolean };

/** Fails until the batch has ended, and Temporal retries it; fails for good with E508 if it ended without results. */
export async function awaitBatch(deps: Deps, ref: BatchRef): Promise<EndedBatch> {
  const { store } = await deps.open(ref);
  // In this order: a workflow that has ended wrote its summary before.
  const status = await deps.statusOf(ref);
  const summary = await readSummary(store);
  if (summary !== undefined) return { ...summary, folder: ref.folder, ok: notSucceeded(summary) === 0 };
  if (status !== undefined && status !== 'RUNNING') {
    const { code, message, hint } = problem('E508', { ...ref, status });
    throw ApplicationFailure.nonRetryable(`${code}: ${message}; ${hint}`, code);
  }
  throw ApplicationFailure.create({
    message: `batch ${ref.batch} has not ended`,
    type: 'NotEnded',
    category: ApplicationFailureCategory.BENIGN,
  });
}
