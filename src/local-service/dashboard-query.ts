// A look at the runs as they are right now, cheap enough to be taken every second however long the line is.

import type { DatabaseSync } from 'node:sqlite';
import type { RunRow } from './run-row.ts';

export type DashboardRuns = {
  /** Oldest first. */
  readonly atWork: readonly RunRow[];
  /** Those that stand first in line. */
  readonly next: readonly RunRow[];
  /** Newest first. */
  readonly ended: readonly RunRow[];
  /** How many runs there are in all. */
  readonly runs: number;
};

/** `busy` is how many runs are at work: whoever knows it spares the search a walk along the whole line. */
export function dashboardQuery(
  db: DatabaseSync,
): (busy: number, most: { next: number; ended: number }) => DashboardRuns {
  const alive = 'SELECT * FROM run INDEXED BY runAlive WHERE endedMs IS NULL AND';
  const atWork = db.prepare(`${alive} containerId IS NOT NULL ORDER BY number LIMIT ?`);
  const waiting = db.prepare(`${alive} queuedMs IS NULL ORDER BY number LIMIT ?`);
  const ended = db.prepare(
    'SELECT * FROM run WHERE endedMs IS NOT NULL AND number <= ? ORDER BY number DESC LIMIT ?',
  );
  const newest = db.prepare('SELECT max(number) AS number FROM run');
  return (busy, most) => {
    const runs = Number(newest.get()?.['number'] ?? 0);
    const working = atWork.all(busy) as RunRow[];
    const next = waiting.all(most.next) as RunRow[];
    // Nothing that was queued after the last run at work has ended, but for what was cancelled in line.
    const from = next.length === 0 ? runs : (working.at(-1)?.number ?? runs);
    return { atWork: working, next, ended: ended.all(from, most.ended) as RunRow[], runs };
  };
}
