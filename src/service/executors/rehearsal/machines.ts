// Schedules runs on GPU containers. It knows nothing about HTTP, the database or the content of runs: callers report queued and
// finished runs, and it reports which run may start. It reads the time only from its clock.
//
// A deployment has a pool: one queue of runs and at most `limit` containers. A container belongs to one GPU.
//
//                     cold start                         release
//      (nothing) ───────────────────▶  BUSY  ◀───────────────────────▶  IDLE ──▶ (nothing)
//                                                 warm: a run of its GPU      after idleMs, or evicted by a run
//                                                                             of another GPU when the pool is full
//      A BUSY container may also be lost at any moment: killed or preempted.
//
// The first run in the queue takes, in this order:
//   1. the container of its GPU that has been idle longest              warm
//   2. a new container, while the pool has fewer than its limit         cold
//   3. the slot of the longest idle container of another GPU            cold
//   4. nothing: all containers are busy, and it waits.
// Because of 1 and 3 any idle container can serve any run, so a queue waits only while every container is busy. The queue is
// therefore strictly FIFO, whatever GPUs its runs need.

import type { Clock } from '../../service-time.ts';
import type { Census } from '../executor.ts';
import { FifoQueue } from '../../fifo-queue.ts';

/** The fields of a run that scheduling needs. `number` is unique. */
export type Ticket = { readonly number: number; readonly deploymentId: string; readonly gpu: string };
export type Container = { readonly id: string; readonly deploymentId: string; readonly gpu: string };
/** How many containers a deployment may have, and how long an idle one stays warm. */
export type MachineLimits = { readonly limit: number; readonly idleMs: number };

export type Machines<T extends Ticket> = {
  /** Queues the run; it may get a container before this returns. */
  wait(ticket: T): void;
  /** Removes the run from the queue; false if it was not queued. */
  leave(ticket: T): boolean;
  /** Registers a container that was busy before the service restarted. */
  hold(container: Container): void;
  /** The run has ended; its container is idle, and the next run may take it immediately. */
  release(container: Container): void;
  /** The busy container is lost; another one may take its slot immediately. */
  lose(container: Container): void;
  /** Of each deployment that has had runs. */
  readonly census: () => ReadonlyMap<string, Census>;
};

type Idle = { readonly container: Container; readonly sinceMs: number };
type Pool<T> = {
  readonly limits: MachineLimits;
  readonly line: FifoQueue<number, T>;
  readonly idle: Map<string, FifoQueue<string, Idle>>;
  busy: number;
  idling: number;
};

/** `begin` is called for every run that gets a container; `name` creates the id of a new container. */
export function createMachines<T extends Ticket>(deps: {
  readonly clock: Pick<Clock, 'now'>;
  readonly limitsOf: (deploymentId: string) => MachineLimits;
  readonly name: () => string;
  readonly begin: (ticket: T, container: Container, cold: boolean) => void;
}): Machines<T> {
  const pools = new Map<string, Pool<T>>();

  function poolOf(deploymentId: string): Pool<T> {
    const old = pools.get(deploymentId);
    if (old !== undefined) return old;
    const pool = newPool<T>(deps.limitsOf(deploymentId));
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
    wait(ticket) {
      const pool = poolOf(ticket.deploymentId);
      pool.line.join(ticket.number, ticket);
      serve(pool);
    },
    leave: (ticket) => poolOf(ticket.deploymentId).line.leave(ticket.number),
    hold(container) {
      poolOf(container.deploymentId).busy++;
    },
    release(container) {
      const pool = poolOf(container.deploymentId);
      pool.busy--;
      addIdle(pool, { container, sinceMs: deps.clock.now() });
      serve(pool);
    },
    lose(container) {
      const pool = poolOf(container.deploymentId);
      pool.busy--;
      serve(pool);
    },
    census: () =>
      new Map(
        [...pools].map(([id, pool]) => {
          dropCold(pool, deps.clock.now());
          return [id, { waiting: pool.line.size, busy: pool.busy, idle: pool.idling }];
        }),
      ),
  };
}

const newPool = <T>(limits: MachineLimits): Pool<T> => ({
  limits,
  line: new FifoQueue<number, T>(),
  idle: new Map<string, FifoQueue<string, Idle>>(),
  busy: 0,
  idling: 0,
});

/** What the first run gets: an idle container, a new one (after an eviction if necessary), or nothing. */
function placeFor<T>(pool: Pool<T>, gpu: string): Container | 'new' | 'none' {
  const warm = takeIdle(pool, gpu);
  if (warm !== undefined) return warm.container;
  if (pool.busy + pool.idling < pool.limits.limit) return 'new';
  const other = longestIdle(pool);
  if (other === undefined) return 'none';
  takeIdle(pool, other.container.gpu);
  return 'new';
}

function addIdle<T>(pool: Pool<T>, idle: Idle): void {
  const { gpu, id } = idle.container;
  const line = pool.idle.get(gpu) ?? new FifoQueue<string, Idle>();
  pool.idle.set(gpu, line);
  line.join(id, idle);
  pool.idling++;
}

function takeIdle<T>(pool: Pool<T>, gpu: string): Idle | undefined {
  const taken = pool.idle.get(gpu)?.next();
  if (taken !== undefined) pool.idling--;
  return taken;
}

const longestIdle = <T>(pool: Pool<T>): Idle | undefined =>
  [...pool.idle.values()]
    .map((line) => line.first)
    .filter((idle) => idle !== undefined)
    .sort((a, b) => a.sinceMs - b.sinceMs)
    .at(0);

/** Nothing happens to a container in the moment when it becomes cold: that is seen when the pool is looked at. */
function dropCold<T>(pool: Pool<T>, nowMs: number): void {
  for (let idle = longestIdle(pool); idle !== undefined; idle = longestIdle(pool)) {
    if (idle.sinceMs + pool.limits.idleMs > nowMs) return;
    takeIdle(pool, idle.container.gpu);
  }
}
