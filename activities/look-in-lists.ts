// Reads the run lists for attempts of which nobody knows whether they became runs (R10, R11). It only reports what the
// list holds; what that proves is decided in `src/batch/doubt.ts`.

import type { AttemptName, ListLook, Seen } from '../src/batch/messages.ts';
import { reasonOf } from '../src/errors.ts';
import type { Run } from '../src/run-service/contract/run.ts';
import { behindMs } from '../src/account/bought-runs.ts';
import { readToken } from '../src/webhook/token.ts';
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
  let oldest = since - file.service.timing.skewMs;
  for (let offset = 0; ; offset += LIST_PAGE) {
    const runs =
      workflowId === undefined ? undefined : await service.listRuns(workflowId, { limit: LIST_PAGE, offset });
    if (runs === undefined) return { answer: 'none', found, control: false };
    found.push(...runs.flatMap((run) => wantedRun(run, file.batch, wanted)));
    if (offset === 0) oldest -= behindMs(runs, Date.now());
    hasControl ||= runs.some(({ id }) => id === control);
    // Newest first: a page that reaches back far enough, or is not full, is the last that can matter.
    const isLast = runs.length < LIST_PAGE || runs.some((run) => (run.createdAtMs ?? oldest) < oldest);
    if (isLast) return { answer: 'complete', found, control: hasControl };
  }
}

/** R7: the run's own webhook must carry the token of the attempt; its MAC and host may have changed since. */
function wantedRun(run: Run, batch: string, wanted: ReadonlyMap<number, AttemptName>): readonly Seen[] {
  const token = readToken(run.webhook);
  if (token === undefined || token.batch !== batch) return [];
  const name = wanted.get(token.row);
  return name?.attempt === token.attempt ? [{ ...name, runId: run.id }] : [];
}
