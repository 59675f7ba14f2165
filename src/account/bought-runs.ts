// The runs of a batch as the service's lists show them, newest first, back to its beginning.

import type { RunService } from '../run-service/client.ts';
import type { Run } from '../run-service/contract/run.ts';
import type { BatchFile } from '../store/batch-file.ts';
import { readToken } from '../webhook/token.ts';
import { runPages } from './run-pages.ts';

const LIST_PAGE = 500;

export type BoughtOrder = {
  readonly file: Pick<BatchFile, 'batch' | 'deployment' | 'service'>;
  readonly service: Pick<RunService, 'listRuns'>;
  /** When the batch began, in milliseconds since 1970. */
  readonly since: number;
};

export type Bought = { readonly run: Run; readonly row: number; readonly attempt: number };

/** A run may come twice. Throws NoList. */
export async function* boughtRuns(order: BoughtOrder): AsyncGenerator<Bought> {
  const { batch, deployment } = order.file;
  for await (const page of runPages({ ...order, workflowId: deployment.workflowId }, LIST_PAGE))
    yield* page.flatMap((run) => boughtBy(batch, run));
}

/** The run with the attempt whose token it carries; none where that is of another batch. */
export function boughtBy(batch: string, run: Run): readonly Bought[] {
  const token = readToken(run.webhook);
  return token?.batch === batch ? [{ run, row: token.row, attempt: token.attempt }] : [];
}
