// Loads a batch for its workflow: its parameters, and the capabilities of the service.

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
    throw permanentFailure(error);
  });

async function load(deps: Deps, ref: BatchRef): Promise<LoadedBatch> {
  const open = await deps.open(ref);
  const { file, store, service } = open;
  const lists = await hasLists(open);
  const serviceNowMs = service.nowMs();
  const time = serviceNowMs === undefined ? {} : { serviceNowMs };
  // The file is written before anything is sent, so a folder without it never bought a run.
  const own = { at: new Date().toISOString(), ...time, workflow: executionOf() };
  if (!(await createStarted(store, own))) await assertSameExecution(open, own.workflow);
  const webhooks = file.webhooks && deps.webhooks.receiver(file) !== undefined;
  return { params: paramsOf(file, { webhooks, lists, pass: FIRST_PASS }), ...time };
}

function executionOf(): { readonly workflowId: string; readonly runId: string } {
  const { workflowId = '', runId = '' } = activityInfo().workflowExecution ?? {};
  return { workflowId, runId };
}

/** A second start of the same batch would buy every row a second time. */
async function assertSameExecution(
  { file: { batch }, store }: OpenBatch,
  own: ReturnType<typeof executionOf>,
): Promise<void> {
  const before = await readStarted(store);
  const isOwn = before?.workflow.workflowId === own.workflowId && before.workflow.runId === own.runId;
  if (!isOwn) throw problem('E515', { batch, folder: store.location });
}

const PERMANENT: ReadonlySet<string> = new Set(['E411', 'E515']);

/** Makes permanent errors non-retryable; nothing has been sent at this point. */
function permanentFailure(error: unknown): unknown {
  if (!(error instanceof RunsheetError) || !PERMANENT.has(error.code)) return error;
  const { code, message, hint } = error;
  return ApplicationFailure.nonRetryable(`${code}: ${message}; ${hint}`, code);
}

/** Tries a list call, because the published API does not include run lists. */
async function hasLists({ file, service }: OpenBatch): Promise<boolean> {
  const { workflowId } = file.deployment;
  return (
    workflowId !== undefined && (await service.listRuns(workflowId, { limit: 1, offset: 0 })) !== undefined
  );
}
