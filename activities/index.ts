// The activities by name. All except `queueRuns` and `pollRuns` share one wrapper: it heartbeats while the work runs, and ends
// as soon as Temporal cancels the activity.

import { Context, heartbeat } from '@temporalio/activity';
import { awaitBatch } from './await-batch.ts';
import { cancelRuns } from './cancel-runs.ts';
import { collectRows } from './collect-rows.ts';
import { createBatch } from './create-batch.ts';
import { createFiring } from './create-firing.ts';
import type { Deps } from './deps.ts';
import { onlyHolder } from './owner-check.ts';
import { finalizeBatch } from './finalize-batch.ts';
import { notify, notifyFiring } from './send-notices.ts';
import { keepEvidence, keepLog } from './keep-records.ts';
import { loadBatch, loadPass } from './load-batch.ts';
import { awaitStage, createStage, showPipeline } from './pipeline-stages.ts';
import { pollRuns } from './poll-runs.ts';
import { queueRuns } from './queue-runs.ts';
import { reconcileRuns } from './reconcile-runs.ts';
import { HEARTBEAT_MS } from './lease.ts';

type WorkByName = Record<string, (deps: Deps, input: never) => unknown>;
type Bound<T extends WorkByName> = { [K in keyof T]: (input: Parameters<T[K]>[1]) => ReturnType<T[K]> };

const bind = <T extends WorkByName>(
  deps: Deps,
  work: T,
  wrap = (activity: WorkByName[string]) => activity,
): Bound<T> =>
  Object.fromEntries(
    Object.entries(work).map(([name, activity]) => [
      name,
      (input: never) => wrap(onlyHolder(name, activity))(deps, input),
    ]),
  ) as unknown as Bound<T>;

/** Heartbeats while the work runs, however long one step takes; does not wait for cancelled work. */
const heartbeating =
  (work: WorkByName[string]): WorkByName[string] =>
  async (deps, input) => {
    const timer = setInterval(() => heartbeat(), HEARTBEAT_MS);
    try {
      return await Promise.race([work(deps, input), Context.current().cancelled]);
    } finally {
      clearInterval(timer);
    }
  };

export const createSenders = (deps: Deps) => bind(deps, { queueRuns });

export const createFiles = (deps: Deps) =>
  bind(deps, { collectRows, createBatch, createFiring, createStage }, heartbeating);

const WORK = {
  awaitBatch,
  awaitStage,
  cancelRuns,
  finalizeBatch,
  keepEvidence,
  keepLog,
  loadBatch,
  loadPass,
  notify,
  notifyFiring,
  reconcileRuns,
  showPipeline,
};

/** `pollRuns` heartbeats its observations. */
export const createWork = (deps: Deps) => ({
  ...bind(deps, { pollRuns }),
  ...bind(deps, WORK, heartbeating),
});

export type Activities = ReturnType<typeof createSenders> &
  ReturnType<typeof createFiles> &
  ReturnType<typeof createWork>;
