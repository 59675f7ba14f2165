// Moves the runs that have a container through the steps of their plans:
//
//      begin ─▶ queued ─▶ started ─▶ running ─▶ success | failed | timeout      one timer at a time
//      resume ─▶ (the first step after its stored status; overdue steps follow immediately)
//      stop ─▶ (from any step: cancelled)
//      lost ─▶ the container is gone: the run is queued again, or never changes again
//
// Each change of status is stored first and published afterwards; the caller decides who gets it.

import type { Status } from '../../run-service/contract/statuses.ts';
import type { Clock } from '../service-time.ts';
import type { Database } from '../database.ts';
import type { Container, Ticket } from './machines.ts';
import { NO_WORK, stepsOf, workAt, type RunPlan, type Step, type Work } from './planned-result.ts';

/** A run in memory that has not ended. */
export type LiveRun = Ticket & {
  readonly id: string;
  readonly webhook: string | null;
  readonly intermediate: boolean;
  readonly outputs: number;
  /** The faults that the run names itself. */
  readonly faults: string;
  /** Whether it was preempted before. */
  readonly wasPreempted: boolean;
};

/** A change of a run to publish: a new status, or progress. */
export type RunChange = {
  readonly kind: 'status' | 'progress';
  readonly status: Status;
  readonly atMs: number;
  readonly work: Work;
};

/** A run in its container, with its plan. */
type Held = { readonly run: LiveRun; readonly container: Container; readonly plan: RunPlan };

export type RunLifecycle = {
  begin(held: Held): void;
  /** Continues after a restart, from the stored status. */
  resume(held: Held, status: Status): void;
  /** Ends a run as cancelled at `atMs`; false if it has no container. */
  stop(runNumber: number, atMs: number): boolean;
};

type ActiveRun = Held & { readonly steps: readonly Step[]; status: Status; callOff: () => void };

const ORDER: readonly Status[] = ['queued', 'started', 'running'];

type Deps = {
  readonly clock: Clock;
  readonly database: Pick<Database, 'took' | 'reached' | 'ended' | 'lost'>;
  readonly publish: (run: LiveRun, change: RunChange) => void;
  readonly release: (container: Container) => void;
  /** The run lost its container; if it `waits`, it gets another one. */
  readonly lose: (container: Container, run: LiveRun, waits: boolean) => void;
};

export function createRunLifecycle(deps: Deps): RunLifecycle {
  const { clock, database } = deps;
  const activeRuns = new Map<number, ActiveRun>();

  function enter(held: Held, status: Status, steps: readonly Step[]): void {
    const active = { ...held, status, steps, callOff: () => undefined };
    activeRuns.set(held.run.number, active);
    waitFor(active, 0);
  }

  function waitFor(active: ActiveRun, index: number): void {
    const step = active.steps[index];
    if (step === undefined) return;
    active.callOff = clock.at(step.atMs, () => {
      take(active, step);
      waitFor(active, index + 1);
    });
  }

  function take(active: ActiveRun, step: Step): void {
    if (step.kind === 'progress') publish(active, step.kind, step.atMs);
    else if (step.kind === 'lost') lose(active, step.waits);
    else if (ORDER.includes(step.status)) reach(active, step.status, step.atMs);
    else end(active, step.status, step.atMs);
  }

  function reach(active: ActiveRun, status: Status, atMs: number): void {
    active.status = status;
    database.reached(active.run.number, status, clock.now());
    publish(active, 'status', atMs);
  }

  function end(active: ActiveRun, status: Status, atMs: number): void {
    active.status = status;
    activeRuns.delete(active.run.number);
    // The planned time and not the current one: a service that was down does not make a run longer or more expensive.
    database.ended(active.run.number, status, atMs, clock.now());
    publish(active, 'status', atMs);
    deps.release(active.container);
  }

  function lose({ run, container, plan }: ActiveRun, waits: boolean): void {
    activeRuns.delete(run.number);
    database.lost(run.number, plan.endsMs - plan.queuedMs, waits);
    deps.lose(container, { ...run, wasPreempted: true }, waits);
  }

  function publish(active: ActiveRun, kind: RunChange['kind'], atMs: number): void {
    deps.publish(active.run, changeOf(kind, active.status, atMs, active.plan));
  }

  return {
    begin(held) {
      const { run, container, plan } = held;
      database.took(run.number, container.id, plan);
      deps.publish(run, changeOf('status', 'queued', plan.queuedMs, plan));
      enter(held, 'queued', stepsFor(held));
    },
    resume: (held, status) => enter(held, status, stepsAfter(stepsFor(held), status, clock.now())),
    stop(runNumber, atMs) {
      const active = activeRuns.get(runNumber);
      if (active === undefined) return false;
      active.callOff();
      end(active, 'cancelled', atMs);
      return true;
    },
  };
}

const stepsFor = ({ run, plan }: Held): readonly Step[] => stepsOf(plan, { progress: run.intermediate });

function changeOf(kind: RunChange['kind'], status: Status, atMs: number, plan: RunPlan): RunChange {
  const works = status !== 'queued' && status !== 'started';
  return { kind, status, atMs, work: works ? workAt(plan, atMs) : NO_WORK };
}

/** The remaining steps after the stored `status`: no step twice, and no outdated progress. */
function stepsAfter(steps: readonly Step[], status: Status, nowMs: number): readonly Step[] {
  const done = ORDER.indexOf(status);
  return steps.filter((step) => {
    if (step.kind === 'progress') return step.atMs > nowMs;
    if (step.kind === 'lost') return true;
    const rank = ORDER.indexOf(step.status);
    return rank < 0 || rank > done;
  });
}
