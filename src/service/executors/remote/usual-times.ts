// How long runs usually take at a server, and how long they are under way to it: how many it should have at the same time.

const AHEAD_MOST = 6;

export class UsualTimes {
  /** 0 until it is known, like the other. */
  runMs = 0;
  #deliveryMs = 0;

  ran(ms: number): void {
    this.runMs = blended(this.runMs, ms);
  }

  delivered(ms: number): void {
    this.#deliveryMs = blended(this.#deliveryMs, ms);
  }

  /** One executes, and others wait there, so that the server never idles until the next one arrives. */
  get places(): number {
    const ahead = this.runMs === 0 ? 1 : Math.ceil(this.#deliveryMs / this.runMs);
    return 1 + Math.min(Math.max(1, ahead), AHEAD_MOST);
  }
}

const blended = (before: number, now: number): number => (before === 0 ? now : (before + now) / 2);
