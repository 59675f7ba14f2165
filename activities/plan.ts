// Opens a batch for its workflow: what the frozen order asks for, and what the service can do.

import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Order } from '../src/batch/order.ts';
import { RunsheetError, problem } from '../src/errors.ts';
import { readStarted, writeStarted } from '../src/store/batch-file.ts';
import type { Store } from '../src/store/store.ts';
import type { BatchPlace, Hands, OpenBatch } from './hands.ts';

export async function plan(hands: Hands, place: BatchPlace): Promise<Order> {
  const open = await hands.open(place).catch(refused);
  const { file, store } = open;
  // The mark comes before anything can be sent: a folder without it never bought a run.
  await leaveMark(store, place);
  return {
    batch: file.batch,
    rows: file.sheet.rows,
    cap: file.cap,
    retries: file.retries,
    webhooks: file.webhooks && hands.webhooks.receiver() !== undefined,
    lists: await hasLists(open),
    uncertain: file.uncertain,
    seed: file.seed,
    timing: file.service.timing,
  };
}

/** A start that repeats an earlier one of the same batch would send its rows again. */
async function leaveMark(store: Store, { batch, folder }: BatchPlace): Promise<void> {
  const { workflowExecution: own } = activityInfo();
  const begun = await readStarted(store);
  if (begun === undefined && own !== undefined) return writeStarted(store, own);
  if (begun?.workflowId !== own?.workflowId || begun?.runId !== own?.runId)
    refused(problem('E515', { batch, folder }));
}

const FOR_GOOD: ReadonlySet<string> = new Set(['E411', 'E515']);

/** Nothing was sent yet, and another try would be refused as well. */
function refused(error: unknown): never {
  if (!(error instanceof RunsheetError) || !FOR_GOOD.has(error.code)) throw error;
  const { code, message, hint } = error;
  throw ApplicationFailure.nonRetryable(`${code}: ${message}; ${hint}`, code);
}

/** Found by asking: the published interface does not have the lists. */
async function hasLists({ file, service }: OpenBatch): Promise<boolean> {
  const { workflowId } = file.deployment;
  return (
    workflowId !== undefined && (await service.listRuns(workflowId, { limit: 1, offset: 0 })) !== undefined
  );
}
