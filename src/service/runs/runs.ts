// Manages runs: creates, schedules, executes, publishes and cancels them, and continues them after a restart. The database is
// the source of truth; memory only holds what is needed to advance a run in time.

import type { QueueOrder } from '../../run-service/contract/queue.ts';
import type { Behaviour } from '../behaviour.ts';
import { chance } from '../chance.ts';
import type { Clock } from '../service-time.ts';
import type { Database, LiveRow, NewRun } from '../database.ts';
import type { RunRow } from './run-row.ts';
import type { DeploymentSpec } from '../deployments.ts';
import { namedFaults, type Faults, type FaultTarget } from '../faults.ts';
import { neededGb, NO_WORK, planRun, type PlannedResult, type RunPlan } from './planned-result.ts';
import { createRunLifecycle, type RunLifecycle, type LiveRun } from './run-lifecycle.ts';
import { createMachines, type Container, type MachineLimits, type Machines } from './machines.ts';
import { storedPlan, type Links } from './run-record.ts';
import { publish } from '../webhooks/webhook-events.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

type AcceptedRun = Pick<LiveRun, 'id' | 'number' | 'faults'>;

export type Runs = {
  /** Creates a run, which is committed when this resolves. */
  accept(order: QueueOrder, spec: DeploymentSpec, owner: string): Promise<AcceptedRun>;
  /** Cancels a run in any state; false if it does not exist. */
  cancel(id: string): boolean;
  /** Continues every run that had not ended when the service stopped. */
  recover(): void;
  census(): ReturnType<Machines<LiveRun>['census']>;
  pools(): ReturnType<Machines<LiveRun>['pools']>;
};

type World = {
  readonly clock: Clock;
  readonly database: Database;
  readonly webhooks: Webhooks;
  readonly faults: Faults;
  readonly behaviour: Behaviour;
  readonly deployments: ReadonlyMap<string, DeploymentSpec>;
  readonly speed: number;
  readonly seed: number;
  readonly linksOf: (run: FaultTarget, nowMs: number) => Links;
  readonly newId: (kind: 'run' | 'container') => string;
  /** Runs `work` in one transaction and publishes the changes afterwards. */
  readonly commit: <Result>(work: () => Result) => Result;
  /** The same, together with the other works of this turn of the event loop. */
  readonly commitSoon: <Result>(work: () => Result) => Promise<Result>;
  readonly log: (event: string, facts: Record<string, unknown>) => void;
};

export function createRuns(world: World): Runs {
  const { clock, database, commit, commitSoon } = world;
  const lifecycle: RunLifecycle = createRunLifecycle({
    clock,
    database,
    publish: (run, change) => publish(world, run, change),
    release: (container) => machines.release(container),
    lose(container, run, waits) {
      machines.lose(container);
      if (waits) machines.wait(run);
    },
  });
  const machines = createMachines<LiveRun>({
    clock,
    limitsOf: (deploymentId) => limitsOf(world, deploymentId),
    name: () => world.newId('container'),
    begin(run, container, cold) {
      const spec = world.deployments.get(run.deploymentId);
      // Only runs of known deployments are queued.
      if (spec !== undefined) lifecycle.begin({ run, container, plan: draftPlan(world, run, spec, cold) });
    },
  });

  return {
    accept(order, spec, owner) {
      const draft = draftRun(world, order, spec, owner);
      return commitSoon(() => {
        const number = database.nextNumber();
        const outputs = world.faults.shouldInject('no-output', { ...draft, number }) ? 0 : draft.outputs;
        const run = liveRunOf({ ...draft, outputs, number });
        database.insert({ ...draft, outputs });
        machines.wait(run);
        return run;
      });
    },
    cancel(id) {
      const row = database.find(id);
      if (row === undefined) return false;
      if (row.endedMs === null) commit(() => cancel(world, row, machines, lifecycle));
      return true;
    },
    recover: () => commit(() => recover(world, machines, lifecycle)),
    census: machines.census,
    pools: machines.pools,
  };
}

