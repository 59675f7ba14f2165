// The simulation: runs on simulated containers, whose whole future is planned when they get one.
//
//      accept ─▶ machines ─▶ queued ─▶ started ─▶ running ─▶ success | failed | timeout      one timer at a time
//      resume ─▶ (the first step after its stored status; overdue steps follow immediately)
//      cancel ─▶ (from any step)
//      lost ─▶ the container is gone: the run is queued again, or never changes again
//
// The stored state of a run is its plan. The simulation opens no transactions, because the turns of its clock
// are transactions.

import { parseExactly } from '../../../host/formats/exact-json.ts';
import { isWebAddress } from '../../../host/http/web-address.ts';
import type { Status } from '../../../service-client/contract/statuses.ts';
import { chance } from '../../chance.ts';
import type { DeploymentSpec } from '../../service-deployments.ts';
import type { Faults } from '../../faults.ts';
import type { Clock } from '../../service-time.ts';
import { NO_WORK, type Executor, type ExecutorEvents, type LiveRun } from '../executor.ts';
import { createMachines, type Container, type MachineLimits, type Machines } from './simulated-machines.ts';
import { createAlbum } from './pictures/pictures.ts';
import {
  neededGb,
  planRun,
  stepsOf,
  workAt,
  type PlannedResult,
  type RunPlan,
  type RunStep,
  hasMemory,
  NODES,
  nodeStartsMs,
} from './planned-result.ts';
import type { LogLine } from '../../../service-client/contract/run.ts';
import type { RunRow } from '../../database.ts';
import { isIP } from 'node:net';
import { isFileType } from '../../../service-client/contract/file-inputs.ts';
import { badValue, type Refusal } from '../../../service-client/contract/refusal.ts';
import { networkOf } from '../../../host/http/networks.ts';

type RehearsalWorld = Uploads & {
  readonly clock: Clock;
  readonly events: ExecutorEvents;
  readonly faults: Faults;
  readonly deployments: ReadonlyMap<string, DeploymentSpec>;
  readonly speed: number;
  readonly seed: number;
  readonly newId: (kind: 'container') => string;
  readonly inputsOf: (runId: string) => string;
};

type Held = { readonly run: LiveRun; readonly container: Container; readonly plan: RunPlan };
type Active = Held & { readonly steps: readonly RunStep[]; callOff: () => void };

const ORDER: readonly Status[] = ['queued', 'started', 'running'];
const PICTURES_KEPT = 150;
// The picture size for runs of a removed deployment.
const USUAL_SIZE = 160;

export function createRehearsal(world: RehearsalWorld): Executor {
  const { clock } = world;
  const active = new Map<number, Active>();
  const machines = createMachines<LiveRun>({
    clock,
    limitsOf: (deploymentId) => limitsOf(world, deploymentId),
    name: () => world.newId('container'),
    begin(run, container, cold) {
      const plan = draftPlan(world, run, cold);
      world.events.took(run, container.id, keptPlan(plan), plan.queuedMs);
      enter({ run, container, plan }, 'queued');
    },
  });

  function enter(held: Held, status: Status, nowMs = 0): void {
    const { run, plan } = held;
    const steps = stepsAfter(stepsOf(plan, { progress: run.intermediate === 1 }), status, nowMs);
    const entered: Active = { ...held, steps, callOff: () => undefined };
    active.set(run.number, entered);
    waitFor(entered, 0);
  }

  function waitFor(current: Active, index: number): void {
    const step = current.steps[index];
    if (step === undefined) return;
    current.callOff = clock.at(step.atMs, () => {
      if (isLast(step)) active.delete(current.run.number);
      take(world.events, machines, current, step);
      waitFor(current, index + 1);
    });
  }

  return {
    refusals: ({ deploymentId }, inputs) =>
      unreadableFiles(world.deployments.get(deploymentId)?.inputTypes ?? [], inputs, world),
    blockedBy: () => undefined,
    trial: () => undefined,
    accept: (run) => machines.wait(run),
    resume(rows) {
      // Runs in busy containers come first and then the queue in order, so that the order and the limits
      // hold.
      const placed = rows.filter(({ state, containerId }) => state !== null && containerId !== null);
      for (const run of placed) {
        const { containerId, state, status, deploymentId, gpu } = run;
        const container = { id: containerId ?? '', deploymentId, gpu };
        machines.hold(container);
        enter({ run, container, plan: planOf(state) as RunPlan }, status, clock.now());
      }
      for (const run of rows) if (run.state === null) machines.wait(run);
    },
    cancel(run) {
      const current = active.get(run.number);
      if (current === undefined) return void machines.leave(run);
      current.callOff();
      active.delete(run.number);
      machines.release(current.container);
    },
    ...readersOf(world),
    census: machines.census,
    ahead: (most) => machines.ahead(most).map(({ number }) => number),
    close: async () => undefined,
  };
}

