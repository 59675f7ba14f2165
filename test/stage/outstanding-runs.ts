// How many runs the service had outstanding at a time, from its own records.

import type { Run } from '../../src/service-client/contract/run.ts';

export const liveAt = (runs: readonly Run[], at: number): number =>
  runs.filter(
    ({ createdAtMs = 0, endedAtMs = Number.POSITIVE_INFINITY }) => createdAtMs <= at && endedAtMs > at,
  ).length;

export const startedBetween = (
  runs: readonly Run[],
  from: number,
  to = Number.POSITIVE_INFINITY,
): readonly Run[] => runs.filter(({ createdAtMs = 0 }) => createdAtMs > from && createdAtMs < to);
