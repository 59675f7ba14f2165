// Simulates Temporal: a clock that changes at random, timers by that clock, signals that arrive late, twice or out of
// order, and activities that are retried until one try delivers a result.

import type { SimWorker } from './worker.ts';
import { WrongClock, type World } from './world.ts';

type Timer = { readonly at: number; readonly work: () => void; isOver: boolean };

const ACTIVITY_TIMEOUT_MS = 10_000;
const ABANDONED_LATER_MS = 30_000;
/** How long it waits after a try that failed, doubled each time up to the maximum. */
const TRY_MS = 250;
const MAX_TRY_MS = 10_000;

/** A try of an activity. */
export type Try = {
  readonly worker: SimWorker;
  readonly number: number;
  /** Whether Temporal has abandoned this try; the try may continue until it learns that. */
  isAbandoned(): boolean;
  /** The try has failed, and Temporal starts another one after a while. */
  fail(): void;
};

export class SimTemporal {
  readonly clock: WrongClock;
  readonly #world: World;
  readonly #timers = new Set<Timer>();
  #downUntil = 0;
  /** Deliveries that wait while the machine is off. */
  #waiting: (() => void)[] | undefined;

  constructor(world: World) {
    this.#world = world;
    this.clock = new WrongClock(world, 'temporalClockStep', () => this.#stepped());
  }

  get isDown(): boolean {
    return this.#waiting !== undefined || this.#downUntil > this.#world.now;
  }

  switchOff(): void {
    this.#waiting ??= [];
  }

  switchOn(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const work of waiting) this.#world.after(this.#world.between(0, 1_000), work);
  }

  /** Now, or when its machine is on again. */
  whenOn(work: () => void): void {
    if (this.#waiting === undefined) work();
    else this.#waiting.push(() => this.whenOn(work));
  }

  /** Starts a timer by Temporal's clock: it fires early if the clock is set forward, late if it is set back. */
  after(ms: number, work: () => void): void {
    const timer = { at: this.clock.now + Math.max(1, ms), work, isOver: false };
    this.#timers.add(timer);
    this.#wait(timer);
  }

  #wait(timer: Timer): void {
    this.#world.after(Math.ceil(Math.max(0, timer.at - this.clock.now)), () => {
      if (timer.isOver) return;
      if (this.clock.now >= timer.at) this.#fire(timer);
      else this.#wait(timer);
    });
  }

  /** Fires all due timers, and lets the others wait anew: their time may come sooner than it seemed. */
  #stepped(): void {
    for (const timer of this.#timers)
      if (this.clock.now >= timer.at) this.#fire(timer);
      else this.#wait(timer);
  }

  #fire(timer: Timer): void {
    timer.isOver = true;
    this.#timers.delete(timer);
    this.whenOn(timer.work);
  }

  /** Delivers something to a workflow as soon as Temporal is up. */
  reach(work: () => void): void {
    const world = this.#world;
    const outageMs = world.shouldInject('temporalOutage') ? world.between(100, 30_000) : 0;
    this.#downUntil = Math.max(this.#downUntil, world.now + outageMs);
    world.after(Math.max(0, this.#downUntil - world.now) + world.between(0, 5), () => this.whenOn(work));
  }

  /** Sends a signal; a client that gets no response sends it again. */
  signal(work: () => void): void {
    const world = this.#world;
    const times = world.shouldInject('repeatedSignal') ? 2 : 1;
    for (let time = 0; time < times; time += 1) {
      const lateMs = world.shouldInject('lateSignal') ? world.between(0, 5_000) : 0;
      world.after(lateMs, () => this.reach(work));
    }
  }

  /**
   * Retries `work` until one try calls its `done`. If a worker or a result is lost, another try follows; the effects of
   * the lost try remain, and it may still be running.
   */
  activity<T>(
    pickWorker: () => SimWorker,
    work: (attempt: Try, done: (answer: T) => void) => void,
    answer: (answer: T) => void,
    /** Whether the workflow run that requested it is still open. */
    isWanted: () => boolean,
  ): void {
    let current = 0;
    const attempt = (): void => {
      current += 1;
      const number = current;
      const worker = pickWorker();
      const isAbandoned = (): boolean => number !== current;
      const isLost = this.#world.shouldInject('lostActivity');
      const isLate = this.#world.shouldInject('actsAfterAbandoned');
      const lateMs = isLate ? this.#world.between(1, ABANDONED_LATER_MS) : 0;
      let isOver = false;
      const done = (value: T): void => {
        if (isOver || isLost || isAbandoned()) return;
        isOver = true;
        current = 0;
        answer(value);
      };
      const fail = (): void => {
        if (isAbandoned() || isOver) return;
        current += 1;
        this.after(Math.min(MAX_TRY_MS, TRY_MS * 2 ** number), () => isWanted() && attempt());
      };
      worker.after(this.#world.between(1, 50) + lateMs, () =>
        work({ worker, number, isAbandoned, fail }, done),
      );
      const watch = (): void =>
        this.after(ACTIVITY_TIMEOUT_MS, () => {
          if (number !== current || !isWanted()) return;
          // A healthy worker continues its heartbeats.
          if (worker.isHealthy && !isLost && !isLate) watch();
          else attempt();
        });
      watch();
    };
    attempt();
  }
}
