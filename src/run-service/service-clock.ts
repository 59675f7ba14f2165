// The service's own time, as its latest answer said, carried on by our monotonic clock. Every age of a run is taken by it,
// because no other clock is known to agree with the times in the runs.

export class ServiceClock {
  #dateMs: number | undefined;
  #atMs = 0;

  /** Notes the `Date` of an answer that has just come. */
  note(header: string | string[] | undefined): void {
    const ms = Date.parse(String(Array.isArray(header) ? header[0] : header));
    if (Number.isNaN(ms)) return;
    this.#dateMs = ms;
    this.#atMs = performance.now();
  }

  /** Milliseconds since 1970 by the service; undefined before an answer said what time it is. */
  nowMs(): number | undefined {
    return this.#dateMs === undefined ? undefined : Math.round(this.#dateMs + performance.now() - this.#atMs);
  }
}
