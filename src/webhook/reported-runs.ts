// Remembers which runs were signalled recently, or will be in a moment, so that a repeated webhook or a poll of the same run costs
// nothing. Entries expire after a minute, so that a later poll repeats a signal that the batch did not get.

const REMEMBERED_MS = 60_000;
const REMEMBERED_MOST = 20_000;

export class ReportedRuns {
  /** Run ids with their expiry on the monotonic clock; the oldest first. */
  readonly #until = new Map<string, number>();

  /** Runs whose ends wait for others; see signal-queue.ts. */
  readonly #held = new Set<string>();

  isHeld(runId: string): boolean {
    return this.#held.has(runId);
  }

  hold(runId: string): void {
    this.#held.add(runId);
  }

  /** The run's end was signalled, or could not be. */
  release(runId: string): void {
    this.#held.delete(runId);
  }

  has(runId: string): boolean {
    return (this.#until.get(runId) ?? 0) > performance.now();
  }

  add(runId: string): void {
    this.#until.delete(runId);
    this.#until.set(runId, performance.now() + REMEMBERED_MS);
    const [oldest] = this.#until.size > REMEMBERED_MOST ? this.#until.keys() : [];
    if (oldest !== undefined) this.#until.delete(oldest);
  }
}
