// How long a run queued, how long its machine started, and how long it ran, by the service's clock alone.

import type { RunTimes } from '../batch/events.ts';
import type { Run } from './contract/run.ts';

/** Some services show only some of the four times. */
export type TimedRun = Partial<Pick<Run, 'createdAtMs' | 'queuedAtMs' | 'startedAtMs' | 'endedAtMs'>>;

/** A longer time is a mistake of the service, and the numbers stay exact. */
const MOST_MS = 1e9;

/** undefined if the service does not show each step of the run: without them, queueing looks like a slow machine. */
export function timesOf({ createdAtMs, queuedAtMs, startedAtMs, endedAtMs }: TimedRun): RunTimes | undefined {
  const [queueMs, bootMs, runMs] = [
    between(createdAtMs, queuedAtMs),
    between(queuedAtMs, startedAtMs),
    between(startedAtMs, endedAtMs),
  ];
  return queueMs === undefined || bootMs === undefined || runMs === undefined
    ? undefined
    : [queueMs, bootMs, runMs];
}

/** The service rounds some of its times. */
const between = (from: number | undefined, to: number | undefined): number | undefined =>
  from === undefined || to === undefined ? undefined : Math.round(Math.min(MOST_MS, Math.max(0, to - from)));
