// Estimates the service's current time from the `Date` of its latest answer and our monotonic clock. Ages of runs are measured
// with it, because only the service's clock is sure to match the times in the runs.

export class ServiceClock {
  #dateMs: number | undefined;
  #atMs = 0;

  /** Stores the `Date` of an answer that has just arrived. */
  note(header: string | string[] | undefined): void {
    const ms = Date.parse(String(Array.isArray(header) ? header[0] : header));
    if (Number.isNaN(ms)) return;
    this.#dateMs = ms;
    this.#atMs = performance.now();
  }

  /** Milliseconds since 1970 by the service's clock; undefined before the first answer with a date. */
  nowMs(): number | undefined {
    return this.#dateMs === undefined ? undefined : Math.round(this.#dateMs + performance.now() - this.#atMs);
  }
}
