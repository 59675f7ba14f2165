// The GPU machines: which run gets a container, and when. It knows nothing of HTTP, of the database or of what a run
// does; it is told who waits and who is done, and it says who may begin. All time comes from the clock it is given.
//
// A deployment has a pool: one line of waiting runs and at most `limit` containers. A container belongs to one GPU.
//
//                     cold start                         release
//      (nothing) ───────────────────▶  BUSY  ◀───────────────────────▶  IDLE ──▶ (nothing)
//                                                 warm: a run of its GPU      after idleMs, or evicted by a run
//                                                                             of another GPU when the pool is full
//      A BUSY one may also be lost at any moment: killed, or taken away.
//
// A run that stands first in line takes, in this order:
//   1. the container of its GPU that has been idle longest              warm
//   2. a new container, while the pool has fewer than its limit         cold
//   3. the place of the longest idle container of another GPU           cold
//   4. nothing: all containers are busy, and it waits.
// Since any idle container serves any run by 1 or 3, a line only waits while every container is busy; so the line is
// strictly first come first served, whatever GPUs its runs ask for.

import type { Clock } from './service-time.ts';
import { FifoQueue } from './fifo-queue.ts';

/** A run as far as machines care. `number` is unique. */
export type Ticket = { readonly number: number; readonly deploymentId: string; readonly gpu: string };
export type Container = { readonly id: string; readonly deploymentId: string; readonly gpu: string };
/** How many containers a deployment may have, and how long an idle one stays warm. */
export type WorkerKeys = { readonly limit: number; readonly idleMs: number };

export type Machines<T extends Ticket> = {
  /** Joins the line; the run may be given a container before this returns. */
  wait(ticket: T): void;
  /** Leaves the line; false when the run did not wait. */
  leave(ticket: T): boolean;
  /** Counts a container that is at work already: the service was restarted under it. */
  hold(container: Container): void;
  /** The run in the container is over; the container is idle, and the next in line may take it at once. */
  release(container: Container): void;
  /** The container was at work and is gone; another may take its place at once. */
  lose(container: Container): void;
  readonly census: () => Census;
  /** The same for each deployment that has had a run. */
  readonly pools: () => readonly (Census & { readonly deploymentId: string })[];
};
type Census = { readonly waiting: number; readonly busy: number; readonly idle: number };

type Idle = { readonly container: Container; readonly sinceMs: number };
type Pool<T> = {
  readonly fleet: WorkerKeys;
  readonly line: FifoQueue<number, T>;
  readonly idle: Map<string, FifoQueue<string, Idle>>;
  busy: number;
  idling: number;
  watched: boolean;
};

/** `begin` is told of every run that gets a container; `name` gives each new container an id. */
export function createMachines<T extends Ticket>(deps: {
  readonly clock: Clock;
  readonly fleetOf: (deploymentId: string) => WorkerKeys;
  readonly name: () => string;
  readonly begin: (ticket: T, container: Container, cold: boolean) => void;
}): Machines<T> {
  const pools = new Map<string, Pool<T>>();

  function poolOf(deploymentId: string): Pool<T> {
    const old = pools.get(deploymentId);
    if (old !== undefined) return old;
    const pool = newPool<T>(deps.fleetOf(deploymentId));
    pools.set(deploymentId, pool);
    return pool;
  }

  function serve(pool: Pool<T>): void {
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

  function watchIdle(pool: Pool<T>): void {
    const oldest = longestIdle(pool);
    if (pool.watched || oldest === undefined) return;
    pool.watched = true;
    // One timer for a pool, for its oldest: a timer for each idle moment of each container would fill the clock.
    deps.clock.at(oldest.sinceMs + pool.fleet.idleMs, () => {
      pool.watched = false;
      dropCold(pool, deps.clock.now());
      watchIdle(pool);
    });
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
      watchIdle(pool);
    },
    lose(container) {
      const pool = poolOf(container.deploymentId);
      pool.busy--;
      serve(pool);
    },
    census: () => census([...pools.values()]),
    pools: () => [...pools].map(([deploymentId, pool]) => ({ deploymentId, ...census([pool]) })),
  };
}

const newPool = <T>(fleet: WorkerKeys): Pool<T> => ({
  fleet,
  line: new FifoQueue<number, T>(),
  idle: new Map<string, FifoQueue<string, Idle>>(),
  busy: 0,
  idling: 0,
  watched: false,
});

/** What the first in line takes: an idle container, a new one (making room for it), or nothing. */
function placeFor<T>(pool: Pool<T>, gpu: string): Container | 'new' | 'none' {
  const warm = takeIdle(pool, gpu);
  if (warm !== undefined) return warm.container;
  if (pool.busy + pool.idling < pool.fleet.limit) return 'new';
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

function dropCold<T>(pool: Pool<T>, nowMs: number): void {
  for (let idle = longestIdle(pool); idle !== undefined; idle = longestIdle(pool)) {
    if (idle.sinceMs + pool.fleet.idleMs > nowMs) return;
    takeIdle(pool, idle.container.gpu);
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

const census = <T>(pools: readonly Pool<T>[]): Census => ({
  waiting: sum(pools.map((pool) => pool.line.size)),
  busy: sum(pools.map((pool) => pool.busy)),
  idle: sum(pools.map((pool) => pool.idling)),
});
