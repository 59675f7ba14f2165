// The runs whose ends Temporal accepted lately, or that wait to be reported: their webhooks say nothing new.

import QuickLRU from 'quick-lru';

const REMEMBERED_MS = 60_000;
/** QuickLRU keeps between this many and twice as many runs. */
const MIN_REMEMBERED = 20_000;

export class ReportedRuns {
  /** Run ids with their expiry on the monotonic clock. */
  readonly #until = new QuickLRU<string, number>({ maxSize: MIN_REMEMBERED });

  /** Runs whose ends wait for others; see signal-queue.ts. */
  readonly held = new Set<string>();

  has(runId: string): boolean {
    return (this.#until.get(runId) ?? 0) > performance.now();
  }

  add(runId: string): void {
    this.#until.set(runId, performance.now() + REMEMBERED_MS);
  }
}
