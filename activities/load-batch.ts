// Opens a batch for its workflow: its parameters, and what the service can do.

import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { BatchParams } from '../src/batch/params.ts';
import { problem, RunsheetError } from '../src/errors/error.ts';
import { createStarted, paramsOf, readStarted } from '../src/store/batch-file.ts';
import type { Deps, OpenBatch } from './deps.ts';
import type { BatchRef } from '../src/batch/batch-ref.ts';

export type LoadedBatch = { readonly params: BatchParams; readonly serviceNowMs?: number };

const FIRST_PASS = 1;

export const loadBatch = (deps: Deps, ref: BatchRef): Promise<LoadedBatch> =>
  load(deps, ref).catch((error: unknown) => {
    throw refusedForGood(error);
  });

async function load(deps: Deps, ref: BatchRef): Promise<LoadedBatch> {
  const open = await deps.open(ref);
  const { file, store, service } = open;
  const lists = await hasLists(open);
  const serviceNowMs = service.nowMs();
  const time = serviceNowMs === undefined ? {} : { serviceNowMs };
  // The file comes before anything can be sent: a folder without it never bought a run.
  const own = { at: new Date().toISOString(), ...time, workflow: executionOf() };
  if (!(await createStarted(store, own))) await refuseOther(open, own.workflow);
  const webhooks = file.webhooks && deps.webhooks.receiver(file) !== undefined;
  return { params: paramsOf(file, { webhooks, lists, pass: FIRST_PASS }), ...time };
}

function executionOf(): { readonly workflowId: string; readonly runId: string } {
  const { workflowId = '', runId = '' } = activityInfo().workflowExecution ?? {};
  return { workflowId, runId };
}

/** A start that repeats an earlier one of the batch would buy every row a second time. */
async function refuseOther(
  { file: { batch }, store }: OpenBatch,
  own: ReturnType<typeof executionOf>,
): Promise<void> {
  const before = await readStarted(store);
  const isOwn = before?.workflow.workflowId === own.workflowId && before.workflow.runId === own.runId;
  if (!isOwn) throw problem('E515', { batch, folder: store.location });
}

const FOR_GOOD: ReadonlySet<string> = new Set(['E411', 'E515']);

/** Nothing was sent yet, and another try would be refused as well. */
function refusedForGood(error: unknown): unknown {
  if (!(error instanceof RunsheetError) || !FOR_GOOD.has(error.code)) return error;
  const { code, message, hint } = error;
  return ApplicationFailure.nonRetryable(`${code}: ${message}; ${hint}`, code);
}

/** Found by asking: the published interface does not have the lists. */
async function hasLists({ file, service }: OpenBatch): Promise<boolean> {
  const { workflowId } = file.deployment;
  return (
    workflowId !== undefined && (await service.listRuns(workflowId, { limit: 1, offset: 0 })) !== undefined
  );
}
