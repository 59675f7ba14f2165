// Temporal's id for the workflow of a batch: its name and its birth mark, so that batches of one name in two places of one
// cluster do not meet, and neither do a batch that was cleaned and its successor.

import type { BatchName } from '../batch/batch-ref.ts';

export const workflowIdOf = ({ batch, mark }: BatchName): string => `runsheet:${batch}~${mark}`;

/** The batch behind a workflow id; undefined for other workflows. */
export function batchNameOf(workflowId: string): BatchName | undefined {
  const [, batch, mark] = /^runsheet:(.+)~([0-9a-f]{16})$/.exec(workflowId) ?? [];
  return batch === undefined || mark === undefined ? undefined : { batch, mark };
}
