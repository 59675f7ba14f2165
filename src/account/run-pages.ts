// The run list of a workflow, page by page, newest first, back to a moment.

import type { RunService } from '../run-service/client.ts';
import type { Run } from '../run-service/contract/run.ts';
import type { BatchFile } from '../store/batch-file.ts';

/** The service has no list that shows webhooks. */
export class NoList extends Error {
  override readonly name = 'NoList';
  constructor() {
    super('the service has no list that shows webhooks');
  }
}

export type ListOrder = {
  readonly file: Pick<BatchFile, 'batch' | 'service'>;
  readonly service: Pick<RunService, 'listRuns'>;
  readonly workflowId: string | undefined;
  /** What was created before this, in milliseconds since 1970, need not be listed. */
  readonly since: number;
};

/** A run may come twice, because the list moves while it is read. Throws {@link NoList}. */
export async function* runPages(
  { file, service, workflowId, since }: ListOrder,
  limit: number,
): AsyncGenerator<readonly Run[]> {
  if (workflowId === undefined) throw new NoList();
  let oldest = since - file.service.timing.skewMs;
  for (let offset = 0; ; offset += limit) {
    const page = await service.listRuns(workflowId, { limit, offset });
    if (page === undefined) throw new NoList();
    if (offset === 0) oldest -= behindMs(page, Date.now());
    yield page;
    // A page that reaches back far enough, or is not full, is the last that can matter.
    if (page.length < limit || page.some((run) => (run.createdAtMs ?? oldest) < oldest)) return;
  }
}

/** By how much the service's clock may be behind at the most: no run is younger than the newest one of its list. */
const behindMs = (newestFirst: readonly Run[], now: number): number =>
  Math.max(0, now - Math.max(...newestFirst.map(({ createdAtMs }) => createdAtMs ?? now), 0));
