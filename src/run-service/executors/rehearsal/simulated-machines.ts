// Schedules runs on GPU containers. This file knows nothing about HTTP, the database or the content of runs:
// callers report queued and finished runs and learn which run may start. Time comes only from the injected
// clock.
//
// A deployment has a pool: one queue of runs and at most `limit` containers. A container belongs to one GPU.
//
//                     cold start                         release
//      (nothing) ───────────────────▶  BUSY  ◀───────────────────────▶  IDLE ──▶ (nothing)
//                                                 warm: a run of its GPU      after idleMs, or evicted by a run
//                                                                             of another GPU when the pool is full
//      A BUSY container may also be lost at any moment: killed or preempted.
//
// The queue serves owners round robin. Its first run takes, in this order:
//   1. the container of its GPU that has been idle longest              warm
//   2. a new container, while the pool has fewer than its limit         cold
//   3. the slot of the longest idle container of another GPU            cold
//   4. nothing: all containers are busy, and the run waits.
// Because of 1 and 3 any idle container can serve any run, so a queue waits only while every container is
// busy. Each owner's runs therefore start strictly in their order, whatever GPUs they need.

import type { Clock } from '../../service-time.ts';
import type { Census } from '../executor.ts';
import { FairQueue } from '../../fair-queue.ts';
import { dealt } from '../../owner-turns.ts';

/** The fields of a run that scheduling needs. `number` is unique. */
export type Ticket = {
  readonly number: number;
  readonly deploymentId: string;
  readonly gpu: string;
  readonly owner: string;
};
export type Container = { readonly id: string; readonly deploymentId: string; readonly gpu: string };
/** The most containers of a deployment, and how long an idle container stays warm. */
export type MachineLimits = { readonly limit: number; readonly idleMs: number };

type Idle = { readonly container: Container; readonly sinceMs: number };
type Pool<T extends Ticket> = {
  readonly limits: MachineLimits;
  readonly line: FairQueue<number, T>;
  /** Longest idle first. */
  readonly idle: Idle[];
  busy: number;
};

/** `begin` is called for every run that gets a container; `name` makes the id of a new container. */
export function createMachines<T extends Ticket>(deps: {
  readonly clock: Pick<Clock, 'now'>;
  readonly limitsOf: (deploymentId: string) => MachineLimits;
  readonly name: () => string;
  readonly begin: (ticket: T, container: Container, cold: boolean) => void;
}) {
  const pools = new Map<string, Pool<T>>();

  function poolOf({ deploymentId }: Ticket | Container): Pool<T> {
    const old = pools.get(deploymentId);
    if (old !== undefined) return old;
    const limits = deps.limitsOf(deploymentId);
    const pool = { limits, line: new FairQueue<number, T>(), idle: [], busy: 0 };
    pools.set(deploymentId, pool);
    return pool;
  }

  function serve(pool: Pool<T>): void {
    dropCold(pool, deps.clock.now());
    for (let ticket = pool.line.first; ticket !== undefined; ticket = pool.line.first) {
      const place = placeFor(pool, ticket.gpu);
      if (place === 'none') return;
      pool.line.next();
      pool.busy++;
      const { deploymentId, gpu } = ticket;
      const container = place === 'new' ? { id: deps.name(), deploymentId, gpu } : place;
      deps.begin(ticket, container, place === 'new');
    }
  }

  return {
    /** Queues the run, which may get a container before this returns. */
    wait(ticket: T): void {
      const pool = poolOf(ticket);
      pool.line.join(ticket.number, ticket);
      serve(pool);
    },
    /** Removes the run from the queue; false if it was not queued. */
    leave: (ticket: T): boolean => poolOf(ticket).line.leave(ticket.number, ticket),
    /** At most `most` runs that get the next containers: the first run of each deployment, then the second ones. */
    ahead: (most: number): readonly T[] =>
      dealt(
        [...pools.values()].map(({ line }) => line.ahead(most)),
        most,
      ),
    /** Registers a container that was busy before the service restarted. */
    hold: (container: Container): void => void poolOf(container).busy++,
    /** The run has ended. Its container becomes idle, and the next run may take it immediately. */
    release(container: Container): void {
      const pool = poolOf(container);
      pool.busy--;
      pool.idle.push({ container, sinceMs: deps.clock.now() });
      serve(pool);
    },
    /** The busy container is lost, and a new one may take its slot immediately. */
    lose(container: Container): void {
      const pool = poolOf(container);
      pool.busy--;
      serve(pool);
    },
    /** Covers each deployment that has had runs. */
    census: (): ReadonlyMap<string, Census> =>
      new Map(
        [...pools].map(([id, pool]) => {
          dropCold(pool, deps.clock.now());
          return [id, { waiting: pool.line.size, busy: pool.busy, idle: pool.idle.length }];
        }),
      ),
  };
}
export type Machines<T extends Ticket> = ReturnType<typeof createMachines<T>>;

/** The place of the first run in the queue: an idle container, a new one (after an eviction if necessary), or none. */
function placeFor<T extends Ticket>(
  { idle, busy, limits }: Pool<T>,
  gpu: string,
): Container | 'new' | 'none' {
  const warm = idle.findIndex(({ container }) => container.gpu === gpu);
  const [taken] = warm < 0 ? [] : idle.splice(warm, 1);
  if (taken !== undefined) return taken.container;
  if (busy + idle.length < limits.limit) return 'new';
  return idle.shift() === undefined ? 'none' : 'new';
}

/** Cold containers are dropped lazily, when the pool is read. */
function dropCold<T extends Ticket>({ idle, limits }: Pool<T>, nowMs: number): void {
  while (idle[0] !== undefined && idle[0].sinceMs + limits.idleMs <= nowMs) idle.shift();
}
