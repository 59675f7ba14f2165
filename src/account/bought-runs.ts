// The runs of a batch as the service's lists show them, newest first, back to its beginning.

import type { RunService } from '../run-service/client.ts';
import type { Run } from '../run-service/contract/run.ts';
import type { BatchFile } from '../store/batch-file.ts';
import { readToken } from '../webhook/token.ts';

const LIST_PAGE = 500;

/** The service has no list that shows webhooks. */
export class NoList extends Error {
  override readonly name = 'NoList';
  constructor() {
    super('the service has no list that shows webhooks');
  }
}

export type ListOrder = {
  readonly file: Pick<BatchFile, 'batch' | 'deployment' | 'service'>;
  readonly service: Pick<RunService, 'listRuns'>;
  /** When the batch began, in milliseconds since 1970. */
  readonly since: number;
};

/** A run may come twice, because the list moves while it is read. Throws {@link NoList}. */
export async function* boughtRuns({ file, service, since }: ListOrder): AsyncGenerator<Bought> {
  const { workflowId } = file.deployment;
  if (workflowId === undefined) throw new NoList();
  let oldest = since - file.service.timing.skewMs;
  for (let offset = 0; ; offset += LIST_PAGE) {
    const page = await service.listRuns(workflowId, { limit: LIST_PAGE, offset });
    if (page === undefined) throw new NoList();
    if (offset === 0) oldest -= behindMs(page, Date.now());
    yield* page.flatMap((run) => boughtBy(file.batch, run));
    if (page.length < LIST_PAGE || page.some((run) => (run.createdAtMs ?? oldest) < oldest)) return;
  }
}

/** By how much the service's clock may be behind at the most: no run is younger than the newest one of its list. */
export const behindMs = (newestFirst: readonly Run[], now: number): number =>
  Math.max(0, now - Math.max(...newestFirst.map(({ createdAtMs }) => createdAtMs ?? now), 0));

export type Bought = { readonly run: Run; readonly row: number; readonly attempt: number };

function boughtBy(batch: string, run: Run): readonly Bought[] {
  const token = readToken(run.webhook);
  return token?.batch === batch ? [{ run, row: token.row, attempt: token.attempt }] : [];
}
