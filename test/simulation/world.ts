// The simulated time and random numbers of a world, its counters, and the problems found.

import { TimerQueue } from '../../src/run-service/service-time.ts';
import { numbersFrom } from '../../src/run-service/chance.ts';
import type { FOREVER_KINDS } from './freedoms.ts';
import { CALM_AFTER_MS, type PlannedFault, type WorldPlan } from './plan.ts';

const START_MS = 1_800_000_000_000;

export class World {
  readonly plan: WorldPlan;
  /** How often each interesting event occurred. */
  readonly sometimes = new Map<string, number>();
  readonly problems: string[] = [];
  /** A log of all steps, to find the cause of a problem. */
  log: string[] | undefined;
  readonly #timers = new TimerQueue();
  readonly #draw: () => number;
  #nowMs = START_MS;
  #waiting: Promise<unknown> | undefined;

  constructor(plan: WorldPlan) {
    this.plan = plan;
    this.#draw = numbersFrom(plan.seed ^ 0x5bd1e995);
  }

  /** The simulated time. The participants have only their own clocks. */
  get now(): number {
    return this.#nowMs;
  }

  get sinceStart(): number {
    return this.#nowMs - START_MS;
  }

  get isCalm(): boolean {
    return this.sinceStart > CALM_AFTER_MS;
  }

  after(ms: number, work: () => void): void {
    this.#timers.enter(this.#nowMs + Math.max(0, Math.round(ms)), work);
  }

  /** A whole number of milliseconds. */
  between(least: number, most: number): number {
    return Math.floor(least + this.#draw() * (most - least));
  }

  chance(rate: number): boolean {
    return this.#draw() < rate;
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.min(items.length - 1, Math.floor(this.#draw() * items.length))] as T;
  }

  /** Whether to inject a fault now. Faults stop after a while. */
  shouldInject(fault: PlannedFault): boolean {
    const drawn = this.#draw();
    if (this.isCalm || drawn >= this.plan.rates[fault]) return false;
    this.saw(fault);
    return true;
  }

  /** Whether this fault stays now until somebody repairs it. */
  isForever(kind: (typeof FOREVER_KINDS)[number]): boolean {
    const { forever } = this.plan;
    if (forever?.kind !== kind) return false;
    if (this.sinceStart < forever.fromMs || this.sinceStart >= forever.untilMs) return false;
    this.saw(`forever: ${kind}`);
    return true;
  }

  saw(what: string): void {
    this.sometimes.set(what, (this.sometimes.get(what) ?? 0) + 1);
  }

  note(what: () => string): void {
    this.log?.push(`${this.sinceStart} ${what()}`);
  }

  claim(holds: boolean, problem: () => string): void {
    if (!holds && this.problems.length < 20) this.problems.push(`${this.sinceStart} ms: ${problem()}`);
  }

  /** Time stands still until this work is done. */
  wait(work: Promise<unknown>): void {
    this.#waiting = this.#waiting === undefined ? work : Promise.all([this.#waiting, work]);
  }

  /** Work of a process that takes some time: what awaits it goes on then. */
  async later<T>(ms: number, work: () => T): Promise<Awaited<T>> {
    await new Promise<void>((resolve) => {
      this.after(ms, () => {
        resolve();
        this.wait(untilIdle());
      });
    });
    return await work();
  }

  /** Advances time until no timer is left, a problem is found, or `isOver`. Returns false if `mostMs` passes first. */
  async pass(mostMs: number, isOver: () => boolean): Promise<boolean> {
    for (let next = this.#timers.nextMs; next !== undefined; next = this.#timers.nextMs) {
      if (isOver() || this.problems.length > 0) return true;
      if (next > START_MS + mostMs) return false;
      this.#nowMs = Math.max(this.#nowMs, next);
      this.#timers.takeDue(this.#nowMs)?.();
      if (this.#waiting === undefined) continue;
      const waiting = this.#waiting;
      this.#waiting = undefined;
      await waiting;
    }
    return isOver();
  }
}

/** Resolves when no promise is left that can resolve without another event. */
export const untilIdle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const HOUR_MS = 3_600_000;

/** A clock that is wrong, and that changes at random. */
export class WrongClock {
  readonly #world: World;
  readonly #onStep: () => void;
  #offsetMs: number;
  #latest = -Infinity;

  constructor(world: World, fault: PlannedFault, onStep: () => void = () => undefined) {
    this.#world = world;
    this.#onStep = onStep;
    this.#offsetMs = world.chance(0.5) ? 0 : world.between(-24 * HOUR_MS, 24 * HOUR_MS);
    this.#step(fault);
  }

  get now(): number {
    return this.#world.now + this.#offsetMs;
  }

  /** The latest time that it has shown, be it for a second. */
  get latest(): number {
    this.#latest = Math.max(this.#latest, this.now);
    return this.#latest;
  }

  #step(fault: PlannedFault): void {
    if (this.#world.isCalm) return;
    if (this.#world.shouldInject(fault)) {
      this.#latest = this.latest;
      // Small steps hide within the waits of a batch.
      const mostMs = this.#world.chance(0.5) ? 2 * HOUR_MS : 20_000;
      this.#offsetMs += this.#world.between(-mostMs, mostMs);
      this.#onStep();
    }
    this.#world.after(1_000, () => this.#step(fault));
  }
}