const isLast = (step: RunStep): boolean =>
  step.kind === 'lost' || (step.kind === 'status' && !ORDER.includes(step.status));

function take(events: ExecutorEvents, machines: Machines<LiveRun>, held: Held, step: RunStep): void {
  const { run, container, plan } = held;
  const { atMs } = step;
  if (step.kind === 'lost') {
    const ranMs = plan.endsMs - plan.queuedMs;
    events.lost(run, ranMs, step.waits, step.waits);
    machines.lose(container);
    if (step.waits) machines.wait({ ...run, lostMs: run.lostMs + ranMs });
    return;
  }
  if (step.kind === 'progress')
    return events.progress(run, { status: 'running', atMs, work: workAt(plan, atMs) });
  const { status } = step;
  const work = status === 'started' ? NO_WORK : workAt(plan, atMs);
  if (!isLast(step)) return events.reached(run, { status, atMs, work });
  // The planned time counts, not the current one, so that an outage of the service makes no run longer or
  // more expensive.
  events.ended(run, { status, atMs, work });
  machines.release(container);
}

function readersOf({ deployments }: RehearsalWorld): Pick<Executor, 'view' | 'log' | 'outputs' | 'file'> {
  const draw = createAlbum(PICTURES_KEPT);
  return {
    view({ status, endedMs, state }, nowMs) {
      const plan = planOf(state);
      if (plan === undefined) return NO_WORK;
      if (endedMs !== null) return workAt(plan, endedMs);
      // The clock may be ahead of a step that is not stored yet, so the status bounds what the run shows.
      return status === 'running' ? workAt(plan, Math.min(nowMs, plan.endsMs)) : NO_WORK;
    },
    log(row, nowMs) {
      const plan = planOf(row.state);
      if (plan === undefined) return [];
      const endMs = Math.min(nowMs, row.endedMs ?? nowMs, plan.endsMs);
      return plannedLines(plan, row, deployments.get(row.deploymentId)).filter(({ atMs }) => atMs <= endMs);
    },
    outputs: ({ state }) => outputsOf(planOf(state)),
    file({ inputs: text, deploymentId, state }, filename) {
      const index = pictureIndexOf(filename);
      if (index === undefined || index > (planOf(state)?.outputs ?? 0)) return undefined;
      const inputs = parseExactly(text) as Record<string, unknown>;
      const size = deployments.get(deploymentId)?.pictureSize ?? USUAL_SIZE;
      const content = draw({ inputs, index, size });
      return { type: 'image/png', bytes: content.length, content };
    },
  };
}

export const keptPlan = (plan: RunPlan): string => JSON.stringify(plan);
export const planOf = (state: string | null): RunPlan | undefined =>
  state === null ? undefined : (JSON.parse(state) as RunPlan);

/** The remaining steps after the stored `status`: no step twice, and no outdated progress. */
function stepsAfter(steps: readonly RunStep[], status: Status, nowMs: number): readonly RunStep[] {
  const done = ORDER.indexOf(status);
  return steps.filter((step) => {
    if (step.kind === 'progress') return step.atMs > nowMs;
    if (step.kind === 'lost') return true;
    const rank = ORDER.indexOf(step.status);
    return rank < 0 || rank > done;
  });
}

function draftPlan(world: RehearsalWorld, run: LiveRun, cold: boolean): RunPlan {
  // Only runs of known deployments are queued.
  const spec = world.deployments.get(run.deploymentId) as DeploymentSpec;
  return planRun({
    spec,
    speed: world.speed,
    gpu: run.gpu,
    neededGb: neededGb(spec, () => world.inputsOf(run.id)),
    cold,
    plannedResult: plannedResultOf(world.faults, run),
    draw: chance(world.seed, 'run time', run.number),
    atMs: world.clock.now(),
    outputs: world.faults.shouldInject('no-output', run) ? 0 : spec.outputs,
  });
}

