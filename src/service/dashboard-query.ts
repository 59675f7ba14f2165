// Reads the current runs for the dashboard, cheaply enough to run every second however long the queue is.

import type { DatabaseSync } from 'node:sqlite';
import type { RunRow } from './runs/run-row.ts';

export type DashboardRuns = {
  /** Oldest first. */
  readonly atWork: readonly RunRow[];
  /** The first runs of the queue. */
  readonly next: readonly RunRow[];
  /** Newest first. */
  readonly ended: readonly RunRow[];
  /** The total number of runs. */
  readonly runs: number;
};

/** `busy` is the number of active runs, with which the query can stop before it has read the whole queue. */
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
    // Of the runs queued after the last active one, only those cancelled in the queue have ended.
    const from = next.length === 0 ? runs : (working.at(-1)?.number ?? runs);
    return { atWork: working, next, ended: ended.all(from, most.ended) as RunRow[], runs };
  };
}
