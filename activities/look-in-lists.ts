// Reads the run lists for attempts of which nobody knows whether they became runs (R10, R11). It only reports what the
// list holds; what that proves is decided in `src/batch/doubt.ts`.

import type { AttemptName, ListLook, Seen } from '../src/batch/messages.ts';
import { reasonOf } from '../src/errors.ts';
import type { Run } from '../src/run-service/contract/run.ts';
import { boughtBy } from '../src/account/bought-runs.ts';
import { NoList, runPages } from '../src/account/run-pages.ts';
import type { BatchPlace, Hands, OpenBatch } from './hands.ts';

export type LookOrder = BatchPlace & {
  readonly attempts: readonly AttemptName[];
  /** The list is read back to this moment, by the service's clock as far as its skew is known. */
  readonly since: number;
  /** A run that a complete list must show. */
  readonly control?: string;
};

const LIST_PAGE = 200;

export async function lookInLists(hands: Hands, order: LookOrder): Promise<ListLook> {
  const askedAt = Date.now();
  const open = await hands.open(order);
  try {
    const workflowId = await workflowIdOfDeployment(open, order.control);
    return { askedAt, ...(await read(open, order, workflowId)) };
  } catch (error) {
    hands.log.warn(
      { batch: order.batch, reason: reasonOf(error) },
      'the run list could not be read to its end',
    );
    return { askedAt, answer: 'incomplete', found: [], control: false };
  }
}

/** Lists hang on the workflow, which any run of the deployment names where the deployment itself cannot be read. */
async function workflowIdOfDeployment(
  { file, service }: OpenBatch,
  control: string | undefined,
): Promise<string | undefined> {
  if (file.deployment.workflowId !== undefined || control === undefined) return file.deployment.workflowId;
  return (await service.getRun(control))?.workflowId;
}

async function read(
  { file, service }: OpenBatch,
  { attempts, since, control }: LookOrder,
  workflowId: string | undefined,
): Promise<Omit<ListLook, 'askedAt'>> {
  const wanted = new Map(attempts.map((name) => [name.row, name]));
  const found: Seen[] = [];
  let hasControl = false;
  try {
    for await (const runs of runPages({ file, service, workflowId, since }, LIST_PAGE)) {
      found.push(...runs.flatMap((run) => wantedRun(run, file.batch, wanted)));
      hasControl ||= runs.some(({ id }) => id === control);
    }
    return { answer: 'complete', found, control: hasControl };
  } catch (error) {
    if (error instanceof NoList) return { answer: 'none', found, control: false };
    throw error;
  }
}

/** R7: the run's own webhook must carry the token of the attempt; its MAC and host may have changed since. */
function wantedRun(run: Run, batch: string, wanted: ReadonlyMap<number, AttemptName>): readonly Seen[] {
  return boughtBy(batch, run).flatMap(({ row, attempt }) =>
    wanted.get(row)?.attempt === attempt ? [{ row, attempt, runId: run.id }] : [],
  );
}
