// Time and chance of a simulated world, what it counts, and what it finds wrong.

import { Agenda } from '../../src/local-service/agenda.ts';
import { numbersFrom } from '../../src/local-service/chance.ts';
import { CALM_AFTER_MS, type Fault, type Plan } from './plan.ts';

const START_MS = 1_800_000_000_000;

export class World {
  readonly plan: Plan;
  /** How often each interesting thing happened. */
  readonly sometimes = new Map<string, number>();
  readonly problems: string[] = [];
  readonly #agenda = new Agenda();
  readonly #draw: () => number;
  #nowMs = START_MS;

  constructor(plan: Plan) {
    this.plan = plan;
    this.#draw = numbersFrom(plan.seed ^ 0x5bd1e995);
  }

  get now(): number {
    return this.#nowMs;
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

  /** Whether a fault of the plan strikes now. After a while all is calm. */
  strikes(fault: Fault): boolean {
    const drawn = this.#draw();
    if (this.#nowMs > START_MS + CALM_AFTER_MS || drawn >= this.plan.rates[fault]) return false;
    this.saw(fault);
    return true;
  }

  saw(what: string): void {
    this.sometimes.set(what, (this.sometimes.get(what) ?? 0) + 1);
  }

  claim(holds: boolean, problem: () => string): void {
    if (!holds) this.problems.push(`${this.#nowMs - START_MS} ms: ${problem()}`);
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
