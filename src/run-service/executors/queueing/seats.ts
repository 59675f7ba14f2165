// How many runs a server holds at the same time.
//
//      grown:   first ──all are taken──▶ one more ──…──▶ it is full: as many as it took ──a minute──▶ one more ──▶ …

import type { Seats } from '../backend.ts';
import type { UsualTimes } from './usual-times.ts';

/** How long after being full a server is tried with one more run. */
const FULL_MS = 60_000;

export class SeatCount {
  readonly #seats: () => Seats;
  readonly #usual: UsualTimes;
  #grown: number | undefined;
  #fullAt = Number.NEGATIVE_INFINITY;

  constructor(seats: () => Seats, usual: UsualTimes) {
    [this.#seats, this.#usual] = [seats, usual];
  }

  /** How many runs the server may hold, including those that only wait there. */
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

  /** The server took a run and now holds `load` of them. */
  took(load: number, nowMs = performance.now()): void {
    if (this.#seats().kind !== 'grown' || load < this.count || nowMs - this.#fullAt < FULL_MS) return;
    this.#grown = this.count + 1;
  }

  /** The server refused a run while it held `load` of them. */
  full(load: number, nowMs = performance.now()): void {
    if (this.#seats().kind !== 'grown') return;
    [this.#grown, this.#fullAt] = [Math.max(1, load), nowMs];
  }
}
