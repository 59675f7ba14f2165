import type { Run } from '../../src/service-client/contract/run.ts';

/** The maximum number of runs that had a container at the same time. */
export function mostAtOnce(runs: readonly Run[]): number {
  const moments = runs.flatMap((run) => [
    { atMs: run.queuedAtMs ?? 0, change: 1 },
    { atMs: run.endedAtMs ?? 0, change: -1 },
  ]);
  // A container changes its run within one millisecond, so ends count before starts.
  moments.sort((a, b) => a.atMs - b.atMs || a.change - b.change);
  let now = 0;
  return Math.max(...moments.map(({ change }) => (now += change)));
}
