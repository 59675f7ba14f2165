// Manages runs: accepts them, stores and publishes the events of their executors, cancels them, and resumes
// them after a restart. The database is the source of truth.

import type { CheckedRequest } from '../../service-client/contract/queue.ts';
import type { Behaviour } from '../behaviour.ts';
import type { Clock } from '../service-time.ts';
import type { Database, NewRun, RunRow } from '../database.ts';
import type { Deployment } from '../service-deployments.ts';
import {
  NO_WORK,
  type Executor,
  type ExecutorEvents,
  type LiveRun,
  type RunChange,
} from '../executors/executor.ts';
import { namedFaults } from '../faults.ts';

type RunsWorld = {
  readonly clock: Clock;
  readonly database: Database;
  readonly behaviour: Behaviour;
  readonly executorOf: (deploymentId: string) => Executor;
  readonly deployments: ReadonlyMap<string, Deployment>;
  readonly newId: (kind: 'run') => string;
  readonly publish: (run: LiveRun, change: RunChange) => void;
  /** Runs `work` in one transaction and publishes the changes afterwards. */
  readonly commit: <Result>(work: () => Result) => Result;
  /** Like `commit`, in one transaction with all other work of this turn of the event loop. */
  readonly commitSoon: <Result>(work: () => Result) => Promise<Result>;
  readonly log: (event: string, facts: Record<string, unknown>) => void;
};

export function createRuns(world: RunsWorld) {
  const { database, commit, commitSoon } = world;
  return {
    /** Creates a run, which is committed when the promise resolves. */
    accept(
      request: CheckedRequest,
      spec: Deployment,
      { owner, servers = '' }: { readonly owner: string; readonly servers?: string },
    ): Promise<LiveRun> {
      const { inputs, ...draft } = draftRun(world, request, spec, { owner, servers });
      return commitSoon(() => {
        const run = { ...draft, number: database.nextNumber(), lostMs: 0 };
        database.insert({ ...draft, inputs });
        world.executorOf(spec.id).accept(run);
        return run;
      });
    },
    /** Cancels a run in any state; false if it does not exist. */
    cancel(id: string): boolean {
      const row = database.find(id);
      if (row === undefined) return false;
      // A cancellation does not reveal an end that is unknown.
      if (row.endedMs === null && row.status !== 'timeout') commit(() => cancel(world, row));
      return true;
    },
    /** Resumes every run that had not ended when the service stopped. */
    recover: () => commit(() => recover(world)),
  };
}

/** Stores each event, and publishes it. */
export const eventsFor = ({
  clock,
  database,
  publish,
}: Pick<RunsWorld, 'clock' | 'database' | 'publish'>): ExecutorEvents => ({
  took(run, place, state, atMs, mayWait) {
    const queuedMs = mayWait === true ? null : atMs;
    if (database.took(run.number, { place, state, atMs, queuedMs, gpu: run.gpu }))
      publish(run, { kind: 'status', status: 'queued', atMs, work: NO_WORK });
  },
  keep: (run, state) => database.keep(run.number, state),
  reached(run, change, startedMs) {
    const { status, atMs } = change;
    database.reached(run.number, status, clock.now(), status === 'started' ? atMs : null);
    if (startedMs !== undefined) database.timed(run.number, startedMs);
    publish(run, { kind: 'status', ...change });
  },
  progress: (run, change) => publish(run, { kind: 'progress', ...change }),
  ended(run, change, startedMs) {
    if (startedMs !== undefined) database.timed(run.number, startedMs);
    database.ended(run.number, change.status, change.atMs, clock.now());
    publish(run, { kind: 'status', ...change });
  },
  endUnknown(run) {
    const atMs = clock.now();
    database.reached(run.number, 'timeout', atMs, null);
    publish(run, { kind: 'status', status: 'timeout', atMs, work: NO_WORK });
  },
  lost: (run, ranMs, waits, executed) => database.lost(run.number, ranMs, waits, executed),
});

/** Validates a request before any transaction. */
const draftRun = (
  world: RunsWorld,
  request: CheckedRequest,
  spec: Deployment,
  own: Pick<NewRun, 'owner' | 'servers'>,
): NewRun => ({
  ...own,
  timeLimitMs: request.runTimeoutSeconds === undefined ? null : Math.ceil(request.runTimeoutSeconds * 1_000),
  id: world.newId('run'),
  deploymentId: spec.id,
  inputs: JSON.stringify(request.inputs),
  gpu: world.behaviour.gpuOf(request.gpu, spec.gpu),
  webhook: request.webhook ?? null,
  intermediate: request.webhookIntermediateStatus ? 1 : 0,
  createdMs: world.clock.now(),
  faults: namedFaults(request.inputs).faults,
});

/** The client sees the cancellation immediately; the place is free when the machine lets go. */
function cancel(world: RunsWorld, row: RunRow): void {
  const atMs = world.clock.now();
  const executor = world.executorOf(row.deploymentId);
  const work = executor.view({ ...row, status: 'cancelled', endedMs: atMs }, atMs);
  world.database.ended(row.number, 'cancelled', atMs, atMs);
  world.publish(row, { kind: 'status', status: 'cancelled', atMs, work });
  executor.cancel(row);
}

function recover(world: RunsWorld): void {
  const rows = world.database.alive();
  const byExecutor = Map.groupBy(rows, (row) => world.executorOf(row.deploymentId));
  for (const [executor, own] of byExecutor) executor.resume(own);
  const lost = rows.filter(
    ({ deploymentId, state }) => state === null && !world.deployments.has(deploymentId),
  );
  if (lost.length > 0) world.log('runs-without-deployment', { runs: lost.length });
}