const PLANNED_RESULTS = ['fail', 'oom', 'stuck', 'hang'] as const;

function plannedResultOf(faults: Faults, run: LiveRun): PlannedResult {
  // At most one preemption, because a run that is always preempted would never end.
  if (run.lostMs === 0 && faults.shouldInject('preempt', run)) return 'preempt';
  return PLANNED_RESULTS.find((plannedResult) => faults.shouldInject(plannedResult, run)) ?? 'none';
}

function limitsOf(world: RehearsalWorld, deploymentId: string): MachineLimits {
  const spec = world.deployments.get(deploymentId);
  // A removed deployment keeps its busy containers and gets no new ones.
  if (spec === undefined) return { limit: 0, idleMs: 0 };
  return { limit: spec.concurrencyLimit, idleMs: (spec.idleTimeoutSeconds * 1000) / world.speed };
}

/** The pictures belong to one node; no pictures, no node. */
function outputsOf(plan: RunPlan | undefined) {
  const count = plan?.outputs ?? 0;
  if (count === 0) return [];
  const files = Array.from({ length: count }, (_, index) => ({
    filename: `picture-${index + 1}.png`,
    type: 'output',
  }));
  return [{ node: '9', nodeClass: 'SaveImage', key: 'images', files }];
}

/** The number in a picture's file name, counted from 1; undefined for any other name. */
function pictureIndexOf(filename: string): number | undefined {
  const digits = /^picture-([1-9][0-9]{0,2})\.png$/.exec(filename)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** `spec` is undefined if the deployment no longer exists. */
function plannedLines(plan: RunPlan, row: RunRow, spec: DeploymentSpec | undefined): readonly LogLine[] {
  const info = (atMs: number, message: string): LogLine => ({ atMs, level: 'info', message });
  return [
    info(plan.queuedMs, `a ${row.gpu} container took the run`),
    info(plan.startsMs, 'the container has started'),
    ...nodeStartsMs(plan).map((atMs, index) => info(atMs, `Executing ${NODES[index]?.name ?? ''}`)),
    ...(plan.ending === 'failed'
      ? [{ atMs: plan.endsMs, level: 'error' as const, message: failureOf(row, spec) }]
      : []),
    ...(plan.ending === 'timeout' ? [info(plan.endsMs, 'the time limit of the machine was reached')] : []),
    ...(plan.ending === 'success' ? [info(plan.endsMs, 'Prompt executed')] : []),
  ];
}

function failureOf(row: RunRow, spec: DeploymentSpec | undefined): string {
  const needed = spec === undefined ? 0 : neededGb(spec, () => row.inputs);
  if (!hasMemory(row.gpu, needed))
    return `torch.OutOfMemoryError: CUDA out of memory: the run needs ${Number(needed.toFixed(1))} GB, which ${row.gpu} does not have`;
  return 'RuntimeError: KSampler: injected failure';
}

// Refuses file inputs that the real service could not read, so that a rehearsal promises no more than a real
// run.
type Uploads = {
  readonly origin: () => string;
  readonly uploads: { has(id: string): boolean };
};

const unreadableFiles = (
  types: readonly { readonly name: string; readonly type: string }[],
  inputs: Readonly<Record<string, unknown>>,
  uploads: Uploads,
): readonly Refusal[] =>
  types.flatMap(({ name, type }) => {
    const value = inputs[name];
    if (value === undefined || !isFileType(type)) return [];
    const why = faultOf(value, uploads);
    return why === undefined ? [] : [badValue(['body', 'inputs', name], value, why)];
  });

function faultOf(value: unknown, { origin, uploads }: Uploads): string | undefined {
  if (typeof value !== 'string') return 'it must be the address of a file';
  if (/^data:[\w.+-]+\//i.test(value)) return undefined;
  if (!isWebAddress(value)) return 'it is no http address, so no run can read it';
  const url = new URL(value);
  if (value.startsWith(`${origin()}/`)) {
    const [, id] = /^\/files\/uploads\/([^/]+)\//.exec(url.pathname) ?? [];
    return id === undefined || uploads.has(id) ? undefined : 'there is no such upload';
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isHere = /(?:^|\.)localhost$/i.test(host) || (isIP(host) !== 0 && networkOf(host) !== 'public');
  return isHere ? 'it is an address of this network, which no machine of a run service can read' : undefined;
}
