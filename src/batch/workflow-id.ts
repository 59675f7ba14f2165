// The workflow id of a batch: its name and its birth mark. The mark separates batches of the same name in one cluster, and a
// cleaned batch from its successor.

import type { BatchName } from './batch-ref.ts';

export const workflowIdOf = ({ batch, mark }: BatchName): string => `runsheet:${batch}~${mark}`;

/** The batch behind a workflow id; undefined for other workflows. */
export function batchNameOf(workflowId: string): BatchName | undefined {
  const [, batch, mark] = /^runsheet:(.+)~([0-9a-f]{16})$/.exec(workflowId) ?? [];
  return batch === undefined || mark === undefined ? undefined : { batch, mark };
}