/** Validates a request before any transaction. */
const draftRun = (world: World, order: QueueOrder, spec: DeploymentSpec, owner: string): NewRun => ({
  owner,
  id: world.newId('run'),
  deploymentId: spec.id,
  inputs: JSON.stringify(order.inputs),
  gpu: world.behaviour.gpuOf(order.gpu, spec.gpu),
  webhook: order.webhook ?? null,
  intermediate: order.webhookIntermediateStatus ? 1 : 0,
  createdMs: world.clock.now(),
  outputs: spec.outputs,
  faults: namedFaults(order.inputs).faults,
});

function draftPlan(world: World, run: LiveRun, spec: DeploymentSpec, cold: boolean): RunPlan {
  return planRun({
    spec,
    speed: world.speed,
    gpu: run.gpu,
    neededGb: neededGb(spec, () => world.database.find(run.id)?.inputs ?? '{}'),
    cold,
    plannedResult: fateOf(world.faults, run),
    draw: chance(world.seed, 'run time', run.number),
    atMs: world.clock.now(),
  });
}

const PLANNED_RESULTS = ['fail', 'oom', 'stuck', 'hang'] as const;

function fateOf(faults: Faults, run: LiveRun): PlannedResult {
  // At most once: a run that is always preempted would never end.
  if (!run.wasPreempted && faults.shouldInject('preempt', run)) return 'preempt';
  return PLANNED_RESULTS.find((plannedResult) => faults.shouldInject(plannedResult, run)) ?? 'none';
}

function cancel(world: World, row: RunRow, machines: Machines<LiveRun>, lifecycle: RunLifecycle): void {
  const atMs = world.clock.now();
  if (lifecycle.stop(row.number, atMs)) return;
  const run = liveRunOf(row);
  machines.leave(run);
  world.database.ended(row.number, 'cancelled', atMs, atMs);
  publish(world, run, { kind: 'status', status: 'cancelled', atMs, work: NO_WORK });
}

/** Restores the busy containers first and then the queue in order, so that the order and the limits hold. */
function recover(world: World, machines: Machines<LiveRun>, lifecycle: RunLifecycle): void {
  const rows = world.database.alive();
  for (const row of rows) resume(row, machines, lifecycle);
  const waiting = rows.filter((row) => storedPlan(row) === undefined);
  const [known, unknown] = partition(waiting, (row) => world.deployments.has(row.deploymentId));
  for (const row of known) machines.wait(liveRunOf(row));
  if (unknown.length > 0) world.log('runs-without-deployment', { runs: unknown.length });
}

function resume(row: LiveRow, machines: Machines<LiveRun>, lifecycle: RunLifecycle): void {
  const plan = storedPlan(row);
  if (plan === undefined || row.containerId === null) return;
  const container: Container = { id: row.containerId, deploymentId: row.deploymentId, gpu: row.gpu };
  machines.hold(container);
  lifecycle.resume({ run: liveRunOf(row), container, plan }, row.status);
}

const liveRunOf = (row: Omit<NewRun, 'inputs'> & { readonly number: number }): LiveRun => ({
  number: row.number,
  id: row.id,
  deploymentId: row.deploymentId,
  gpu: row.gpu,
  webhook: row.webhook,
  intermediate: row.intermediate === 1,
  outputs: row.outputs,
  faults: row.faults,
  wasPreempted: 'lostMs' in row && Number(row.lostMs) > 0,
});

function limitsOf(world: World, deploymentId: string): MachineLimits {
  const spec = world.deployments.get(deploymentId);
  // A removed deployment keeps its busy containers and gets no new ones.
  if (spec === undefined) return { limit: 0, idleMs: 0 };
  return { limit: spec.concurrencyLimit, idleMs: (spec.idleTimeoutSeconds * 1000) / world.speed };
}

function partition<Item>(items: readonly Item[], chosen: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(chosen), items.filter((item) => !chosen(item))];
}
