// Reads the run lists for unconfirmed attempts (R10, R11). The activity only reports the content of a list;
// `src/batch/on-event/list-read.ts` decides what it proves.

import { Context } from '@temporalio/activity';
import { KnownRuns } from '../src/audit/known-runs.ts';
import { ListReach } from '../src/audit/list-reach.ts';
import { listRuns, NoList, ownRun } from '../src/audit/list-runs.ts';
import { attemptKey, type AttemptRef, type AttemptRun } from '../src/batch/outcome.ts';
import type { ListReading } from '../src/batch/events.ts';
import type { ReadBack } from '../src/batch/commands.ts';
import { errorMessage } from '../src/errors/error.ts';
import type { Deps, OpenBatch } from './deps.ts';
import type { BatchRef } from '../src/batch/workflow-ids.ts';

export type ReconcileInput = BatchRef & {
  readonly attempts: readonly AttemptRef[];
  readonly back: ReadBack;
  /** A known run that a complete list must contain. */
  readonly control?: string;
  /** A list that ends before it reaches older runs than the batch must contain this many runs of the batch. */
  readonly least: number;
};

/** How many runs of one attempt count: strangers may create any number with its token, and the close reports them. */
const MAX_RUNS = 2;

/** Only a few tries, because the batch repeats the reading anyway. */
const PAGE_TRIES = 2;

export async function reconcileRuns(deps: Deps, input: ReconcileInput): Promise<ListReading> {
  const { batch } = input;
  // The runs of the first pages count even if the rest of the list cannot be read.
  const seenRuns: SeenRuns = { found: [], hasControl: false };
  try {
    const open = await deps.open(input);
    await read(open, input, await workflowIdOf(open, input.control), seenRuns);
    return { answer: 'complete', ...seenRuns };
  } catch (error) {
    if (error instanceof NoList) return { answer: 'none', ...seenRuns };
    deps.log.warn({ batch, reason: errorMessage(error) }, 'the run list could not be read to its end');
    return { answer: 'incomplete', ...seenRuns };
  }
}

type SeenRuns = { readonly found: AttemptRun[]; hasControl: boolean; serviceNowMs?: number };

/** Run lists belong to a workflow. If the deployment cannot be read, any of its runs names the workflow. */
async function workflowIdOf({ file, service }: OpenBatch, control: string | undefined) {
  if (file.deployment.workflowId !== undefined || control === undefined) return file.deployment.workflowId;
  return (await service.getRun(control))?.workflowId;
}

async function read(
  { file, service }: OpenBatch,
  { attempts, back, control, least }: ReconcileInput,
  workflowId: string | undefined,
  seenRuns: SeenRuns,
): Promise<void> {
  const wanted = new Map(attempts.map((attempt) => [attemptKey(attempt), MAX_RUNS]));
  const knownRuns = new KnownRuns();
  const reach = new ListReach(file.service);
  const isWhole = (): boolean => knownRuns.size >= least;
  const signal = Context.current().cancellationSignal;
  for await (const page of listRuns({
    service,
    workflowId,
    back,
    reach,
    tries: PAGE_TRIES,
    signal,
    isWhole,
  })) {
    for (const { place, attempt, runId } of page.flatMap((run) => ownRun(file, run))) {
      const key = attemptKey({ place, attempt });
      const left = knownRuns.has(runId) ? 0 : (wanted.get(key) ?? 0);
      knownRuns.add(runId);
      if (left === 0) continue;
      wanted.set(key, left - 1);
      seenRuns.found.push({ place, attempt, runId });
    }
    seenRuns.hasControl ||= page.some(({ id }) => id === control);
    const nowMs = seenRuns.serviceNowMs ?? service.nowMs();
    if (nowMs !== undefined) seenRuns.serviceNowMs = nowMs;
  }
  if (!reach.covers(seenRuns.serviceNowMs ?? Date.now(), back))
    throw new Error('the service may have deleted runs of the time of the attempts');
}
