// What was signalled to batches lately, so that a repeated webhook and a poll of the same run cost nothing. A signal that its
// batch did not get after all is repeated a minute later, by the next poll.

const REMEMBERED_MS = 60_000;
const REMEMBERED_MOST = 20_000;

export class ReportedRuns {
  /** Run ids with the time at which they are forgotten, by the monotonic clock; the oldest first. */
  readonly #until = new Map<string, number>();

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
