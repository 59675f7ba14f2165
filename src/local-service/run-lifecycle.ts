// The runs that have a container, each walking through the steps of its plan:
//
//      begin ─▶ queued ─▶ started ─▶ running ─▶ success | failed | timeout      one timer at a time
//      resume ─▶ (the first step after its stored status; those that are past follow at once)
//      stop ─▶ (out of it, from anywhere: cancelled)
//      lost ─▶ the container is gone: the run waits again, or nobody hears of it any more
//
// Each change of status is written first and told afterwards; who is told is not decided here.

import type { Status } from '../run-service/contract/run.ts';
import type { Clock } from './service-time.ts';
import type { Database } from './database.ts';
import type { Container, Ticket } from './machines.ts';
import { NO_WORK, stepsOf, workAt, type RunPlan, type Step, type Work } from './planned-result.ts';

/** A run that has not ended, as it is kept in memory. */
export type LiveRun = Ticket & {
  readonly id: string;
  readonly webhook: string | null;
  readonly intermediate: boolean;
  readonly outputs: number;
  /** The faults that it named itself. */
  readonly faults: string;
  /** Whether a container was taken away from it before. */
  readonly wasPreempted: boolean;
};

/** Something to be told of a run: a new status, or progress within one. */
export type RunChange = {
  readonly kind: 'status' | 'progress';
  readonly status: Status;
  readonly atMs: number;
  readonly work: Work;
};

/** A run in its container, and what it will do there. */
type Held = { readonly run: LiveRun; readonly container: Container; readonly plan: RunPlan };

export type RunLifecycle = {
  begin(held: Held): void;
  /** Goes on after a restart, from the status that is stored. */
  resume(held: Held, status: Status): void;
  /** Ends a run as cancelled at `atMs`; false when it has no container. */
  stop(runNumber: number, atMs: number): boolean;
};

type ActiveRun = Held & { readonly steps: readonly Step[]; status: Status; callOff: () => void };

const ORDER: readonly Status[] = ['queued', 'started', 'running'];

type Deps = {
  readonly clock: Clock;
  readonly database: Pick<Database, 'took' | 'reached' | 'ended' | 'lost'>;
  readonly tell: (run: LiveRun, news: RunChange) => void;
  readonly release: (container: Container) => void;
  /** The container of the run is gone; where it `waits`, it shall have another. */
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
    if (step.kind === 'progress') tell(active, step.kind, step.atMs);
    else if (step.kind === 'lost') lose(active, step.waits);
    else if (ORDER.includes(step.status)) reach(active, step.status, step.atMs);
    else end(active, step.status, step.atMs);
  }

  function reach(active: ActiveRun, status: Status, atMs: number): void {
    active.status = status;
    database.reached(active.run.number, status, clock.now());
    tell(active, 'status', atMs);
  }

  function end(active: ActiveRun, status: Status, atMs: number): void {
    active.status = status;
    activeRuns.delete(active.run.number);
    // The planned moment, not that of writing: a service that was down meanwhile makes no run longer or dearer.
    database.ended(active.run.number, status, atMs, clock.now());
    tell(active, 'status', atMs);
    deps.release(active.container);
  }

  function lose({ run, container, plan }: ActiveRun, waits: boolean): void {
    activeRuns.delete(run.number);
    database.lost(run.number, plan.endsMs - plan.queuedMs, waits);
    deps.lose(container, { ...run, wasPreempted: true }, waits);
  }

  function tell(active: ActiveRun, kind: RunChange['kind'], atMs: number): void {
    deps.tell(active.run, changeOf(kind, active.status, atMs, active.plan));
  }

  return {
    begin(held) {
      const { run, container, plan } = held;
      database.took(run.number, container.id, plan);
      deps.tell(run, changeOf('status', 'queued', plan.queuedMs, plan));
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

/** What is left of a active whose stored status is `status`: no step twice, and no stale progress. */
function stepsAfter(steps: readonly Step[], status: Status, nowMs: number): readonly Step[] {
  const done = ORDER.indexOf(status);
  return steps.filter((step) => {
    if (step.kind === 'progress') return step.atMs > nowMs;
    if (step.kind === 'lost') return true;
    const rank = ORDER.indexOf(step.status);
    return rank < 0 || rank > done;
  });
}
