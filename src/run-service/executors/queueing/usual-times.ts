// The usual duration and delivery time of runs at a server, and how many runs it should therefore hold.

const MAX_AHEAD = 6;

export class UsualTimes {
  /** 0 until the first run ends. */
  runMs = 0;
  /** 0 until the first run is delivered. */
  #deliveryMs = 0;

  ran(ms: number): void {
    this.runMs = blended(this.runMs, ms);
  }

  delivered(ms: number): void {
    this.#deliveryMs = blended(this.#deliveryMs, ms);
  }

  /** A server executes one run and holds others ready, so that it never idles until the next one arrives. */
  get places(): number {
    const ahead = this.runMs === 0 ? 1 : Math.ceil(this.#deliveryMs / this.runMs);
    return 1 + Math.min(Math.max(1, ahead), MAX_AHEAD);
  }
}

const blended = (before: number, now: number): number => (before === 0 ? now : (before + now) / 2);
