// Time and chance of a simulated world, what it counts, and what it finds wrong.

import { TimerQueue } from '../../src/local-service/timer-queue.ts';
import { numbersFrom } from '../../src/local-service/chance.ts';
import { CALM_AFTER_MS, type Fault, type Plan } from './plan.ts';

const START_MS = 1_800_000_000_000;

export class World {
  readonly plan: Plan;
  /** How often each interesting thing happened. */
  readonly sometimes = new Map<string, number>();
  readonly problems: string[] = [];
  /** What happened, for whoever looks for the reason of a problem. */
  story: string[] | undefined;
  readonly #agenda = new TimerQueue();
  readonly #draw: () => number;
  #nowMs = START_MS;

  constructor(plan: Plan) {
    this.plan = plan;
    this.#draw = numbersFrom(plan.seed ^ 0x5bd1e995);
  }

  /** The true time, which nobody in the world can read. */
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
    this.#agenda.enter(this.#nowMs + Math.max(0, Math.round(ms)), work);
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

  /** Whether a fault of the plan shouldInject now. After a while all is calm. */
  shouldInject(fault: Fault): boolean {
    const drawn = this.#draw();
    if (this.isCalm || drawn >= this.plan.rates[fault]) return false;
    this.saw(fault);
    return true;
  }

  saw(what: string): void {
    this.sometimes.set(what, (this.sometimes.get(what) ?? 0) + 1);
  }

  note(what: () => string): void {
    this.story?.push(`${this.sinceStart} ${what()}`);
  }

  claim(holds: boolean, problem: () => string): void {
    if (!holds && this.problems.length < 20) this.problems.push(`${this.sinceStart} ms: ${problem()}`);
  }

  /** Lets time pass until nothing is due, a problem is found, `isOver`, or `mostMs` are over; false for the last. */
  pass(mostMs: number, isOver: () => boolean): boolean {
    for (let next = this.#agenda.nextMs; next !== undefined; next = this.#agenda.nextMs) {
      if (isOver() || this.problems.length > 0) return true;
      if (next > START_MS + mostMs) return false;
      this.#nowMs = Math.max(this.#nowMs, next);
      this.#agenda.takeDue(this.#nowMs)?.();
    }
    return isOver();
  }
}

const HOUR_MS = 3_600_000;

/** A clock that is wrong, and that somebody sets now and then. */
export class WrongClock {
  readonly #world: World;
  readonly #onStep: () => void;
  #offsetMs: number;

  constructor(world: World, fault: Fault, onStep: () => void = () => undefined) {
    this.#world = world;
    this.#onStep = onStep;
    this.#offsetMs = world.chance(0.5) ? 0 : world.between(-24 * HOUR_MS, 24 * HOUR_MS);
    this.#live(fault);
  }

  get now(): number {
    return this.#world.now + this.#offsetMs;
  }

  #live(fault: Fault): void {
    if (this.#world.isCalm) return;
    if (this.#world.shouldInject(fault)) {
      this.#offsetMs += this.#world.between(-2 * HOUR_MS, 2 * HOUR_MS);
      this.#onStep();
    }
    this.#world.after(1_000, () => this.#live(fault));
  }
}
