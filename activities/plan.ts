// Opens a batch for its workflow: what the frozen order asks for, and what the service can do.

import { activityInfo } from '@temporalio/activity';
import { STARTED_FILE } from '../src/store/batch-file.ts';
import type { Order } from '../src/batch/order.ts';
import type { BatchPlace, Hands, OpenBatch } from './hands.ts';

export async function plan(hands: Hands, place: BatchPlace): Promise<Order> {
  const open = await hands.open(place);
  const { file, store } = open;
  // The mark comes before anything can be sent: a folder without it never bought a run.
  if (!(await store.exists(STARTED_FILE))) await store.write(STARTED_FILE, startedText());
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

function startedText(): string {
  const { workflowExecution } = activityInfo();
  return `${JSON.stringify({ at: new Date().toISOString(), workflow: workflowExecution })}\n`;
}

/** Found by asking: the published interface does not have the lists. */
async function hasLists({ file, service }: OpenBatch): Promise<boolean> {
  const { workflowId } = file.deployment;
  return (
    workflowId !== undefined && (await service.listRuns(workflowId, { limit: 1, offset: 0 })) !== undefined
  );
}
