// Reads the runs of a batch from the service's run list, newest first, back to the start of the batch. The list
// contains all runs of a workflow, including those of other users; the birth mark in a run's webhook shows its batch.

import { setTimeout as wait } from 'node:timers/promises';
import { withCallSignal } from '../host/call-signal.ts';
import type { AttemptRun } from '../batch/outcome.ts';
import type { ReadBack } from '../batch/commands.ts';
import type { RunService } from '../service-client/client.ts';
import type { Run } from '../service-client/contract/run.ts';
import type { BatchFile } from '../store/batch-file.ts';
import { readToken } from '../webhook/webhook-token.ts';
import type { ListReach } from './list-reach.ts';
import { ListWalk } from './list-walk.ts';

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
  /** Takes each run of the list. */
  readonly reach: Pick<ListReach, 'add'>;
  /** Maximum tries for each page: with many pages, a short fault of the service is likely to hit one. */
  readonly tries: number;
  readonly signal?: AbortSignal;
  /** Called if the list ends without older runs; returns whether it has shown all known runs. */
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
    for (const run of page) params.reach.add(run);
    yield page;
    const walked = walk.take(page);
    if (walked === 'ended' && params.isWhole?.() === false) throw new Error(CUT_OFF);
    if (walked !== 'more') return;
  }
}

const CUT_OFF = 'the run list ends although more runs of the batch are known';

const AGAIN_MS = 500;
const MAX_AGAIN_MS = 15_000;

async function readPage({ service, tries, signal }: ListParams, workflowId: string, offset: number) {
  for (let tried = 1; ; tried += 1) {
    try {
      const page = await service.listRuns(workflowId, { limit: LIST_PAGE, offset });
      if (page !== undefined) return page;
      // The list has already returned pages, so this is a temporary fault.
      if (offset === 0) throw new NoList();
      throw new Error('the run list is no longer available');
    } catch (error) {
      if (error instanceof NoList || tried >= tries) throw error;
      const pauseMs = Math.min(MAX_AGAIN_MS, AGAIN_MS * 2 ** (tried - 1));
      await wait(pauseMs, undefined, { signal: withCallSignal(signal ?? new AbortController().signal) });
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

/** The minimum number of runs in a complete list: the latest of the known runs may not be listed yet. */
export const leastShown = (knownRuns: number, concurrency: number): number =>
  Math.max(0, knownRuns - concurrency);

/**
 * A service may date its runs somewhat earlier than its responses: by another machine, or by the arrival of the
 * request.
 */
const MEASURED_MARGIN_MS = 600_000;
/** If the service shows no time, clock changes up to this size may remain unnoticed. */
const UNMEASURED_MARGIN_MS = 3_600_000;

/**
 * The oldest creation time that matters, by the service's clock: `agoMs` ago, minus the change of the difference
 * between the service's clock and Temporal's, which was measured at the start, with each group of POSTs and now
 * (R25).
 */
export function readBackTo(serviceNowMs: number, { agoMs, wallAt, offset }: ReadBack): number {
  if (offset === undefined) return serviceNowMs - agoMs - UNMEASURED_MARGIN_MS;
  const now = serviceNowMs - wallAt;
  const change = Math.max(offset.max, now) - Math.min(offset.min, now);
  return serviceNowMs - agoMs - MEASURED_MARGIN_MS - change;
}
