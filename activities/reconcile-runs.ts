// Reads the run lists for unconfirmed attempts (R10, R11). It only reports what the list holds; what that proves is decided in
// `src/batch/on-event/list-read.ts`.

import { Context } from '@temporalio/activity';
import { listRuns, NoList, ownRun } from '../src/audit/list-runs.ts';
import { attemptKey, type AttemptRef, type AttemptRun } from '../src/batch/attempt.ts';
import type { ReadBack } from '../src/batch/commands.ts';
import type { ListReading } from '../src/batch/events.ts';
import { errorMessage } from '../src/errors.ts';
import type { BatchRef, Deps, OpenBatch } from './deps.ts';

export type ReconcileInput = BatchRef & {
  readonly attempts: readonly AttemptRef[];
  readonly back: ReadBack;
  /** A run that a complete list must show. */
  readonly control?: string;
};

/** The batch asks again anyway. */
const PAGE_TRIES = 2;

export async function reconcileRuns(deps: Deps, input: ReconcileInput): Promise<ListReading> {
  const { batch } = input;
  const open = await deps.open(input);
  try {
    return await read(open, input, await workflowIdOf(open, input.control));
  } catch (error) {
    if (error instanceof NoList) return { answer: 'none', found: [], hasControl: false };
    deps.log.warn({ batch, reason: errorMessage(error) }, 'the run list could not be read to its end');
    return { answer: 'incomplete', found: [], hasControl: false };
  }
}

/** Lists hang on the workflow, which any run of the deployment names where the deployment itself cannot be read. */
async function workflowIdOf(
  { file, service }: OpenBatch,
  control: string | undefined,
): Promise<string | undefined> {
  if (file.deployment.workflowId !== undefined || control === undefined) return file.deployment.workflowId;
  return (await service.getRun(control))?.workflowId;
}

async function read(
  { file, service }: OpenBatch,
  { attempts, back, control }: ReconcileInput,
  workflowId: string | undefined,
): Promise<ListReading> {
  const wanted = new Set(attempts.map(attemptKey));
  const found: AttemptRun[] = [];
  let hasControl = false;
  const signal = Context.current().cancellationSignal;
  for await (const page of listRuns({ service, workflowId, back, tries: PAGE_TRIES, signal })) {
    for (const own of page.flatMap((run) => ownRun(file, run)))
      if (wanted.has(attemptKey(own))) found.push({ row: own.row, attempt: own.attempt, runId: own.runId });
    hasControl ||= page.some(({ id }) => id === control);
  }
  return { answer: 'complete', found, hasControl };
}
