// Reads the runs of a batch from the service's run list, newest first, back to the start of the batch. The list contains all
// runs of a workflow, also of other users; the birth mark in a run's webhook shows which batch it belongs to.

import { setTimeout as wait } from 'node:timers/promises';
import type { AttemptRun } from '../batch/attempt.ts';
import type { ReadBack } from '../batch/commands.ts';
import type { RunService } from '../run-service/client.ts';
import type { Run } from '../run-service/contract/run.ts';
import type { BatchFile } from '../store/batch-file.ts';
import { readToken } from '../webhook/token.ts';
import { ListWalk, readBackTo } from './list-walk.ts';

const LIST_PAGE = 200;

/** The service has no list that shows webhooks. */
export class NoList extends Error {
  override readonly name = 'NoList';
  constructor() {
    super('the service has no list that shows webhooks');
  }
}

export type ListParams = {
  readonly service: Pick<RunService, 'listRuns' | 'nowMs'>;
  readonly workflowId: string | undefined;
  readonly back: ReadBack;
  /** Maximum tries for each page: with many pages, a short fault of the service is likely to hit one. */
  readonly tries: number;
  readonly signal?: AbortSignal;
  /** Called if the list ends without older runs: whether it has shown all known runs. */
  readonly isWhole?: () => boolean;
};

/** Every page, newest runs first. A run may appear twice. Throws {@link NoList}, and the service's error after all tries. */
export async function* listRuns(params: ListParams): AsyncGenerator<readonly Run[]> {
  const { service, workflowId, back } = params;
  if (workflowId === undefined) throw new NoList();
  let walk: ListWalk | undefined;
  for (;;) {
    params.signal?.throwIfAborted();
    const page = await readPage(params, workflowId, walk?.offset ?? 0);
    walk ??= new ListWalk(readBackTo(service.nowMs() ?? Date.now(), back));
    yield page;
    const walked = walk.take(page);
    if (walked === 'ended' && params.isWhole?.() === false) throw new Error(CUT_OFF);
    if (walked !== 'more') return;
  }
}

const CUT_OFF = 'the run list ends although more runs of the batch are known';

const AGAIN_MS = 500;
const AGAIN_MOST_MS = 15_000;

async function readPage(
  { service, tries, signal }: ListParams,
  workflowId: string,
  offset: number,
): Promise<readonly Run[]> {
  for (let tried = 1; ; tried += 1) {
    try {
      const page = await service.listRuns(workflowId, { limit: LIST_PAGE, offset });
      if (page !== undefined) return page;
      // A list that has returned pages exists, so this is a temporary fault.
      if (offset === 0) throw new NoList();
      throw new Error('the run list is no longer available');
    } catch (error) {
      if (error instanceof NoList || tried >= tries) throw error;
      const pauseMs = Math.min(AGAIN_MOST_MS, AGAIN_MS * 2 ** (tried - 1));
      await wait(pauseMs, undefined, signal === undefined ? {} : { signal });
    }
  }
}

export type OwnRun = AttemptRun & { readonly run: Run };

const RUN_ID = /^[\da-f-]{1,40}$/i;

/** The run with the attempt from its token; empty if the run has no token of this batch. */
export function ownRun({ batch, mark }: Pick<BatchFile, 'batch' | 'mark'>, run: Run): readonly OwnRun[] {
  const token = readToken(run.webhook);
  const isOwn = token?.batch === batch && token.mark === mark && RUN_ID.test(run.id);
  return isOwn ? [{ run, place: token.place, attempt: token.attempt, runId: run.id }] : [];
}

/** Every run of a batch. A run may appear twice. */
export async function* ownRuns(
  file: Pick<BatchFile, 'batch' | 'mark'>,
  params: ListParams,
): AsyncGenerator<OwnRun> {
  for await (const page of listRuns(params)) yield* page.flatMap((run) => ownRun(file, run));
}
