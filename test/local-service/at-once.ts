import type { Run } from '../../src/run-service/contract/run.ts';

/** How many of the runs held a container at the same moment, at most. */
export function mostAtOnce(runs: readonly Run[]): number {
  const moments = runs.flatMap((run) => [
    { atMs: run.queuedAtMs ?? 0, change: 1 },
    { atMs: run.endedAtMs ?? 0, change: -1 },
  ]);
  // A container is handed over within one millisecond: ends count before beginnings.
  moments.sort((a, b) => a.atMs - b.atMs || a.change - b.change);
  let now = 0;
  return Math.max(...moments.map(({ change }) => (now += change)));
}
