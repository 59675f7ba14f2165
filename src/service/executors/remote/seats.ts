// How many runs a server has at the same time.
//
//      grown:   first ──all are taken──▶ one more ──…──▶ it is full: as many as it took ──a minute──▶ one more ──▶ …

import type { Seats } from './backend.ts';
import type { UsualTimes } from './usual-times.ts';

/** After it was full, a server is tried with one more only after so long. */
const FULL_MS = 60_000;

export class SeatCount {
  readonly #seats: () => Seats;
  readonly #usual: UsualTimes;
  #grown: number | undefined;
  #fullAt = Number.NEGATIVE_INFINITY;

  constructor(seats: () => Seats, usual: UsualTimes) {
    [this.#seats, this.#usual] = [seats, usual];
  }

  /** How many runs it may have, also those that only wait there. */
  get count(): number {
    const seats = this.#seats();
    switch (seats.kind) {
      case 'given':
        return seats.count;
      case 'grown':
        return this.#grown ?? seats.first;
      case 'ahead':
        return this.#usual.places;
    }
  }

  /** How many runs execute there at the same time. */
  get atOnce(): number {
    return this.#seats().kind === 'ahead' ? 1 : this.count;
  }

  /** It took a run, and has `load` of them now. */
  took(load: number, nowMs = performance.now()): void {
    if (this.#seats().kind !== 'grown' || load < this.count || nowMs - this.#fullAt < FULL_MS) return;
    this.#grown = this.count + 1;
  }

  /** It did not take one more than `load` of them. */
  full(load: number, nowMs = performance.now()): void {
    if (this.#seats().kind !== 'grown') return;
    [this.#grown, this.#fullAt] = [Math.max(1, load), nowMs];
  }
}
